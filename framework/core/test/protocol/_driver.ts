/** The interface between a statement of the protocol and the driver that it runs on. @module */
import type { ASGIApp } from "../../src/protocol/asgi.js";
import type { ClientHandshake, ClientRequest, ClientResponse, HandshakeResponse } from "@tsgi/conformance";
import type { Logger } from "../../src/common/logger.js";

/** The drivers of this process, then those of other runtimes. */
export type DriverName =
  | "HTTP/1.1"
  | "HTTP/2"
  | "toNodeHandler"
  | "uWebSockets.js"
  | "fetch"
  | "TestClient"
  | "Bun"
  | "Bun fetch"
  | "Deno"
  | "Deno fetch"
  | "workerd";

/**
 * Features that a platform may not have:
 *
 * - `websocket`: the driver opens WebSockets.
 * - `frames`: its WebSockets use frames of RFC 6455, so that a client can send invalid ones.
 * - `early disconnect`: a client can disconnect before the handshake is completed.
 * - `half-close`: a client can end its side of the connection and still read.
 * - `drain`: the driver stops by itself, and tells the application.
 * - `lifespan`: each server has a separate lifespan.
 * - `in process`: the application has the objects of the server, and not copies.
 */
export type Feature = "websocket" | "frames" | "early disconnect" | "half-close" | "drain" | "lifespan" | "in process";

/** The reason why a driver lacks a feature. */
export interface Lack {
  readonly reason: string;
  /** Asks the server if it lacks the feature. Absent if the client has no way to use it. */
  readonly isReal?: () => Promise<boolean>;
}

/** A request of a client. */
export interface Request extends ClientRequest {
  /** The client ends its side of the connection after the request. For drivers with half-close. */
  readonly halfClose?: boolean;
  /** The client does not read, not even the head, until this resolves. */
  readonly pausedUntil?: Promise<void>;
  /** The server stops: it may close a connection after a response that does not say so. */
  readonly mayClose?: boolean;
}

/** A handshake of a client. */
export interface Handshake extends ClientHandshake {
  /** The client disconnects when it is aborted. For drivers with early disconnect. */
  readonly signal?: AbortSignal;
  /** The client does not read after the head of the response until this resolves. For drivers with frames. */
  readonly pausedUntil?: Promise<void>;
}

/** Settings of a server. */
export interface Settings {
  readonly logger: Logger;
  /** State for the scopes, for a driver that does not run the lifespan. */
  readonly state: Record<string, unknown>;
  /** Milliseconds that it may take to stop, if the driver is in this process. */
  readonly shutdownTimeoutMs?: number;
}

/** A server that runs, and a client of it. */
export interface Endpoint {
  /** Sends a request, and resolves with the head of the response. Rejects with {@link Lost}. */
  request(request: Request): Promise<ClientResponse>;
  /** For drivers with WebSockets. Rejects with {@link Lost}. */
  websocket?(handshake: Handshake): Promise<HandshakeResponse>;
  /** Stops the server as a signal does. */
  stop(): Promise<void>;
  /** Cuts the connections of the client. */
  cut(): void;
  /** Completes the log of a server in another process. */
  syncLog?(): Promise<void>;
}

/** One driver of the protocol. */
export interface Driver {
  readonly name: DriverName;
  /** The driver of this process with the same features as this one. */
  readonly base?: DriverName;
  readonly httpVersion: "1.1" | "2";
  readonly lacks: Readonly<Partial<Record<Feature, Lack>>>;
  start(app: ASGIApp, settings: Settings): Promise<Endpoint>;
  /** Waits as long as a call of `send` takes that does not wait for the client. Defaults to a turn of the event loop. */
  turn?(): Promise<void>;
  /** Called before the first statement. */
  open?(): Promise<void>;
  /** Called after the last one. */
  close?(): Promise<void>;
}

/** The connection ended before the client had read the whole response. */
export class Lost extends Error {
  override readonly name = "Lost";

  constructor(cause?: unknown) {
    super("The connection ended before the whole response had arrived.", { cause });
  }
}

/** The client cannot continue as the statement expects. */
export class NotKept extends Error {
  override readonly name = "NotKept";
}

/** Other bytes than the next response follow a response: its client reads everything after it wrong. */
export class Surplus extends Error {
  override readonly name = "Surplus";
}
