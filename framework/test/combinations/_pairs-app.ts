/** The application of a combination. @module */
import type { Middleware } from "../../core/src/middleware/chain.js";
import type { ExceptionHandlersInit } from "../../core/src/http/exception-handlers.js";
import {
  App,
  type AppOptions,
  type ASGIApp,
  BackgroundTasks,
  Depends,
  errorFormat,
  HTTPException,
  JSONResponse,
  Request,
  RequestValidationError,
  Response,
  Router,
  t,
  withParams,
} from "../../core/src/index.js";
import {
  bodyLimit,
  compress,
  cors,
  csrf,
  httpMiddleware,
  idempotency,
  memoryStore,
  sessions,
  timeLimit,
} from "../../core/src/middleware/index.js";
import type { Marker } from "../../core/src/parameters/marker.js";
import type { Annotation, Params } from "../../core/src/parameters/annotation.js";
import type { RouteOptions } from "../../core/src/routing/options.js";
import { dependencyOf, guardOf, type Parts, userOf } from "./_pairs-dependencies.js";
import { type Combination, isResponse } from "./_pairs-factors.js";
import { handlerOf, mark, returnsOf } from "./_pairs-handlers.js";
import { PREFIXES } from "./_pairs-model.js";
import { parameterOf } from "./_pairs-parameters.js";
import { LIMIT_BYTES, ORIGIN } from "./_pairs-samples.js";
import { Broken, type Trace } from "./_pairs-trace.js";

/** The application of a combination. @throws what registration throws. */
export function build(c: Combination, trace: Trace): App {
  const parts: Parts = { c, trace, overrides: [] };
  const guards = c.guard === "none" ? [] : [guardOf(parts)];
  const at = (place: Combination["place"]) => (c.place === place ? guards : []);
  const isOwner = !c.mount.startsWith("app");
  const hasInnerHandlers = c.mount === "app with handlers";
  const own = {
    logger: trace.log,
    dependencies: at("app"),
    pool: { kind: c.handler === "in a process" ? "process" : "inline" } as const,
  };
  const outer = new App({
    ...(isOwner ? own : { logger: trace.log }),
    ...formatOf(c, "outer"),
    middleware: appMiddleware(c),
    instrumentation: c.observed === "yes" ? trace.instrumentation : [],
    exceptionHandlers: hasInnerHandlers ? [] : appHandlers(c),
  });
  const add = (target: App | Router) => addRoute(parts, target, at("route"));
  if (c.mount === "router") outer.includeRouter(routerOf(c, at("router"), add));
  else if (isOwner) add(outer);
  else {
    const inner = new App({
      ...own,
      ...formatOf(c, "inner"),
      exceptionHandlers: hasInnerHandlers ? appHandlers(c) : [],
    });
    add(inner);
    mount(parts, outer, inner);
  }
  for (const [original, replacement] of parts.overrides) outer.dependencyOverrides.set(original, replacement);
  return outer;
}

const CUSTOM = errorFormat({
  schema: t.Object({ custom: t.Any() }),
  write: ({ status, detail, issues, scope }) => {
    const faults = issues?.map(({ type, loc }) => ({ type, loc })) ?? null;
    return { custom: { status, detail, instance: scope?.path, faults } };
  },
});

/** The options of one of the Apps about the format of its errors. */
function formatOf({ formatted, errorFormat: format }: Combination, app: "outer" | "inner"): AppOptions {
  if (formatted !== "all" && formatted !== app) return {};
  return format === "custom" ? { errorFormat: CUSTOM } : { problemDetails: true };
}

function routerOf(c: Combination, dependencies: readonly Marker<unknown>[], add: (target: Router) => void): Router {
  const child = new Router({
    prefix: "/in",
    dependencies,
    middleware: c.middleware === "router header" ? [headerMiddleware("x-router")] : [],
    exceptionHandlers: c.errorHandler === "class on router" ? CLASS_HANDLERS : [],
  });
  add(child);
  const parent = new Router({ prefix: "/v1" });
  parent.includeRouter(child);
  return parent;
}

function mount({ c, trace }: Parts, outer: App, inner: App): void {
  if (c.mount === "app in app") {
    const middle = new App({ logger: trace.log });
    middle.mount("/sub", inner);
    outer.mount("/mid", middle);
  } else if (c.mount === "app on router") {
    const router = new Router({ prefix: "/v1" });
    router.mount("/sub", inner);
    outer.includeRouter(router);
  } else outer.mount(PREFIXES[c.mount], inner);
}

function addRoute(parts: Parts, target: App | Router, guards: readonly Marker<unknown>[]): void {
  const { c } = parts;
  const params = paramsOf(parts);
  const shared = c.dependency === "shared with a guard" ? [params["dependency"] as Marker<unknown>] : [];
  const options: RouteOptions = {
    params,
    returns: returnsOf(c),
    statusCode: isResponse(c.result) ? 202 : Number(c.status), // A response has its own.
    etag: c.etag !== "off",
    stream: c.stream === "none" ? undefined : c.stream === "sse" ? "sse" : "jsonl",
    dependencies: [...guards, ...shared],
    middleware: c.middleware === "route header" ? [headerMiddleware("x-route")] : [],
    exceptionHandlers: routeHandlers(c),
    limits: { bodyBytes: LIMIT_BYTES, uploadBytes: LIMIT_BYTES, handlerMs: handlerMsOf(c) },
    pool: c.handler !== "on the loop",
    whenStopping: c.whenStopping === "unset" ? undefined : c.whenStopping,
  };
  const method = c.method === "mismatch" ? "PUT" : c.method === "HEAD" ? "GET" : c.method;
  const path = c.parameter === "path" ? "/r/{value}" : "/r";
  (target as App).route(path, { ...options, methods: [method] }, handlerOf(parts));
}

