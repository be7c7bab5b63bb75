/** The settings that all connections of a server share, and its clock. @module */
import type { ServerContext } from "../../protocol/server-context.js";
import type { RequestLimits } from "./header-section.js";
import type { Socket } from "node:net";
import type { Address } from "../../protocol/asgi.js";
import type { Endpoints } from "../../protocol/scope.js";

/** Timeouts of a server, in milliseconds; 0 waits indefinitely. */
export interface Timeouts {
  /** Until the head of a request must be complete (408). Defaults to 20,000. */
  headersMs: number;
  /** Until a whole request must be complete, body included (408). Defaults to 300,000. */
  requestMs: number;
  /** Time for which a connection without a request is kept. Defaults to 65,000. */
  keepAliveMs: number;
  /**
   * Between two pings of a WebSocket; a client that has not replied to one by the next is disconnected. Defaults to
   * 20,000.
   */
  webSocketPingMs: number;
}

/** The properties of a server that its connections share. */
export interface ServerSettings {
  readonly context: ServerContext;
  readonly limits: RequestLimits;
  readonly timeouts: Timeouts;
  /** Milliseconds between two checks of a connection's time. */
  readonly checkIntervalMs: number;
  /** Milliseconds as of the last check, from an arbitrary point in time. */
  now: number;
  /** Bytes that wait for the clients that the current check has visited. */
  waitingBytes: number;
  /** `true` if too many bytes waited at the last check. */
  isCrowded: boolean;
}

/** Tells if a timeout has passed, in a whole number of checks. */
export function isLate({ now, checkIntervalMs }: ServerSettings, since: number, timeoutMs: number): boolean {
  return timeoutMs > 0 && now - since >= timeoutMs + checkIntervalMs;
}

/** @param path - The Unix socket that the server listens on, if it does. */
export function socketEndpoints(socket: Socket, path: string | null): Endpoints {
  const { remoteAddress, remotePort, localAddress, localPort } = socket;
  return {
    encrypted: "encrypted" in socket && socket.encrypted === true,
    client: toAddress(remoteAddress, remotePort),
    server: path === null ? toAddress(localAddress, localPort) : [path, null],
  };
}

function toAddress(host: string | undefined, port: number | undefined): Address | null {
  return host === undefined || port === undefined ? null : [host, port];
}
