/**
 * The ASGI protocol in TypeScript: the scopes, the messages, and the one callable that is an application.
 *
 * Field and message names are those of ASGI 3.0, bytes are `Uint8Array`. A server can omit fields that callers do not
 * require, so all except a few scope fields are optional.
 *
 * @see {@link https://asgi.readthedocs.io/en/latest/specs/main.html | ASGI 3.0}
 * @see {@link https://asgi.readthedocs.io/en/latest/specs/www.html | HTTP and WebSocket message format}
 * @module
 */

/** One header as it travels: a lower-case name and a value, both latin-1 bytes. */
export type HeaderPair = readonly [name: Uint8Array, value: Uint8Array];

/** Host and port of one end of a connection; the port is `null` for a Unix socket. */
export type Address = readonly [host: string, port: number | null];

/** The fields that HTTP and WebSocket scopes share. */
interface ConnectionScope {
  asgi?: { version: string; spec_version?: string };
  /** `"1.0"`, `"1.1"` or `"2"`. */
  http_version?: string;
  /** The path of the target, percent-decoded; in its canonical form once an App has seen it. */
  path: string;
  /**
   * The path as received, before decoding, without the query. Servers omit it if it has the same characters as `path`: use
   * `scope.raw_path ?? Buffer.from(scope.path)`.
   */
  raw_path?: Uint8Array;
  /** The part after `?` in the target, still percent-encoded. */
  query_string?: Uint8Array;
  /** The prefix under which the application is mounted; `path` includes it. */
  root_path?: string;
  /** Pairs of bytes: an array, or a lazy `HeaderList`. */
  headers?: Iterable<HeaderPair>;
  client?: Address | null;
  server?: Address | null;
  /** State of the lifespan; each connection gets a shallow copy. */
  state?: Record<string, unknown>;
  extensions?: Record<string, unknown>;
  /** The outermost App, which sets it. */
  app?: unknown;
  /** Values of the pattern's `{names}`, decoded. Set by the App when a route has matched. */
  path_params?: Readonly<Record<string, string>>;
}

/** The scope of one HTTP request. */
export interface HTTPScope extends ConnectionScope {
  type: "http";
  /** The request method, in upper case. */
  method: string;
  /** `"http"` or `"https"`; `"http"` if it is absent. */
  scheme?: string;
}

/** The scope of one WebSocket connection. */
export interface WebSocketScope extends ConnectionScope {
  type: "websocket";
  /** `"ws"` or `"wss"`; `"ws"` if it is absent. */
  scheme?: string;
  /** The subprotocols that the client offers, in its order of preference. */
  subprotocols?: readonly string[];
}

/** The scope of an application's life, from before its first request to after its last. */
export interface LifespanScope {
  type: "lifespan";
  asgi?: { version: string; spec_version?: string };
  /** State that startup fills; each later scope gets a shallow copy. */
  state?: Record<string, unknown>;
  extensions?: Record<string, unknown>;
  app?: unknown;
}

/** The first argument of an application: one connection, or the lifespan. */
export type Scope = HTTPScope | WebSocketScope | LifespanScope;

/** A part of the request's body. */
export interface HTTPRequestMessage {
  type: "http.request";
  body?: Uint8Array;
  /** `true` where another part follows. Defaults to `false`. */
  more_body?: boolean;
}

/** The client has disconnected, or the response is complete. */
export interface HTTPDisconnectMessage {
  type: "http.disconnect";
}

/** The head of the response. */
export interface HTTPResponseStartMessage {
  type: "http.response.start";
  /** HTTP status code in range [200...599]. */
  status: number;
  headers?: Iterable<HeaderPair>;
}

/** A part of the response's body. */
export interface HTTPResponseBodyMessage {
  type: "http.response.body";
  body?: Uint8Array;
  /** The body as ASCII text instead, which only a server of this package reads; `body` has the same as bytes. */
  ascii?: string | null;
  /** `true` where another part follows. Defaults to `false`. */
  more_body?: boolean;
}

