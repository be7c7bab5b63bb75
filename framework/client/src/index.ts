/** `@tsgi/client`: calls that are typed by the routes themselves. @module */
import createFetchClient, { type ClientOptions as FetchClientOptions, type Middleware } from "openapi-fetch";
import type { Call, FormattedCall } from "./call.js";
import {
  type PathNames,
  readBody,
  type ROUTE_METHOD,
  type ROUTE_PATH,
  type ROUTE_PROBLEM,
  type Takes,
} from "tsgi/internals";
import type { SocketCall } from "./socket-call.js";
import { openSocket, type SocketParts, type WebSocketConstructor } from "./socket.js";
import { assertPathValues } from "./path.js";
import { openStream, type StreamInit } from "./stream.js";
import type { StreamCall } from "./stream-call.js";
import { type RequestInitParts, writeRequest } from "./write-request.js";
import type { ErrorFormat, Routed } from "tsgi";

export type { Call, FormattedCall } from "./call.js";
export type {
  CallResult,
  CallOptions,
  FormHeaders,
  HTTPValidationError,
  ProblemDetails,
  ValidationProblem,
  ValidationProblemIssue,
} from "tsgi/internals";
export type { SocketCall } from "./socket-call.js";
export type { StreamCall, StreamedEvent } from "./stream-call.js";
export { type ClientStream, StreamRefusedError } from "./stream.js";
export type { ClientSocket, PlatformSocket, WebSocketConstructor } from "./socket.js";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE"] as const;

type Method = (typeof METHODS)[number];

/** The error of a response without a body, in the form of the application's own: `if (error)` must hold for it. */
function emptyError({ status, statusText }: Response): { detail: string } {
  return { detail: statusText || `Status ${status}` }; // HTTP/2 has no reason phrases
}

/**
 * The routes that a module exports, by method and path. Of modules together: `ApiOf<typeof items> & ApiOf<typeof users>`.
 *
 * @typeParam Module - `typeof` of an `import *`, or of an object with the return values of the verbs.
 * @typeParam Prefix - The prefix of each path, from `includeRouter` or a mount. A router's own is in the paths.
 *
 * @example
 * ```ts
 * import { App, t } from "tsgi";
 * import { type ApiOf, createClient } from "@tsgi/client";
 *
 * const app = new App();
 * const routes = {
 *   getItem: app.get("/items/{item_id}", { params: { item_id: t.Integer() } }, async ({ item_id }) => ({ item_id })),
 * };
 * const client = createClient<ApiOf<typeof routes>>({ fetch: app.fetch });
 * const { data } = await client.GET("/items/{item_id}", { params: { path: { item_id: 1 } } });
 * console.log(data?.item_id); // 1
 * ```
 */
export type ApiOf<Module, Prefix extends string = ""> = {
  readonly [Of in Method | "WEBSOCKET"]: {
    readonly [
      K in keyof Module as Module[K] extends { readonly [ROUTE_METHOD]: Takes<Of> }
        ? `${Prefix}${Module[K][keyof Module[K] & typeof ROUTE_PATH] & string}`
        : never
    ]: Prefix extends `${string}{${string}` ? Below<Module[K], Prefix> : Module[K];
  };
};

/** A route below a prefix whose names are parameters of it. */
type Below<Route, Prefix extends string> =
  Route extends Routed<infer Of, infer Path, infer Types>
    ? Routed<Of, `${Prefix}${Path}`, Omit<Types, "request"> & Named<Types["request"], PathNames<Prefix>>>
    : never;

/** The parameters of a route and of its prefix. */
interface Named<R, Names extends string> {
  readonly request: Omit<R, "path" | "query"> & {
    path: (R extends { path: infer Values } ? Values : {}) & { [N in Names]: InPrefix<R, N> };
  } & (R extends { query: infer Values } ? { query: Omit<Values, Names> } : {});
}

/**
 * The value of a name in a prefix. A route that does not know its prefix has a schema of that name in the query. Any
 * other reader decides the type, else the value is text.
 */
type InPrefix<R, Name extends string> = R extends { query: { [N in Name]: infer Value } } ? Value : {};

/** The options of a client. Those of `fetch` and of openapi-fetch hold for each call. */
export interface ClientOptions extends Omit<FetchClientOptions, "bodySerializer" | "fetch"> {
  /**
   * The address of the application. Defaults to the page's own address in a browser, and to `http://localhost`
   * elsewhere with a custom `fetch`.
   */
  baseUrl?: string;
  /** Sends a request: `app.fetch` needs no server and no port. Defaults to the platform's. */
  fetch?: (request: Request) => Promise<Response>;
  /** Opens WebSockets. Defaults to the platform's, which Node has from version 22 on. */
  WebSocket?: WebSocketConstructor;
}

/** Facts about the errors of an application, which only the types use. */
export interface ErrorOptions {
  /** `true` if the App has the option `problemDetails`. */
  readonly problemDetails?: boolean;
  /** The type of the option `errorFormat` of the App. */
  readonly errorFormat?: ErrorFormat;
  /** The option `validationStatus` of the App. */
  readonly validationStatus?: number;
}

