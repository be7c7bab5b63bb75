/** `@tsgi/mcp`: routes as tools for agents, over the Model Context Protocol. @module */
import { type App, Depends, Request, RequestValidationError, Router } from "tsgi";
import {
  accessRefusal,
  assertOptions,
  consoleLogger,
  entranceOf,
  expecting,
  guardLogger,
  LIST,
  type OptionRules,
  parseMediaType,
  TEXT,
  whole,
} from "tsgi/internals";
import { createRequest, send } from "./request.js";
import { errorResult, limit, type OnItem, toResult } from "./result.js";
import * as sdk from "@modelcontextprotocol/server";
import { compileTools, type Tool } from "./tools.js";
import { trustedHost } from "tsgi/middleware";
import { SecurityScheme } from "tsgi/security";
import { type EndpointScheme, serveMetadata } from "./auth.js";

/** The options of `mcp`. */
export interface McpOptions {
  /** The path of the endpoint. Defaults to `"/mcp"`. */
  path?: string;
  /**
   * The origins of pages whose scripts may call, such as `"https://inspector.example.com"`. Empty by default: a request
   * with an `Origin` gets 403, because agents do not send it.
   */
  allowedOrigins?: readonly string[];
  /** The allowed hosts of the endpoint, in the form of `trustedHost`. Defaults to any. */
  allowedHosts?: readonly string[];
  /** The most bytes of a response that become a result; a longer one is an error. Defaults to 1 MiB. */
  maxResultBytes?: number;
  /**
   * A security scheme that protects the endpoint. If it is a `JWTBearer` of `@tsgi/oauth` with a `resource`, agents find the
   * authorization server and log in by themselves. By default, the endpoint is not protected.
   */
  auth?: EndpointScheme;
}

const isOrigin = (one: unknown) => typeof one === "string" && URL.canParse(one) && new URL(one).origin === one;

const OPTIONS: OptionRules<McpOptions> = {
  path: TEXT,
  allowedOrigins: expecting('a list of origins such as "https://example.com"', (value) => {
    return Array.isArray(value) && value.every(isOrigin);
  }),
  allowedHosts: LIST,
  maxResultBytes: whole(1),
  auth: expecting("a security scheme, such as new JWTBearer()", (value) => value instanceof SecurityScheme),
};

/** The most messages of one POST. Attack: each calls a route, past a limit that counts requests of this endpoint. */
const MAX_BATCH = 16;

/**
 * Makes a router that offers the routes with the option `mcp` to agents as tools of the Model Context Protocol, without sessions.
 * A call is a request to the application in this process, with the headers of the caller: guards, limits and `returns` hold.
 * A tool whose guards would refuse the caller is not listed. Stands on the package `@modelcontextprotocol/server`.
 *
 * @param app - The application whose routes are offered, without those of mounted Apps.
 * @throws ConfigurationError for options that cannot work; and at startup for a route that cannot be a tool.
 * @example
 * ```ts
 * import { App, t } from "tsgi";
 * import { mcp } from "@tsgi/mcp";
 *
 * const app = new App({ title: "Items" });
 * app.get("/items/{item_id}", { params: { item_id: t.Integer() }, mcp: true }, async ({ item_id }) => ({ item_id }));
 * app.includeRouter(mcp(app, { path: "/mcp" }));
 * ```
 */
export function mcp(app: App, options: McpOptions = {}): Router {
  assertOptions("mcp()", options, OPTIONS);
  const { path = "/mcp", allowedOrigins = [], allowedHosts, maxResultBytes = 1024 * 1024, auth } = options;
  if (auth) serveMetadata(app, auth);
  const service = Depends(() => openService(app, maxResultBytes), { scope: "app" });
  const middleware = allowedHosts ? [trustedHost({ allowedHosts })] : [];
  const router = new Router({ includeInSchema: false, middleware, dependencies: auth ? [Depends(auth)] : [] });
  const params = { request: Request, service };
  router.route(path, { methods: ["GET", "POST", "DELETE"], params }, async ({ request, service: answer }) => {
    const origin = request.header("origin");
    // MCP 2025-11-25, Transports: any name may be rebound to a loopback address, so a page's word is not enough.
    if (origin !== undefined && !allowedOrigins.includes(origin)) return refuse(403, "Origin is not allowed");
    let message: unknown;
    try {
      if (isJSONMessage(request)) message = await request.json();
    } catch (error) {
      if (!(error instanceof RequestValidationError)) throw error;
      return refuse(400, "Parse error: the request body is not valid JSON", -32_700);
    }
    if (Array.isArray(message) && message.length > MAX_BATCH) return refuse(400, `Over ${MAX_BATCH} messages`);
    return answer(request, message);
  });
  return router;
}

