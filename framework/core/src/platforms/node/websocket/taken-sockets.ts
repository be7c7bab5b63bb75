/** The connections of handshakes, for an application that speaks for itself on them. @module */
import type { Socket } from "node:net";
import type { WebSocketScope } from "../../../protocol/asgi.js";
import { requestOf } from "../../../common/logger.js";
import type { Connection } from "../http1/connection.js";

/** A connection, and the bytes after its handshake. */
export interface TakenSocket {
  readonly socket: Socket;
  readonly rest: Buffer;
}

/** The connections of handshakes without a response, by their headers, which copies of a scope share. */
const pending = new WeakMap<object, Connection>();

export function offerSocket(scope: WebSocketScope, connection: Connection): void {
  pending.set(requestOf(scope), connection);
}

/** The handshake has its response. */
export function keepSocket(scope: WebSocketScope): void {
  pending.delete(requestOf(scope));
}

/** Takes the connection of a handshake away from its server; `null` on a server without one, such as HTTP/2. */
export function takeSocket(scope: WebSocketScope): TakenSocket | null {
  const connection = pending.get(requestOf(scope));
  if (connection === undefined || connection.socket.destroyed) return null;
  keepSocket(scope);
  return { socket: connection.socket, rest: connection.detach() };
}
