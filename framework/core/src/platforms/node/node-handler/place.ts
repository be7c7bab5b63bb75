/** The place of an application in another server: the prefix that the server has removed from the path. @module */
import type { IncomingMessage } from "node:http";
import { encodeLatin1 } from "../../../protocol/bytes.js";
import { canonicalPath, isBelow, localPath } from "../../../protocol/scope.js";

/** A request that a host passes on. */
export interface HostedRequest extends IncomingMessage {
  /** The target before the host removed a prefix from `url`: Express, Connect, `@fastify/middie` and Vite set it. */
  originalUrl?: unknown;
  /** The body, if a parser of the host has read it. */
  body?: unknown;
}

/** A target, and the part of its path below which the application is. */
export interface HostedPlace {
  readonly target: string;
  /** In canonical form; `""` for the whole path. */
  readonly rootPath: string;
}

/** The parts of a target: RFC 9112 §3.2.2 allows a scheme and an authority before the path. */
const TARGET = /^((?:https?:\/\/[^/?]*)?)([^?]*)(.*)$/is;

function partsOf(target: string): readonly [origin: string, path: string, query: string] {
  const [, origin = "", path = "", query = ""] = TARGET.exec(target) ?? [];
  return [origin, path, query];
}

/** The canonical form of a prefix, without a slash at its end. `null` for bytes that are not UTF-8. */
export function canonicalPrefix(prefix: string): string | null {
  const path = canonicalPath(prefix, encodeLatin1(prefix));
  return path === "/" ? "" : path;
}

/**
 * Compares the target with the rest of it, which the host has set as `url`.
 *
 * @param prefix - Canonical. Used for a host that does not show what it has removed.
 * @returns `null` for a path that is not below the prefix. Attack: `/where` passes a guard that the host has on `/api`.
 */
export function hostedPlaceOf({ url = "", originalUrl }: HostedRequest, prefix: string): HostedPlace | null {
  if (typeof originalUrl === "string") {
    return originalUrl === url ? { target: url, rootPath: "" } : placeBelow(originalUrl, url);
  }
  if (prefix === "") return { target: url, rootPath: "" };
  const [, path] = partsOf(url);
  return isBelow(canonicalPrefix(path) ?? "", prefix) ? { target: url, rootPath: prefix } : null;
}

/** If the original path does not end in the rest, the host has rewritten the path, and removed no prefix. */
function placeBelow(originalUrl: string, url: string): HostedPlace {
  const [origin, whole] = partsOf(originalUrl);
  const [, path, query] = partsOf(url);
  const rest = whole.endsWith(path) ? path : path.slice(1); // "/api?x" is "/?x" below "/api": the host has added the slash
  const isCut = whole.endsWith(rest) && (rest === "" || rest.startsWith("/"));
  if (!isCut) return { target: url, rootPath: "" };
  const prefix = canonicalPrefix(whole.slice(0, whole.length - rest.length));
  return { target: `${origin}${whole}${query}`, rootPath: prefix ?? "" };
}

/** The path below the prefix, as the application looks it up; `null` for bytes that are not UTF-8. */
export function pathBelow({ target, rootPath }: HostedPlace, type: "http" | "websocket"): string | null {
  const [, whole] = partsOf(target);
  const path = canonicalPath(whole, encodeLatin1(whole), { exact: type === "websocket" });
  return path === null ? null : localPath({ path, root_path: rootPath });
}
