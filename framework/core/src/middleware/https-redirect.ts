/** `httpsRedirect`: redirects from http to https. @module */
import type { HTTPScope } from "../protocol/asgi.js";
import type { Middleware } from "./chain.js";
import { headerValues } from "../protocol/header-list.js";
import { canonicalPath, encodePath, isBelow, rootPathOf, sentPath, sentQuery } from "../protocol/scope.js";
import { Response } from "../http/response/response.js";
import { type Host, parseHost } from "../protocol/http-grammar.js";
import { hostOf, onHTTP, refuse } from "./layer.js";
import { assertOptions, oneOf, type OptionRules, whole } from "../common/options.js";

/** Options of `httpsRedirect`. */
export interface HTTPSRedirectOptions {
  /** 307, or 308 for one that browsers remember. Both keep method and body. Defaults to 307. */
  statusCode?: 307 | 308;
  /** The port of https. Defaults to the port of the request, and to 443 if that is 80 or omitted. */
  port?: number;
}

const OPTIONS: OptionRules<HTTPSRedirectOptions> = { statusCode: oneOf(307, 308), port: whole(1, 65_535) };

/**
 * Sends http to https: the same host, path and query, as they were sent. An invalid `Host` results in 400; without one,
 * the redirect uses the server's own address, if the server provides it.
 *
 * The scheme is taken from the scope. Behind a proxy that ends TLS list it in `trustedProxies` of the server, or the
 * redirect is endless; `X-Forwarded-Proto` is not read here.
 *
 * @throws ConfigurationError for a status or a port that could not work.
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { httpsRedirect } from "tsgi/middleware";
 *
 * const app = new App();
 * app.addMiddleware(httpsRedirect());
 * ```
 */
export function httpsRedirect(options: HTTPSRedirectOptions = {}): Middleware {
  assertOptions("httpsRedirect()", options, OPTIONS);
  const { statusCode = 307, port } = options;
  return onHTTP((app) => async (scope, receive, send) => {
    if (scope.scheme === "https") return app(scope, receive, send);
    const host = hostOf(scope) ?? ownHost(scope);
    if (host === null) return refuse(scope, send, { statusCode: 400, detail: "Invalid host header" });
    const location = `https://${host.name}${portOf(host, port)}${targetOf(scope)}`;
    await new Response(null, { statusCode, headers: { location } }).send(send);
  });
}

/** The server's own address, for a request of HTTP/1.0 without `Host`; `null` if the server does not provide it. */
function ownHost({ headers, server }: HTTPScope): Host | null {
  if (!server || headerValues(headers ?? [], "host").length > 0) return null;
  const [address, port] = server;
  return port === null ? null : parseHost(`${address.includes(":") ? `[${address}]` : address}:${port}`);
}

function portOf(host: Host, port: number | undefined): string {
  const used = port ?? (host.port === 80 ? null : host.port);
  return used === null || used === 443 ? "" : `:${used}`;
}

/** Path and query as they were sent, with the prefix that a proxy took away. */
function targetOf(scope: HTTPScope): string {
  const target = escape(encodePath(removedPrefix(scope)) + sentPath(scope) + sentQuery(scope));
  return target.startsWith("/") ? target : `/${target}`;
}

/** In a mounted App, `path` begins with the prefix that a proxy took away; otherwise, only `root_path` contains it. */
function removedPrefix(scope: HTTPScope): string {
  const { path, raw_path: raw } = scope;
  const root = rootPathOf(scope);
  if (!isBelow(path, root)) return root;
  const sent = raw === undefined ? path : (canonicalPath(path, raw) ?? path);
  const prefix = path.endsWith(sent) ? path.slice(0, -sent.length) : "";
  return isBelow(root, prefix) ? prefix : "";
}

/** Percent-encodes bytes that are not valid in a URI; CR and LF would end the header. */
function escape(target: string): string {
  return target.replaceAll(
    /[^\u0021-\u007e]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, "0").toUpperCase()}`,
  );
}
