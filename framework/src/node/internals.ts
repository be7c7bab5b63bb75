/**
 * What is used of `node:http` beyond its documentation, all in one place. Each member is the same in Node 20 to 26, and
 * the tests hold what comes of it to what `node:http` does by itself.
 *
 * @module
 */
import type { IncomingMessage, ServerResponse } from "node:http";

interface Response {
  _header: string | null;
  readonly _keepAliveTimeout: number;
  readonly _expect_continue: boolean;
  readonly _sent100: boolean;
}

interface Request {
  _dumped: boolean;
  readonly _readableState: { ended: boolean; endEmitted: boolean };
}

/* oxlint-disable no-underscore-dangle -- they are named so */

/** Sets the text that goes out in front of whatever is written first, in place of `writeHead`. */
export function setHead(response: ServerResponse, head: string): void {
  (response as unknown as Response)._header = head;
}

/** For how long the client is told that its connection is kept, in milliseconds. */
export function keepAliveMsOf(response: ServerResponse): number {
  return (response as unknown as Response)._keepAliveTimeout;
}

/** Whether the client waits for `100 Continue`, and has not been sent one. */
export function awaitsContinue(response: ServerResponse): boolean {
  const { _expect_continue: asked, _sent100: sent } = response as unknown as Response;
  return asked && !sent;
}

/**
 * Ends the stream of a request without a body, which nobody reads: else `node:http` starts, reads, ends and destroys it in
 * five turns of the loop. It is what `optimizeEmptyRequests` of newer versions does.
 */
export function endEmpty(request: IncomingMessage): void {
  const internals = request as unknown as Request;
  internals._dumped = true;
  internals._readableState.ended = true;
  internals._readableState.endEmitted = true;
}

/**
 * Stops reading where `push` has said before that it is enough, in vain: the stream of the socket may start a read of its
 * own behind a pause, and a second pause is not told of by itself.
 */
export function stopReading({ socket }: IncomingMessage): void {
  if (socket.isPaused()) socket.emit("pause");
}

/** Goes on reading, after `push` has said that it is enough. */
export function readOn(request: IncomingMessage): void {
  request._read(0);
}
