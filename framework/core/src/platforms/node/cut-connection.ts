/** The end of a connection that its peer sees as a failure. @module */
import type { Socket } from "node:net";

/**
 * Closes a connection so that its client sees that the last response is not whole, even if the end of the connection would
 * be the end of the body: over TCP by a reset; over TLS without `close_notify` (RFC 8446 §6.1). A Unix socket has only an end.
 */
export function cutConnection(socket: Socket): void {
  const isTCP = socket.remoteAddress !== undefined && !("encrypted" in socket);
  if (isTCP) socket.resetAndDestroy();
  else socket.destroy();
}
