/** The inspector's data as tools for agents, over the Model Context Protocol. @module */
import { App, type ASGIApp, PlainTextResponse, t } from "tsgi";
import type { Recorded, Recorder } from "./recorder.js";
import { describeRouteTree } from "./route-tree.js";
import { isTsgiApp } from "../load-app.js";

const INSTALL = "npm install --save-dev @tsgi/mcp @modelcontextprotocol/server@2";

const Limit = t.Integer({ minimum: 1, maximum: 100, default: 20, description: "The most requests to return" });

/**
 * Makes the application that serves the tools below one path. `@tsgi/mcp` and the SDK are loaded by the first call: a
 * restart of `tsgi dev` must not wait for them.
 */
export function createTools(app: ASGIApp, recorder: Recorder, path: string): ASGIApp {
  let opened: Promise<ASGIApp> | undefined;
  return async (scope, receive, send) => {
    opened ??= openTools(app, recorder, path);
    await (
      await opened
    )(scope, receive, send);
  };
}

async function openTools(app: ASGIApp, recorder: Recorder, path: string): Promise<ASGIApp> {
  const tools = new App({
    title: "tsgi dev",
    description: "Look into the application that `tsgi dev` serves: its routes, last requests and errors.",
    docsUrl: null,
    redocUrl: null,
    openapiUrl: null,
  });
  addRoutes(tools, app, recorder, path);
  try {
    const { mcp } = await import("@tsgi/mcp");
    tools.includeRouter(mcp(tools, { path }));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const text = `The tools for agents need @tsgi/mcp. Run: ${INSTALL}\n\n${reason}\n`;
    return async (scope, _receive, send) => {
      if (scope.type !== "http") return;
      await new PlainTextResponse(text, { statusCode: 501 }).send(send, scope.method === "HEAD");
    };
  }
  return tools;
}

/** Each tool is a route of which only the endpoint of the tools can be reached: the inspector forwards no other path. */
function addRoutes(tools: App, app: ASGIApp, recorder: Recorder, path: string): void {
  tools.get(
    `${path}/routes`,
    {
      summary: "List the routes of the application with their handlers and dependencies",
      mcp: { name: "list_routes" },
    },
    async () => ({ routes: isTsgiApp(app) ? describeRouteTree(app, recorder.names) : [] }),
  );
  tools.get(
    `${path}/requests`,
    {
      summary: "List the last requests, newest first: status, duration, validation errors and the steps of each",
      params: {
        limit: Limit,
        path_contains: t.Optional(t.String({ description: "Only requests with this text in their path" })),
        min_status: t.Optional(t.Integer({ minimum: 100, maximum: 599, description: "400 for all that failed" })),
      },
      mcp: { name: "list_requests" },
    },
    async ({ limit, path_contains: part = "", min_status: min = 0 }) => {
      const found = newest(recorder).filter((one) => one.path.includes(part) && (one.status ?? 0) >= min);
      return { requests: found.slice(0, limit) };
    },
  );
  tools.get(
    `${path}/errors`,
    {
      summary: "List the last unexpected errors, newest first, with the lines of source that threw them",
      params: { limit: Limit },
      mcp: { name: "list_errors" },
    },
    async ({ limit }) => {
      const failed = newest(recorder).filter(({ error }) => error !== null);
      return { errors: failed.slice(0, limit).map(toError) };
    },
  );
}

const newest = (recorder: Recorder) => recorder.since(0).toSorted((a, b) => b.id - a.id);

function toError({ id, startedAt, method, path, route, handler, status, error, frames }: Recorded) {
  return { id, startedAt, request: `${method} ${path}`, route, handler, status, error, frames };
}
