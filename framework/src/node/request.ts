/** The scope of an HTTP request. @module */
import type { HTTPScope } from "../asgi.js";
import { HeaderList } from "../datastructures.js";
import type { Connection } from "./connection.js";
import type { RequestHead } from "./request-head.js";
import type { Service } from "./service.js";

const EMPTY = Buffer.alloc(0);
const ASGI = Object.freeze({ version: "3.0", spec_version: "2.4" });

/** What a scope takes from the request besides its head. */
export interface ScopedRequest {
  readonly method?: string;
  readonly httpVersion: string;
  /** What an Express application adds to a request that it hands on under a prefix. */
  readonly baseUrl?: string;
}

/** Creates the scope of a request. The lifespan's `state` is the service's own; the scope gets a shallow copy. */
export function createScope(
  req: ScopedRequest,
  head: RequestHead,
  connection: Pick<Connection, "encrypted" | "client" | "server">,
  service: Pick<Service, "state" | "proxies">,
): HTTPScope {
  const { target } = head;
  const mark = target.indexOf("?");
  const rawPath = mark === -1 ? target : target.slice(0, mark);
  const scope: HTTPScope = {
    type: "http",
    asgi: ASGI,
    http_version: req.httpVersion,
    method: req.method ?? "GET",
    scheme: connection.encrypted ? "https" : "http",
    path: rawPath,
    query_string: mark === -1 ? EMPTY : Buffer.from(target.slice(mark + 1), "latin1"),
    root_path: req.baseUrl ?? "",
    headers: new HeaderList(head.headers),
    client: connection.client,
    server: connection.server,
    state: { ...service.state },
    extensions: {},
  };
  if (rawPath.includes("%")) {
    scope.raw_path = Buffer.from(rawPath, "latin1");
    scope.path = decodePath(rawPath);
  }
  service.proxies?.apply(scope, head.headers);
  return scope;
}

/**
 * Percent-decodes a path. What is not UTF-8 becomes U+FFFD, as text has no other way to say it; whoever must tell the
 * difference looks at `raw_path`.
 */
function decodePath(rawPath: string): string {
  try {
    return decodeURIComponent(rawPath);
  } catch {
    const bytes = rawPath.replaceAll(/%(..)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    return Buffer.from(bytes, "latin1").toString("utf8");
  }
}
