/**
 * The interface between an engine and the application.
 *
 * An engine speaks one protocol on one I/O loop: HTTP/1.1 on sockets (`http1/`), HTTP/2 on `node:http2` (`http2/`),
 * requests of a `node:http` server (`node-handler.ts`), uWebSockets.js (`uws/`). `serve` runs the `Lifespan` around it,
 * and all its requests share one `ServerContext`. For each request it
 *
 * 1. checks the head (`createHead`) and creates the scope (`createScope`); a head that is refused is an `ErrorResponse`,
 *    which it sends itself,
 * 2. gives the body, if there is one, to a `RequestBody`, which asks for more through `BodyFlow`,
 * 3. runs an `Exchange` over its `ResponseStream`,
 * 4. tells the exchange when the client goes (`disconnect`), or ends its side (`halfClose`).
 *
 * The exchange checks what the application sends. The engine alone decides when a connection closes. A server on it is a
 * `StoppableServer`: its `drain` listens no more, calls `drain` of the context, and waits for `idle`.
 *
 * @module
 */
import type { ResponseHead } from "./response-head.js";

/** A connection, or on an engine that shows none the one request on it. */
export interface ConnectionHandle {
  /** `true` once the client has gone: bytes that are written do not arrive. */
  readonly destroyed: boolean;
  /** Closes it at once. */
  destroy(): unknown;
}

/** The response of one request: `respond`, or `begin write* end`. Behind it the next request may come. */
export interface ResponseStream extends ConnectionHandle {
  /**
   * Sends a whole response: bytes, or ASCII text.
   *
   * @param head - The checked headers. `Date`, headers of the connection, and a `contentLength` that the headers do not
   *   have are the engine's to add.
   */
  respond(head: Readonly<ResponseHead>, body: Uint8Array | string): void;
  /** Sends the head of a response whose body follows in parts. */
  begin(head: Readonly<ResponseHead>): void;
  /** Sends a part of the body. Returns whether the client takes more; if not, `flushed` says when it does. */
  write(chunk: Uint8Array): boolean;
  /** Ends a response that was begun. */
  end(): void;
  /** Settles, never with an error, once all that was written is with the system or the client has gone. */
  flushed(): Promise<void> | undefined;
}

/** The source of a request's body. */
export interface BodyFlow {
  /** The application asks for the body for the first time. Returns why it cannot be read, or `null`. */
  start?(): Error | null;
  /** Goes on, after `RequestBody.take` has asked to wait. */
  resume(): void;
}
