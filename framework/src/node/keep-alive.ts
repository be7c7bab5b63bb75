/** The end of connections that are kept alive and have nothing to do. @module */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { Connection, type Line } from "./connection.js";

/** The longest and the shortest time between two looks, in milliseconds. */
const MAX_INTERVAL_MS = 1000;
const MIN_INTERVAL_MS = 10;

/**
 * Looks at all connections once a second, in place of the two timers that `node:http` sets and clears for each request,
 * which took 4 % of the processor time of a small answer. A connection on which nothing has run and no byte has come for
 * this many milliseconds is closed at the next look; one that has not sent its first request has other limits.
 */
export function closeIdle(server: Server, connections: Iterable<Line>, keepAliveMs: number): void {
  if (keepAliveMs === 0) return;
  const interval = Math.min(MAX_INTERVAL_MS, Math.max(MIN_INTERVAL_MS, Math.ceil(keepAliveMs / 4)));
  const looks = Math.ceil(keepAliveMs / interval) + 1; // the first one does not know for how long it has been idle
  const timer = setInterval(() => {
    for (const connection of connections) {
      if (connection instanceof Connection && connection.looksWhileIdle() > looks) connection.close();
    }
  }, interval);
  timer.unref();
  server.on("close", () => clearInterval(timer));
}

/** Keeps `node:http` from its own timers on a socket. */
export function withoutTimers(socket: Socket): void {
  socket.setTimeout = ignoreTimeout;
}

function ignoreTimeout(this: Socket): Socket {
  return this;
}
