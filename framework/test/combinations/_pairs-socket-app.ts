/** The application with the WebSocket route of a combination. @module */
import {
  App,
  BackgroundTasks,
  Cookie,
  Depends,
  Header,
  HTTPConnection,
  HTTPException,
  Path,
  Query,
  Router,
  t,
  WebSocket,
  WebSocketException,
  withParams,
} from "../../core/src/index.js";
import { httpMiddleware } from "../../core/src/middleware/index.js";
import type { Annotation, Params } from "../../core/src/parameters/annotation.js";
import type { Marker } from "../../core/src/parameters/marker.js";
import { APIKeyCookie, APIKeyQuery } from "../../core/src/parameters/security/api-key.js";
import { HTTPBearer } from "../../core/src/parameters/security/http.js";
import { generatorOf, scopeOf } from "./_pairs-generators.js";
import { addTasks } from "./_pairs-handlers.js";
import { SECRET } from "./_pairs-samples.js";
import type { SocketCombination } from "./_pairs-socket-factors.js";
import { Broken, type Trace } from "./_pairs-trace.js";

/** Before the first build, an App warns that the files of its pages are missing. */
const WITHOUT_PAGES = { docsUrl: null, redocUrl: null };

/** The application of a combination. */
export function buildSocket(c: SocketCombination, trace: Trace): App {
  const guards = c.guard === "none" ? [] : [guardOf(c, trace)];
  const at = (place: SocketCombination["place"]) => (c.place === place ? guards : []);
  const own = { ...WITHOUT_PAGES, logger: trace.log, dependencies: at("app") };
  const isOwner = !c.mount.startsWith("app");
  const outer = new App({
    ...(isOwner ? own : { ...WITHOUT_PAGES, logger: trace.log }),
    middleware: c.middleware === "http" ? [httpMiddleware(async (_request, next) => next())] : [],
    instrumentation: c.observed === "yes" ? trace.instrumentation : [],
  });
  const add = (target: App | Router) => addRoute(c, trace, target, at("route"));
  if (c.mount === "router") {
    const child = new Router({ prefix: "/in", dependencies: at("router") });
    add(child);
    const parent = new Router({ prefix: "/v1" });
    parent.includeRouter(child);
    outer.includeRouter(parent);
  } else if (isOwner) add(outer);
  else {
    const inner = new App(own);
    add(inner);
    const middle = c.mount === "app in app" ? new App({ ...WITHOUT_PAGES, logger: trace.log }) : outer;
    middle.mount("/sub", inner);
    if (middle !== outer) outer.mount("/mid", middle);
  }
  return outer;
}

const RECEIVES = t.Object({ n: t.Integer() });
const SENDS = t.Object({ n: t.Integer(), user: t.Unknown(), value: t.Unknown(), dependency: t.Unknown() });

type Given = Readonly<Record<string, unknown>> & { readonly ws: WebSocket };

function addRoute(c: SocketCombination, trace: Trace, target: App | Router, guards: readonly Marker<unknown>[]): void {
  const hasReceives = !["text", "bytes", "text for bytes"].includes(c.receives);
  const hasSends = ["fits", "extra", "unfit"].includes(c.sends);
  const options = {
    params: paramsOf(c, trace),
    dependencies: guards,
    ...(hasReceives ? { receives: RECEIVES } : {}),
    ...(hasSends ? { sends: SENDS } : {}),
  };
  const path = c.parameter.startsWith("path") ? "/ws/{value}" : "/ws";
  (target as App).websocket(path, options, async (given) => handle(c, trace, given as unknown as Given));
}

function paramsOf(c: SocketCombination, trace: Trace): Params {
  const parameter = parameterOf(c);
  return {
    ...(c.dependency === "none" ? {} : { dependency: dependencyOf(c, trace) }),
    ...(parameter === null ? {} : { value: parameter }),
    ...(c.credentials === "none" ? {} : { user: userOf(c, trace) }),
    ...(c.task === "none" ? {} : { tasks: BackgroundTasks }),
  };
}

const INTEGER = t.Integer({ minimum: 1, maximum: 9 });

function parameterOf({ parameter }: SocketCombination): Annotation | null {
  switch (parameter.split(",")[0]) {
    case "path":
      return Path(INTEGER);
    case "query":
      return INTEGER;
    case "header":
      return Header(INTEGER);
    case "cookie":
      return Cookie(INTEGER);
    case "object":
      return Query(t.Object({ count: INTEGER }));
    default:
      return null;
  }
}

const SCHEMES = {
  bearer: new HTTPBearer(),
  "key query": new APIKeyQuery({ name: "key" }),
  "key cookie": new APIKeyCookie({ name: "key" }),
};

/** Options of an exception with a challenge. */
const challenging = (challenge: string) => ({ headers: { "WWW-Authenticate": challenge } });