/** A handler that never ends has one millisecond. */
function handlerMsOf({ result, timer }: Combination): number {
  if (result === "times out") return 1;
  return timer === "on" ? 60_000 : Infinity;
}

/** The dependency precedes the user, but authentication still runs first. */
function paramsOf(parts: Parts): Params {
  const { c } = parts;
  const user = c.credentials === "none" ? null : userOf(parts);
  const drafting = Depends(withParams({ draft: Response }, async ({ draft }) => mark(draft)));
  const hasDraft = c.draft === "header and cookie" || c.draft === "status";
  const hasTasks = c.task === "one" || c.task === "failing";
  return {
    ...(c.dependency === "none" ? {} : { dependency: dependencyOf(parts, user) }),
    ...(c.parameter === "none" ? {} : { value: parameterOf(c) }),
    ...(user === null ? {} : { user }),
    ...(hasDraft ? { draft: Response } : {}),
    ...(c.draft === "by a dependency" ? { drafting } : {}),
    ...(hasTasks ? { tasks: BackgroundTasks } : {}),
    ...(c.signal === "handler" ? { signal: AbortSignal } : {}),
    ...(c.signal === "dependency" ? { watched: watchingOf(parts) } : {}),
  };
}

/** Reports a signal that is not the request's, or is aborted while the request runs. */
function watchingOf({ trace }: Parts): Annotation {
  const watch = withParams({ signal: AbortSignal, request: Request }, async ({ signal, request }) => {
    if (signal !== request.signal || signal.aborted) trace.push("wrong signal");
  });
  return Depends(watch);
}

const headerMiddleware = (name: string): Middleware =>
  httpMiddleware(async (_request, next) => {
    const response = await next();
    response.headers.set(name, "1");
  });

/** Middleware that hands every message on by its own functions. */
const forwarding: Middleware = (app) => (scope, receive, send) =>
  app(
    scope,
    () => receive(),
    (message) => send(message),
  );

function appMiddleware({ middleware }: Combination): Middleware[] {
  switch (middleware) {
    case "app header":
      return [headerMiddleware("x-app")];
    case "forwarding":
      return [forwarding];
    case "limits":
      return [timeLimit(60_000), bodyLimit(1024 * 1024)];
    case "csrf":
      return [csrf({ trustedOrigins: [ORIGIN] })];
    case "sessions":
      return [sessions({ store: memoryStore() })];
    case "idempotency":
      return [idempotency({ store: memoryStore() })];
    case "cors":
      return [cors({ allowOrigins: [ORIGIN] })];
    case "compress":
      return [compress({ minimumSize: 1 })];
    case "reads the body":
      return [httpMiddleware(async (request, next) => void (await request.body(), await next()))];
    case "responds":
    case "replaces":
      return [
        httpMiddleware(async (_request, next) => {
          if (middleware === "replaces") await next();
          return new JSONResponse({ by: "middleware" }, { statusCode: 202 });
        }),
      ];
    case "throws":
    case "throws late":
      return [
        httpMiddleware(async (_request, next) => {
          if (middleware === "throws late") await next();
          throw new Broken("middleware");
        }),
      ];
    default:
      return [];
  }
}

const CLASSES = [HTTPException, RequestValidationError, Broken];

/** A value, which is sent with the status of the error, and two responses. */
const CLASS_HANDLERS: ExceptionHandlersInit = [
  [HTTPException, () => ({ handled: "HTTPException" })],
  [RequestValidationError, () => new JSONResponse({ handled: "RequestValidationError" }, { statusCode: 400 })],
  [Broken, () => new JSONResponse({ handled: "Broken" }, { statusCode: 409 })],
];

function routeHandlers({ errorHandler }: Combination): ExceptionHandlersInit {
  if (errorHandler === "class on route") return CLASS_HANDLERS;
  if (errorHandler !== "throws") return [];
  const throws = () => {
    throw new Broken("error handler");
  };
  return CLASSES.map((key) => [key, throws] as const);
}

/** The statuses of all errors in the array. */
const STATUSES = [401, 403, 404, 405, 409, 410, 412, 413, 422, 500, 504];

function appHandlers({ errorHandler }: Combination): ExceptionHandlersInit {
  switch (errorHandler) {
    case "Error on app":
      return [[Error, () => new JSONResponse({ handled: "Error" }, { statusCode: 409 })]];
    case "status on app":
      return STATUSES.map((status) => [status, () => ({ handled: status })] as const);
    case "platform response on app": {
      const names = ["HTTPException", "RequestValidationError", "Broken"];
      return CLASSES.map((key, index) => {
        const handle = () => globalThis.Response.json({ handled: names[index] }, { status: 418 });
        return [key, handle] as const;
      });
    }
    default:
      return [];
  }
}

/** Records the head and the end of the response, as messages. On the servers of this package it hides `send.text`. */
export function wrap(app: ASGIApp, { push }: Trace): ASGIApp {
  return (scope, receive, send) => {
    if (scope.type !== "http") return app(scope, receive, send);
    return app(scope, receive, async (message) => {
      if (message.type === "http.response.start") push("head");
      await send(message);
      if (message.type === "http.response.body" && message.more_body !== true) push("sent");
    });
  };
}
