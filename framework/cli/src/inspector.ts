/** The page `/__tsgi` of `tsgi dev`: routes, the last requests with their steps, and the pool, live. @module */
import { fileURLToPath } from "node:url";
import { App, type ASGIApp, FileResponse, type Instrumentation, PlainTextResponse, Request } from "tsgi";
import { consoleLogger, observing } from "tsgi/internals";
import { securityHeaders } from "tsgi/middleware";
import { readDeclaredNames } from "./declared-names.js";
import { isLocal } from "./inspector/is-local.js";
import { Recorder } from "./inspector/recorder.js";
import { describeRouteTree } from "./inspector/route-tree.js";
import { createTools } from "./inspector/tools.js";
import { isTsgiApp } from "./load-app.js";

/** The path of the page, which takes precedence over routes of the application. */
export const INSPECTOR_PATH = "/__tsgi";

/** The endpoint of the tools for agents. */
export const TOOLS_PATH = `${INSPECTOR_PATH}/mcp`;

/** Milliseconds between two events of a page: a loop of requests must not keep a browser busy. */
const PAUSE_MS = 100;

const FILES = ["inspector.js", "inspector.css"] as const;

/** Only scripts and styles of the page itself are allowed, and no page can frame it. */
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-ancestors 'none'";

/**
 * Serves the inspector in addition to an application, and observes the application for it. Only `tsgi dev` does: the page
 * shows paths and errors.
 *
 * @param others - Further instrumentations of the application. They do not see the requests to the inspector.
 */
export function inspected(
  app: ASGIApp,
  others: readonly Instrumentation[] = [],
  recorder: Recorder = new Recorder(),
): ASGIApp {
  const pages = createPages(app, recorder);
  const tools = createTools(app, recorder, TOOLS_PATH);
  const observed = observing(app, [recorder, ...others], consoleLogger);
  const named = isTsgiApp(app) ? readDeclaredNames(app) : null;
  return async (scope, receive, send) => {
    if (named !== null) recorder.names = await named;
    if (scope.type === "lifespan") return app(scope, receive, send);
    if (scope.type !== "http" || !isInspector(scope.path)) return observed(scope, receive, send);
    if (isLocal(scope)) return (scope.path === TOOLS_PATH ? tools : pages)(scope, receive, send);
    const refusal = new PlainTextResponse("The inspector accepts requests from this machine only.", {
      statusCode: 403,
    });
    await refusal.send(send, scope.method === "HEAD");
  };
}

function isInspector(path: string): boolean {
  return path === INSPECTOR_PATH || path.startsWith(`${INSPECTOR_PATH}/`);
}

function createPages(app: ASGIApp, recorder: Recorder): App {
  const pages = new App({
    docsUrl: null,
    redocUrl: null,
    openapiUrl: null,
    middleware: [securityHeaders({ contentSecurityPolicy: POLICY })],
  });
  pages.get(INSPECTOR_PATH, async () => fileOf("index.html"));
  for (const name of FILES) pages.get(`${INSPECTOR_PATH}/${name}`, async () => fileOf(name));
  pages.get(`${INSPECTOR_PATH}/routes`, async () => (isTsgiApp(app) ? describeRouteTree(app, recorder.names) : []));
  pages.get(
    `${INSPECTOR_PATH}/events`,
    { params: { request: Request }, stream: "sse" },
    async function* ({ request: { signal } }) {
      for (let version = 0; !signal.aborted; await recorder.changed(version, PAUSE_MS, signal)) {
        const requests = recorder.since(version);
        ({ version } = recorder);
        yield { requests, pool: isTsgiApp(app) ? app.poolStats : null };
      }
    },
  );
  return pages;
}

/** A file of the page. A browser that holds it asks again, since another version of the package may serve it next. */
function fileOf(name: string): FileResponse {
  const path = fileURLToPath(new URL(`../assets/${name}`, import.meta.url));
  return new FileResponse(path, { headers: { "cache-control": "no-cache" } });
}
