/** `logContext`: the request in which a line of a log is written. @module */
import type { HTTPScope, WebSocketScope } from "../protocol/asgi.js";
import { oneLine } from "../common/logger.js";
import type { Instrumentation } from "./observation/types.js";
import { type Observed, observedOf } from "./observation/observed.js";
import { nodeModule } from "../common/platform.js";
import { defined } from "../common/records.js";
import { headerValue } from "../protocol/header-list.js";

/** A WebSocket's handshake is a GET (RFC 6455 §4.1). */
export function methodOf(scope: HTTPScope | WebSocketScope): string {
  return scope.type === "http" ? scope.method : "GET";
}

/** The ids of this request, and the received ones. */
export function idsOf(scope: HTTPScope | WebSocketScope, observed: Observed | null) {
  return {
    requestId: observed?.requestId ?? scope.state?.["requestId"] ?? null,
    traceId: observed?.traceId ?? traceIdOf(scope),
  };
}

/** https://www.w3.org/TR/trace-context/#traceparent-header */
const TRACEPARENT = /^[\da-f]{2}-(?!0{32})([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/;

function traceIdOf({ headers }: HTTPScope | WebSocketScope): string | null {
  return TRACEPARENT.exec(headerValue(headers ?? [], "traceparent") ?? "")?.[1] ?? null;
}

/** The request in which a line of a log is written. */
export interface LogFields {
  /** The id from the middleware `requestId`. */
  requestId?: string;
  /** The id of the active trace, or of the request's `traceparent`. */
  traceId?: string;
  /** The method; `GET` for a WebSocket. */
  method: string;
  /** The whole pattern of the route, once it has matched. */
  route?: string;
  /** Milliseconds since the request began. */
  elapsedMs: number;
}

/** An instrumentation that knows in which request a line is written. */
export interface LogContext extends Instrumentation {
  /** The fields of the request or the job that runs; an empty object outside of both. */
  readonly fields: () => Partial<LogFields> & WorkFields;
}

/** The request that runs. */
interface Current {
  readonly scope: HTTPScope | WebSocketScope;
  readonly startedAt: number;
  route: string | null;
}

/**
 * Gives each line of a log the ids, the method and the route of its request: in middleware, dependencies, handlers,
 * streams, WebSockets, background tasks, and the framework's own lines. Headers, queries and bodies are not included.
 *
 * A handler in a pool does not have them: it is in another process or thread.
 *
 * @throws ConfigurationError if the platform has no `AsyncLocalStorage`.
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { logContext, requestId } from "tsgi/middleware";
 * import { pino } from "pino";
 *
 * const context = logContext();
 * const logger = pino({ mixin: context.fields });
 * const app = new App({ logger, instrumentation: context, middleware: [requestId()] });
 * ```
 */
export function logContext(): LogContext {
  const { AsyncLocalStorage } = nodeModule("node:async_hooks", "logContext()");
  const storage = new AsyncLocalStorage<Current>();
  return {
    start(scope) {
      const current: Current = { scope, startedAt: performance.now(), route: null };
      return {
        run: (fn) => storage.run(current, fn),
        route: (pattern) => void (current.route = pattern),
      };
    },
    fields: () => {
      const current = storage.getStore();
      return current === undefined ? workFields() : { ...workFields(), ...fieldsOf(current) };
    },
  };
}

function fieldsOf({ scope, startedAt, route }: Current): LogFields {
  const { requestId, traceId } = idsOf(scope, observedOf(scope));
  return defined({
    requestId: typeof requestId === "string" ? oneLine(requestId) : undefined,
    traceId: traceId ?? undefined,
    method: oneLine(methodOf(scope)),
    route: route ?? undefined,
    elapsedMs: Math.round((performance.now() - startedAt) * 1000) / 1000,
  });
}

/** Fields of a log line, by name. */
export type WorkFields = Readonly<Record<string, string | number>>;

type Storage = InstanceType<ReturnType<typeof asyncHooks>["AsyncLocalStorage"]>;

const asyncHooks = () => nodeModule("node:async_hooks", "jobs");

/** Made for the first work, so that other applications do not pay for it. */
let storage: Storage | null = null;

/** Calls a function whose log lines have these fields. */
export function withWorkFields<Result>(fields: WorkFields, fn: () => Result): Result {
  storage ??= new (asyncHooks().AsyncLocalStorage)();
  return storage.run(fields, fn);
}

/** The fields of the work that runs; an empty object outside of work. */
function workFields(): WorkFields {
  return (storage?.getStore() as WorkFields | undefined) ?? {};
}
