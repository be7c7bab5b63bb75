/** The scope of an HTTP request. @module */
import type { Socket } from "node:net";
import type { Address, HTTPScope } from "../asgi.js";
import { HeaderList } from "../datastructures.js";
import type { ServerContext } from "./context.js";

const EMPTY = Buffer.alloc(0);
const ASGI = Object.freeze({ version: "3.0", spec_version: "2.4" });

/** The two ends of a connection. */
export interface Endpoints {
  readonly encrypted: boolean;
  readonly client: Address | null;
  readonly server: Address | null;
}

/** @param path - The Unix socket that the server listens on, if it does. */
export function endpointsOf(socket: Socket, path: string | null): Endpoints {
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

/**
 * Creates the scope of a request.
 *
 * @param target - Path and query, in origin form.
 * @param headers - `[name, value, …]` as they came.
 */
export function createScope(
  method: string,
  httpVersion: string,
  target: string,
  headers: readonly string[],
  { encrypted, client, server }: Endpoints,
  { state, proxies }: Pick<ServerContext, "state" | "proxies">,
): HTTPScope {
  const mark = target.indexOf("?");
  const rawPath = mark === -1 ? target : target.slice(0, mark);
  const scope: HTTPScope = {
    type: "http",
    asgi: ASGI,
    http_version: httpVersion,
    method,
    scheme: encrypted ? "https" : "http",
    path: rawPath,
    query_string: mark === -1 ? EMPTY : Buffer.from(target.slice(mark + 1), "latin1"),
    root_path: "",
    headers: new HeaderList(headers),
    client,
    server,
    state: { ...state },
    extensions: {},
  };
  if (rawPath.includes("%")) {
    scope.raw_path = Buffer.from(rawPath, "latin1");
    scope.path = decodePath(rawPath);
  }
  proxies?.apply(scope, headers);
  return scope;
}

/**
 * Percent-decodes a path. Bytes that are not UTF-8 become U+FFFD, as text has no other way to say it; `raw_path` tells
 * the difference.
 */
function decodePath(rawPath: string): string {
  try {
    return decodeURIComponent(rawPath);
  } catch {
    const bytes = rawPath.replaceAll(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    return Buffer.from(bytes, "latin1").toString("utf8");
  }
}
