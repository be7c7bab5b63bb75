/** `csrf`: 403 for changes that a page of another site requests. @module */
import type { HTTPScope } from "../protocol/asgi.js";
import { type Middleware, documented } from "./chain.js";
import { configurationError } from "../common/exceptions.js";
import { assertOptions, FLAG, LIST, type OptionRules } from "../common/options.js";
import { headerValues } from "../protocol/header-list.js";
import { isOrigin, parseHost } from "../protocol/http-grammar.js";
import { hostOf, onHTTP, refuse } from "./layer.js";

/** Options of `csrf`. */
export interface CSRFOptions {
  /** Other origins whose pages may request changes, as browsers send them: `"https://admin.example.com"`. Defaults to an empty list. */
  trustedOrigins?: readonly string[];
  /**
   * Accepts a request that has a cookie but neither `Sec-Fetch-Site` nor `Origin`, as programs send it. Old browsers send such
   * requests too, so set `SameSite` on the cookies. Defaults to `false`.
   */
  allowPrograms?: boolean;
}

const OPTIONS: OptionRules<CSRFOptions> = { trustedOrigins: LIST, allowPrograms: FLAG };

/** RFC 9110 §9.2.1: a request with such a method does not change anything. */
const SAFE = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

const REFUSAL = { statusCode: 403, detail: "Cross-site request refused" } as const;

/**
 * Rejects requests that change something and that the page of another site makes a browser send with the cookies of the
 * user: 403, without a token in forms. `GET`, `HEAD`, `OPTIONS` and `TRACE` are not checked.
 *
 * - With `Sec-Fetch-Site`, which current browsers send over https: `same-origin` and `none` pass, and trusted origins.
 * - Without it, an `Origin` passes if `Host` has the same host and port, or if it is trusted.
 * - A request with neither is not from a browser of the last years. It passes if it has no cookie, or with `allowPrograms`.
 *
 * @throws ConfigurationError for an entry of `trustedOrigins` that no browser sends, and for `"null"`.
 * @see {@link https://www.w3.org/TR/fetch-metadata/ | Fetch Metadata}; RFC 6454 §7, `Origin`
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { csrf } from "tsgi/middleware";
 *
 * const app = new App({ middleware: [csrf({ trustedOrigins: ["https://admin.example.com"] })] });
 * ```
 */
export function csrf(options: CSRFOptions = {}): Middleware {
  assertOptions("csrf()", options, OPTIONS);
  const trusted = new Set((options.trustedOrigins ?? []).map(assertEntry));
  const { allowPrograms = false } = options;
  const middleware = onHTTP((app) => (scope, receive, send) => {
    const isAllowed = SAFE.has(scope.method) || passes(scope, trusted, allowPrograms);
    return isAllowed ? app(scope, receive, send) : refuse(scope, send, REFUSAL);
  });
  return documented(middleware, {
    affects: (method) => !SAFE.has(method),
    refusals: { [REFUSAL.statusCode]: { description: REFUSAL.detail } },
  });
}

function passes(scope: HTTPScope, trusted: ReadonlySet<string>, allowPrograms: boolean): boolean {
  const headers = scope.headers ?? [];
  const sites = headerValues(headers, "sec-fetch-site");
  const origins = headerValues(headers, "origin");
  // Attack: of two lines, a proxy or a plugin may have added one. Neither is the browser's word then.
  if (sites.length > 1 || origins.length > 1) return false;
  const [site] = sites;
  const [origin] = origins;
  if (site === "same-origin" || site === "none") return true;
  if (origin !== undefined) return trusted.has(origin) || (site === undefined && isOwn(scope, origin));
  return site === undefined && (allowPrograms || headerValues(headers, "cookie").length === 0);
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443 };

/**
 * Compares host and port. Only a proxy may know the scheme of the request, so if `Host` has no port, it is the default one of
 * the origin's scheme.
 */
function isOwn(scope: HTTPScope, origin: string): boolean {
  const [, scheme = "", authority = ""] = /^(https?):\/\/(.+)$/i.exec(origin) ?? [];
  const defaultPort = DEFAULT_PORTS[scheme.toLowerCase()];
  const given = parseHost(authority);
  const own = hostOf(scope);
  if (own === null || given === null || defaultPort === undefined) return false;
  return own.name === given.name && (own.port ?? defaultPort) === (given.port ?? defaultPort);
}

/** Throws for an entry that would never match, and for one that matches every page. */
function assertEntry(entry: unknown): string {
  if (entry === "null") throw configurationError("TSGI_INVALID_TRUSTED_ORIGIN.null");
  if (isOrigin(entry)) return entry;
  throw configurationError("TSGI_INVALID_TRUSTED_ORIGIN.form", entry);
}