/** The client asks for a WebSocket. */
export interface WebSocketConnectMessage {
  type: "websocket.connect";
}

/** One WebSocket message from the client: `text` or `bytes`, never both. */
export interface WebSocketReceiveMessage {
  type: "websocket.receive";
  text?: string | null;
  bytes?: Uint8Array | null;
}

/** The WebSocket has closed. */
export interface WebSocketDisconnectMessage {
  type: "websocket.disconnect";
  /** RFC 6455 §7.4 close code. Defaults to 1005, "no status received". */
  code?: number;
  /** `null` is an empty reason. */
  reason?: string | null;
}

/** The application takes the WebSocket. */
export interface WebSocketAcceptMessage {
  type: "websocket.accept";
  subprotocol?: string | null;
  headers?: Iterable<HeaderPair>;
  /** The most bytes of one message from the client; for servers with the extension `tsgi.websocket.message_limit`. */
  max_message_bytes?: number;
}

/** One WebSocket message to the client: `text` or `bytes`, never both. */
export interface WebSocketSendMessage {
  type: "websocket.send";
  text?: string | null;
  bytes?: Uint8Array | null;
}

/** The application closes the WebSocket, or refuses it when it was not yet accepted. */
export interface WebSocketCloseMessage {
  type: "websocket.close";
  /** RFC 6455 §7.4 close code. Defaults to 1000. */
  code?: number;
  /** `null` is an empty reason. */
  reason?: string | null;
}

/** The head of an HTTP response that rejects the handshake (extension `websocket.http.response`). */
export interface WebSocketHTTPResponseStartMessage {
  type: "websocket.http.response.start";
  status: number;
  headers?: Iterable<HeaderPair>;
}

/** A part of the body of an HTTP response that rejects the handshake. */
export interface WebSocketHTTPResponseBodyMessage {
  type: "websocket.http.response.body";
  body?: Uint8Array;
  more_body?: boolean;
}

/** The server is about to serve, or has stopped. */
export interface LifespanEventMessage {
  type: "lifespan.startup" | "lifespan.shutdown";
}

/** The application's response to a lifespan event. */
export interface LifespanResponseMessage {
  type:
    | "lifespan.startup.complete"
    | "lifespan.startup.failed"
    | "lifespan.shutdown.complete"
    | "lifespan.shutdown.failed";
  /** Why it failed, for the server's log. */
  message?: string;
  /** The error of the start, for a server of this package, which reports it. */
  error?: unknown;
}

/** The messages that `receive` returns. */
export type ReceiveMessage =
  | HTTPRequestMessage
  | HTTPDisconnectMessage
  | WebSocketConnectMessage
  | WebSocketReceiveMessage
  | WebSocketDisconnectMessage
  | LifespanEventMessage;

/** The messages that `send` takes. */
export type SendMessage =
  | HTTPResponseStartMessage
  | HTTPResponseBodyMessage
  | WebSocketAcceptMessage
  | WebSocketSendMessage
  | WebSocketCloseMessage
  | WebSocketHTTPResponseStartMessage
  | WebSocketHTTPResponseBodyMessage
  | LifespanResponseMessage;

/** Waits for the next message from the server. */
export type Receive = () => Promise<ReceiveMessage>;

/** Gives a message to the server. It returns undefined if the message is already processed, else a promise. */
export type Send = (message: SendMessage) => Promise<void> | void;

/**
 * An application, or a replacement for one: a middleware around it, a mounted framework.
 *
 * @example
 * ```ts
 * import type { ASGIApp } from "tsgi";
 *
 * const hello: ASGIApp = async (scope, receive, send) => {
 *   await send({ type: "http.response.start", status: 200, headers: [] });
 *   await send({ type: "http.response.body", body: new TextEncoder().encode("hello") });
 * };
 * ```
 */
export type ASGIApp = (scope: Scope, receive: Receive, send: Send) => Promise<void>;
