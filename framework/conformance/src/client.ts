/** The client's side of a server under test. @module */
import type { ASGIApp } from "tsgi";
import { type TextHeaders, textOf } from "./bytes.js";
import { inTime, type Lacks } from "./statement.js";

/** A request to send. */
export interface ClientRequest {
  /** Defaults to GET. */
  readonly method?: string;
  /** Percent-encoded path and query. Defaults to `/`. */
  readonly target?: string;
  /** Headers in addition to those that the client needs. */
  readonly headers?: TextHeaders;
  /** Parts of the body, each sent when it is there. No body if it is absent. */
  readonly body?: AsyncIterable<Uint8Array>;
  /** The client disconnects when it is aborted. */
  readonly signal?: AbortSignal;
}

/** The head of a response, and the body as it arrives. */
export interface ClientResponse {
  readonly status: number;
  /** With repeated names, in their order. */
  readonly headers: TextHeaders;
  /** Ends with an error where the response is cut. To be read once. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** The end of a WebSocket for the client: 1005 without a code, 1006 without a close frame. */
export interface ClientClose {
  readonly code: number;
  readonly reason: string;
}

/** A WebSocket after its handshake. */
export interface ClientWebSocket {
  /** The subprotocol that the server has chosen. */
  readonly subprotocol: string | null;
  send(data: string | Uint8Array): Promise<void>;
  /** Sends one message of text in several frames. For servers with frames. */
  sendFragments?(...parts: readonly string[]): Promise<void>;
  /** Sends a ping, and resolves with the payload of the pong. For servers with frames. */
  ping?(payload: string): Promise<string>;
  /** The next message. Rejects if no more messages arrive. */
  receive(): Promise<string | Uint8Array>;
  /** Sends a close frame; an empty one without a code. */
  close(code?: number, reason?: string): Promise<void>;
  /** Goes without a close frame. */
  terminate(): void;
  readonly closed: Promise<ClientClose>;
}

/** A handshake to send. */
export interface ClientHandshake {
  /** Percent-encoded path and query. Defaults to `/`. */
  readonly target?: string;
  readonly headers?: TextHeaders;
  /** In order of preference. */
  readonly subprotocols?: readonly string[];
}

/** The response to a handshake, and the WebSocket after it. */
export interface HandshakeResponse {
  /** 101 if the server has accepted the WebSocket. */
  readonly status: number;
  readonly headers: TextHeaders;
  /** Text of the body of a refusal. */
  readonly body: string;
  /** `null` if it was rejected. */
  readonly webSocket: ClientWebSocket | null;
}

/** A server that runs, seen from a client. */
export interface StartedServer {
  /** Sends a request, and resolves with the head of the response. */
  request(request: ClientRequest): Promise<ClientResponse>;
  /** Sends a handshake. For servers with WebSockets. */
  websocket?(handshake: ClientHandshake): Promise<HandshakeResponse>;
  /** Closes open connections, stops the server, and ends the application's lifespan. */
  close(): Promise<void>;
}

/**
 * Starts a server for an application. It resolves when requests can be sent, and rejects where the application's startup fails.
 * Each check starts one, and closes it.
 */
export type StartServer = (app: ASGIApp) => Promise<StartedServer>;

/**
 * Features that a server or its transport may be without.
 *
 * - `websocket`: it takes WebSockets.
 * - `frames`: it can send frames of RFC 6455: fragments, pings, a disconnect without a close frame.
 * - `lifespan`: it runs the lifespan protocol.
 * - `raw-headers`: repeated headers of a request reach the server as they were sent.
 * - `disconnect`: the server is notified of a disconnected client.
 */
export type ServerFeature = "websocket" | "frames" | "lifespan" | "raw-headers" | "disconnect";

/** The reason for each feature that a server is without. */
export type ServerLacks = Lacks<ServerFeature>;

/** Reads a body to its end, as text. */
export async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return textOf(...parts);
}

/** Starts a server, lets a check use it, and closes it in any case. */
export async function withServer<Value>(
  start: StartServer,
  app: ASGIApp,
  use: (server: StartedServer) => Promise<Value>,
): Promise<Value> {
  const server = await inTime(start(app), "the server to start");
  try {
    return await inTime(use(server), "the exchange with the server to end");
  } finally {
    await inTime(server.close(), "the server to close");
  }
}
