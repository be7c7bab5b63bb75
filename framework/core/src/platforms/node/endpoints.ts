/** The two ends of a socket, for the scopes of its requests. @module */
import type { Socket } from "node:net";
import type { Address } from "../../protocol/asgi.js";
import type { Endpoints } from "../../protocol/scope.js";

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
