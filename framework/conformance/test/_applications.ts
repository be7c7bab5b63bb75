/** The applications whose conformance is checked. */
import { App, type ASGIApp, HTMLResponse, Request, StaticFiles, StreamingResponse } from "tsgi";
import { echo, type ApplicationPaths } from "../src/index.js";
import {
  bodyLimit,
  compress,
  cors,
  csrf,
  decompress,
  httpMiddleware,
  httpsRedirect,
  idempotency,
  memoryStore,
  type Middleware,
  rateLimit,
  requestId,
  securityHeaders,
  sessions,
  timeLimit,
  trustedHost,
} from "tsgi/middleware";
import { fromFetchHandler } from "tsgi/web";
import { KeptLog } from "../../test/support/kept-log.js";

/** An application, or a middleware around `echo`. */
export interface NamedApplication {
  readonly name: string;
  readonly app: ASGIApp;
  readonly paths: ApplicationPaths;
}

function createApp(): App {
  const app = new App({ logger: new KeptLog() });
  app.get("/", async () => new HTMLResponse("hello"));
  app.post("/echo", { params: { request: Request } }, async ({ request }) => new StreamingResponse(request.stream()));
  app.websocket("/echo", async ({ ws }) => {
    await ws.accept({ ...(ws.subprotocols[0] !== undefined && { subprotocol: ws.subprotocols[0] }) });
    for await (const message of ws) await ws.send(message);
  });
  return app;
}

/** A mounted application sees scope and messages as the App around it passes them. */
function createMount(): App {
  const app = new App({ logger: new KeptLog() });
  app.mount("/mounted", echo);
  return app;
}

const mounted = { get: "/mounted/a", echo: "/mounted/a", websocket: "/mounted/a" };

const fetchHandler = fromFetchHandler(async (request) => new Response(request.body));

export const applications: readonly NamedApplication[] = [
  { name: "App", app: createApp(), paths: { echo: "/echo", websocket: "/echo" } },
  { name: "App, mount", app: createMount(), paths: mounted },
  { name: "StaticFiles", app: new StaticFiles(import.meta.dirname), paths: { get: "/statements.test.ts" } },
  { name: "fromFetchHandler", app: fetchHandler, paths: { echo: "/" } },
];

/** A redirect lets through requests over HTTPS. */
function underHTTPS(app: ASGIApp): ASGIApp {
  return (scope, receive, send) => app(scope.type === "http" ? { ...scope, scheme: "https" } : scope, receive, send);
}

/** Each middleware, configured so that it passes the requests of the checks. */
const configured: readonly (readonly [name: string, middleware: Middleware])[] = [
  ["bodyLimit", bodyLimit(1_000_000)],
  ["compress", compress()],
  ["cors", cors({ allowOrigins: ["https://example.com"] })],
  ["csrf", csrf()],
  ["decompress", decompress()],
  ["httpMiddleware", httpMiddleware(async (_request, next) => void (await next()))],
  ["httpsRedirect", (app) => underHTTPS(httpsRedirect()(app))],
  ["idempotency", idempotency({ store: memoryStore() })],
  ["rateLimit", rateLimit({ limit: 1_000_000, windowSeconds: 60 })],
  ["requestId", requestId()],
  ["securityHeaders", securityHeaders()],
  ["sessions", sessions({ secret: "of a test, with more than 32 bytes" })],
  ["sessions({ store })", sessions({ store: memoryStore() })],
  ["timeLimit", timeLimit(60_000)],
  ["trustedHost", trustedHost({ allowedHosts: ["127.0.0.1", "localhost"] })],
];

/** Each middleware, and `echo` in it. */
export const middlewares = configured.map(([name, middleware]) => ({
  name,
  middleware,
  app: middleware(echo),
  paths: { echo: "/", websocket: "/" },
}));