/** The SDK refuses a POST of any other type, and other methods. */
function isJSONMessage(request: Request): boolean {
  return request.method === "POST" && parseMediaType(request.header("content-type")) === "application/json";
}

/** An error of the protocol below, JSON-RPC 2.0 §5.1. */
function refuse(status: number, message: string, code = -32_600): globalThis.Response {
  return globalThis.Response.json({ jsonrpc: "2.0", error: { code, message }, id: null }, { status });
}

/**
 * Tools do not change while the application runs, so subscriptions are not necessary. Attack: the SDK counts the
 * streams of `subscriptions/listen` for each handler, and there is one for each request; any client could open streams
 * without end.
 */
const MAX_SUBSCRIPTIONS = 0;

/** Without `false`, the SDK announces that it reports changes of the tools. */
const CAPABILITIES = { tools: { listChanged: false } };

/** The tools of an application, as a function that responds to a message of their caller. */
function openService(app: App, maxBytes: number) {
  const tools = compileTools(app);
  // The SDK compares the headers with the arguments of the tools that are registered with it. It does not
  // call them, because the handlers below replace its own.
  const mirrored = [...tools.values()].flatMap(({ isMirrored, listing: { name, inputSchema } }) =>
    isMirrored ? [{ name, inputSchema: sdk.fromJsonSchema(inputSchema) }] : [],
  );
  const { title = "tsgi", version = "0.1.0", description, logger = consoleLogger } = app.settings;
  const onerror = (err: Error) =>
    guardLogger(logger).debug({ err }, `The MCP endpoint refused a request: ${err.message}`);
  const createServer = (caller: Request) => {
    const about = { capabilities: CAPABILITIES, ...(description && { instructions: description }) };
    const product = new sdk.McpServer({ name: title, version }, about);
    for (const { name, inputSchema } of mirrored)
      product.registerTool(name, { inputSchema }, async () => ({ content: [] }));
    const { server } = product;
    server.setRequestHandler("tools/list", async () => ({ tools: await listTools(tools, caller) }));
    server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
      const tool = tools.get(params.name);
      if (!tool) throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, `Unknown tool ${params.name}`);
      const progressToken = params["_meta"]?.progressToken;
      const onItem: OnItem = async (message, progress) => {
        if (progressToken === undefined) return;
        await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, message } });
      };
      try {
        const signal = AbortSignal.any([mcpReq.signal, caller.signal]);
        const entrance = entranceOf(app, caller.scope);
        const { rootPath } = entrance;
        const request = createRequest(tool, params.arguments ?? {}, caller, { rootPath, signal });
        // Without the query, which may have a key of the caller.
        const [uri = ""] = request.url.split("?");
        return await toResult(limit(await send(entrance, request, logger), maxBytes), uri, onItem);
      } catch (error) {
        if (error instanceof RequestValidationError) return errorResult(422, { detail: error.errors });
        return errorResult(500, error instanceof RangeError ? error.message : "The response was interrupted.");
      }
    });
    return product;
  };
  const options = { onerror, maxSubscriptions: MAX_SUBSCRIPTIONS };
  return (caller: Request, parsedBody: unknown) =>
    sdk.createMcpHandler(() => createServer(caller), options).fetch(caller.toWeb(), { parsedBody });
}

/** One after the other: a guard may take a connection of a pool, and a list runs the guards of every tool. */
async function listTools(tools: ReadonlyMap<string, Tool>, { scope }: Request): Promise<Tool["listing"][]> {
  const listed: Tool["listing"][] = [];
  for (const { endpoint, listing } of tools.values()) {
    const status = await accessRefusal(endpoint, scope);
    if (status !== 401 && status !== 403) listed.push(listing);
  }
  return listed;
}
