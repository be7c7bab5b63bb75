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
 * this many milliseconds is closed at the next look. Where a request may be on its way, that is left to the time-outs of
 * `node:http`, which answers; what stays behind them can only be the end of a body that nobody read.
 *
 * @param requestMs - Until when a request must be complete; 0 for no bound.
 */
export function closeIdle(server: Server, connections: Iterable<Line>, keepAliveMs: number, requestMs: number): void {
  if (keepAliveMs === 0) return;
  const interval = Math.min(MAX_INTERVAL_MS, Math.max(MIN_INTERVAL_MS, Math.ceil(keepAliveMs / 4)));
  const looks = (ms: number): number => Math.ceil(ms / interval) + 1; // the first does not know since when it is idle
  const idle = looks(keepAliveMs);
  const begun = requestMs === 0 ? Infinity : idle + looks(requestMs);
  const look = (): void => {
    for (const connection of connections) {
      if (connection instanceof Connection && connection.wasIdleFor(idle, begun)) connection.close();
    }
  };
  server.once("listening", () => {
    const timer = setInterval(look, interval).unref();
    server.once("close", () => clearInterval(timer));
  });
}

/** Keeps `node:http` from its own timers on a socket. */
export function withoutTimers(socket: Socket): void {
  socket.setTimeout = ignoreTimeout;
}

function ignoreTimeout(this: Socket): Socket {
  return this;
}
