/**
 * The interface between the protocol and the drivers, which move bytes and do not depend on ASGI's rules.
 *
 * The drivers are HTTP/1.1 on sockets (`node/http1/`), HTTP/2 on `node:http2` (`node/http2/`), requests of a `node:http`
 * server (`node/node-handler.ts`), uWebSockets.js (`node/uws/`), `fetch` (`web/`), and the test client's WebSockets in memory
 * (`testing/`). All requests of a server share one `ServerContext`. For each request a driver
 *
 * 1. makes the scope from a checked head (`createScope`); it refuses a head itself, with an `ErrorResponse`,
 * 2. runs an `Exchange` over its `ResponseStream`, with the body of the request in a `RequestBody`, which asks for more
 *    through `BodyFlow`,
 * 3. tells the exchange when the client disconnects (`disconnect`), or ends its side (`halfClose`).
 *
 * The exchange checks the messages of the application. Only the driver decides when a connection closes. A WebSocket is
 * a `WebSocketSession` over a `PendingHandshake`.
 *
 * @module
 */
import type { BodyFlow } from "./request-body.js";
import type { ServerResponseHead } from "./response.js";

/** A connection, or the one request on it if the driver shows no connections. */
export interface ConnectionHandle {
  /** `true` once the client has disconnected: bytes that are written do not arrive. */
  readonly destroyed: boolean;
  /** Closes it at once, so that the client sees that a response is not whole. @param reason - The error of the application, for drivers that can pass it on. */
  destroy(reason?: unknown): unknown;
  /** The application has settled: lets go of the rest of the request. */
  release?(): void;
}

/** The response of one request: `respond`, or `begin write* end`. The next request may follow it. */
export interface ResponseStream extends ConnectionHandle {
  /** `true` once the client has disconnected, if the driver learns of it only on request; otherwise `destroyed` tells. */
  readonly hasLeft?: boolean;
  /** The body of the request, if the driver reads it only when the application asks for it. */
  readonly source?: BodyFlow;
  /**
   * Sends a whole response.
   *
   * @param head - The checked headers. `Date`, headers of the connection, and a `contentLength` that the headers lack are
   *   the driver's to add.
   * @param body - Bytes, or ASCII text.
   */
  respond(head: Readonly<ServerResponseHead>, body: Uint8Array | string): void;
  /** Sends the head of a response whose body follows in parts. */
  begin(head: Readonly<ServerResponseHead>): void;
  /** Sends a part of the body. Returns whether the client accepts more; if not, `flushed` resolves when it does. */
  write(chunk: Uint8Array): boolean;
  /** Ends a response that was begun. */
  end(): void;
  /** Settles, never with an error, once the system has all that was written or the client has disconnected. */
  flushed(): Promise<void> | undefined;
}