function userOf({ credentials, scheme }: SocketCombination, { push }: Trace): Annotation {
  const { challenge } = SCHEMES[scheme];
  const getUser = withParams({ found: Depends(SCHEMES[scheme] as HTTPBearer) }, async ({ found }) => {
    push("user");
    const secret: unknown = typeof found === "object" ? found.credentials : found;
    if (secret !== SECRET) throw new HTTPException(401, "Unknown", challenging(challenge));
    return "ada";
  });
  return Depends(getUser, { optional: !credentials.startsWith("required") });
}

function guardOf({ guard, parameter }: SocketCombination, { push }: Trace): Marker<unknown> {
  const params = { level: parameter === "header" ? Query(t.Integer()) : Header(t.Integer(), { alias: "x-level" }) };
  if (guard === "generator" || guard === "function generator") {
    const run = generatorOf({ name: "guard ", level: guard, start: () => push("guard"), push });
    return Depends(withParams(params, run), { scope: scopeOf(guard) });
  }
  return Depends(
    withParams(params, async () => {
      push("guard");
      if (guard === "refuses") throw new HTTPException(403);
      if (guard === "challenges") throw new HTTPException(401, "Who?", challenging("Guard"));
      if (guard === "fails") throw new Broken("guard");
      if (guard === "closes") throw new WebSocketException(4003, "guard");
    }),
  );
}

function dependencyOf({ dependency }: SocketCombination, { push }: Trace): Annotation {
  const start = () => {
    push("start");
    return "made";
  };
  switch (dependency) {
    case "async":
      return Depends(async () => start());
    case "connection":
      return Depends(withParams({ at: HTTPConnection }, async ({ at }) => at.path.includes("/ws") && start()));
    case "socket":
      return Depends(withParams({ at: WebSocket }, async ({ at }) => at.readyState === "connecting" && start()));
    case "refuses":
    case "fails":
    case "closes":
      return Depends(async () => {
        start();
        if (dependency === "refuses") throw new HTTPException(409, "Busy");
        throw dependency === "fails" ? new Broken("dependency") : new WebSocketException(4004, "dependency");
      });
    default: {
      const run = generatorOf({ name: "", level: dependency, start, push });
      return dependency === "app" ? Depends(run, { scope: "app" }) : Depends(run, { scope: scopeOf(dependency) });
    }
  }
}

async function handle(c: SocketCombination, trace: Trace, given: Given): Promise<void> {
  const { ws, tasks } = given;
  trace.push("handler");
  if (tasks instanceof BackgroundTasks) addTasks(tasks, c.task, trace);
  if (!(await accept(c, ws))) return;
  await receive(c, ws);
  trace.push("message");
  await send(c, given);
  await end(c, ws);
}

/** False if the handler ends here. */
async function accept({ opening }: SocketCombination, ws: WebSocket): Promise<boolean> {
  switch (opening) {
    case "accepts":
      return ws.accept().then(() => true);
    case "with subprotocol and header":
      return ws.accept({ subprotocol: "b", headers: { "x-own": "1" } }).then(() => true);
    case "returns":
      return false;
    case "closes 4001":
    case "closes 1008":
      return ws.close(opening === "closes 4001" ? 4001 : 1008, "opening").then(() => false);
    case "throws 4002":
    case "throws 1008":
      throw new WebSocketException(opening === "throws 4002" ? 4002 : 1008, "opening");
    case "HTTP error":
      throw new HTTPException(418, "Teapot");
    case "error":
      throw new Broken("opening");
    case "sends":
      return ws.sendText("early").then(() => false);
    default:
      return ws.receive().then(() => false);
  }
}

async function receive({ receives }: SocketCombination, ws: WebSocket): Promise<void> {
  switch (receives) {
    case "text":
      return check(await ws.receiveText(), "one");
    case "bytes":
    case "text for bytes":
      return check([...(await ws.receiveBytes())].join(), "1,2");
    case "iterates":
      for await (const message of ws) return check(JSON.stringify(message), '{"n":1}');
      throw new Broken("there is no message");
    default:
      return check(JSON.stringify(await ws.receiveJson()), '{"n":1}');
  }
}

function check(seen: string, wanted: string): void {
  if (seen !== wanted) throw new Broken(`received ${seen}`);
}

async function send({ sends }: SocketCombination, given: Given): Promise<void> {
  const { ws, user = null, value = null, dependency = null } = given;
  if (sends === "text") return ws.sendText("one");
  if (sends === "bytes") return ws.sendBytes(Buffer.from([1, 2]));
  const message = { n: sends === "unfit" ? "one" : 1, user, value, dependency };
  return ws.sendJson(sends === "fits" ? message : { ...message, secret: 1 });
}

async function end({ end: how }: SocketCombination, ws: WebSocket): Promise<void> {
  switch (how) {
    case "returns":
      return;
    case "closes":
      return ws.close(4000, "done");
    case "client closes":
    case "client terminates":
      await ws.receive();
      return;
    case "iteration ends":
      for await (const message of ws) throw new Broken(`received ${String(message)}`);
      return;
    case "HTTP error":
      throw new HTTPException(403, "secret");
    case "throws 4010":
    case "throws 1011":
      throw new WebSocketException(how === "throws 4010" ? 4010 : 1011, "thrown");
    case "error":
      throw new Broken("end");
  }
}