/** The calls of one method. */
type CallOf<Routes, Errors> = Errors extends { readonly problemDetails: true }
  ? Call<Routes, typeof ROUTE_PROBLEM>
  : Errors extends { readonly errorFormat: object } | { readonly validationStatus: number }
    ? FormattedCall<Routes, Errors>
    : Call<Routes>;

/** A client: a function for each method and for WebSockets, and openapi-fetch's middleware. */
export type Client<Api, Errors extends ErrorOptions = {}> = {
  readonly [Of in keyof Api & Method]: CallOf<Api[Of], Errors>;
} & {
  /**
   * Opens the WebSocket of a path at once: a value may be sent before it is open. `receives` and `sends` of its route
   * type the messages.
   *
   * @throws TypeError for a path parameter that is empty, `.` or `..`, and if neither the platform nor the options have a
   * constructor.
   */
  readonly websocket: SocketCall<Api extends { readonly WEBSOCKET: infer Routes } ? Routes : {}>;
  /**
   * Reads the server-sent events of a `GET` route. If the connection is lost, it connects again after a pause, with
   * `Last-Event-ID`, so a route that sends ids continues after the last event. If the route sends neither ids nor `retry`,
   * the iteration ends with the response, and throws if the connection was lost.
   *
   * After ten attempts in a row without an event, the iteration throws the error of the last one.
   */
  readonly stream: StreamCall<Api extends { readonly GET: infer Routes } ? Routes : {}>;
  /** Adds middleware, which sees each request and response. */
  use(...middleware: Middleware[]): void;
  /** Takes middleware away. */
  eject(...middleware: Middleware[]): void;
};

/**
 * Makes a client whose paths, parameters, bodies and results are typed by the routes, without generated code. Stands on
 * the package `openapi-fetch`. A call returns `{ data, response }`, or `{ error, response }` for a status of 400 or
 * more; it rejects if no response arrives. The `error` of a response without a body is `{ detail }` with the reason phrase.
 * If a path parameter is missing, empty, `.` or
 * `..`, which would be the path of another route, it rejects with a `TypeError` before it sends a request.
 *
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { type ApiOf, createClient } from "@tsgi/client";
 *
 * const app = new App();
 * const routes = { hello: app.get("/hello", async () => ({ hello: "world" })) };
 * const client = createClient<ApiOf<typeof routes>>({ fetch: app.fetch });
 * const { data, error } = await client.GET("/hello");
 * console.log(data?.hello, error); // world undefined
 * ```
 * @typeParam Errors - The options of the App that decide on its errors: `{ errorFormat: typeof errors }`,
 *   `{ validationStatus: 400 }` or `{ problemDetails: true }`.
 * @see {@link https://openapi-ts.dev/openapi-fetch/}
 */
export function createClient<Api, Errors extends ErrorOptions = {}>(options: ClientOptions = {}): Client<Api, Errors> {
  const { location } = globalThis as { location?: unknown }; // Deno has it without a value
  const defaultUrl = options.fetch && location === undefined ? "http://localhost" : "";
  const { baseUrl = defaultUrl, WebSocket = globalThis.WebSocket, ...rest } = options;
  const middleware: Middleware[] = [];
  const library = createFetchClient<Record<string, never>>({ ...rest, baseUrl });
  const send = async (method: Method, path: string, init: RequestInitParts) => {
    assertPathValues(path, init.params?.path);
    const request = {
      ...writeRequest(init),
      middleware: [...middleware, ...(init.middleware ?? [])],
      parseAs: "stream",
    };
    // It has the types of a document's paths, which are not known here.
    const sendRequest = library.request as (
      ...args: readonly unknown[]
    ) => Promise<{ error?: unknown; response: Response }>;
    return sendRequest(method.toLowerCase(), path, request);
  };
  const call = async (method: Method, path: string, init: RequestInitParts = {}) => {
    const { error, response } = await send(method, path, init);
    if (response.ok) return { data: await readBody(response, method), response };
    return { error: error === undefined || error === "" ? emptyError(response) : error, response };
  };
  const calls = METHODS.map((method) => [method, (path: string, init?: RequestInitParts) => call(method, path, init)]);
  const client: object = {
    ...(Object.fromEntries(calls) as object),
    stream: (path: string, init: StreamInit = {}) => openStream((request) => send("GET", path, request), init),
    websocket: (path: string, init: SocketParts = {}) => openSocket(WebSocket, baseUrl, path, init),
    use: (...added: Middleware[]) => void middleware.push(...added),
    eject: (...gone: Middleware[]) =>
      void middleware.splice(0, middleware.length, ...middleware.filter((one) => !gone.includes(one))),
  };
  // The calls are the same for every path: only their types tell the paths apart.
  return client as Client<Api, Errors>;
}
