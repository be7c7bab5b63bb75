/** `securityHeaders`: headers that restrict what browsers do with a response. @module */
import type { Middleware } from "./chain.js";
import { configurationError } from "../common/exceptions.js";
import { messageOfError } from "../common/messages.js";
import { ResponseHeaders } from "../http/response/headers.js";
import { changingHeaders, onHTTP } from "./layer.js";
import { ANYTHING, assertOptions, expecting, FLAG, oneOf, type OptionRules, whole } from "../common/options.js";

/** Options of `securityHeaders`. `false` leaves a header out. */
export interface SecurityHeadersOptions {
  /** `X-Frame-Options`: no framing, or by pages of the same origin. Defaults to `"DENY"`. */
  frameOptions?: "DENY" | "SAMEORIGIN" | false;
  /** `Content-Security-Policy`. Defaults to the `frame-ancestors` that `frameOptions` stands for. */
  contentSecurityPolicy?: string | false;
  /** `Referrer-Policy`. Defaults to `"strict-origin-when-cross-origin"`. */
  referrerPolicy?: string | false;
  /** `Strict-Transport-Security`, sent over https only; `maxAge` in seconds. Defaults to a year for this host. */
  strictTransportSecurity?: { maxAge?: number; includeSubDomains?: boolean; preload?: boolean } | false;
  /** `Cross-Origin-Opener-Policy`. Defaults to `false`. */
  crossOriginOpenerPolicy?: string | false;
  /** `Permissions-Policy`. Defaults to `false`. */
  permissionsPolicy?: string | false;
}

const TEXT_OR_FALSE = expecting("a string or false", (value) => value === false || typeof value === "string");

const OPTIONS: OptionRules<SecurityHeadersOptions> = {
  frameOptions: oneOf("DENY", "SAMEORIGIN", false),
  contentSecurityPolicy: TEXT_OR_FALSE,
  referrerPolicy: TEXT_OR_FALSE,
  strictTransportSecurity: ANYTHING,
  crossOriginOpenerPolicy: TEXT_OR_FALSE,
  permissionsPolicy: TEXT_OR_FALSE,
};

const TRANSPORT_OPTIONS = { maxAge: whole(0), includeSubDomains: FLAG, preload: FLAG };

const YEAR = 31_536_000;

/** RFC 6797 §14.4 and the lists that browsers ship: less than a year, or without the subdomains, is not taken up. */
const MIN_PRELOAD = YEAR;

/**
 * Adds headers that make browsers strict. A header of the application is not overridden, so that a page, such as the
 * documentation, can have a different policy.
 *
 * @throws ConfigurationError for a value that could not work.
 * @see {@link https://owasp.org/www-project-secure-headers/ | OWASP Secure Headers}
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { securityHeaders } from "tsgi/middleware";
 *
 * const app = new App({ middleware: [securityHeaders({ contentSecurityPolicy: "default-src 'self'" })] });
 * ```
 */
export function securityHeaders(options: SecurityHeadersOptions = {}): Middleware {
  assertOptions("securityHeaders()", options, OPTIONS);
  const always = compile(options);
  const transport = compileTransport(options.strictTransportSecurity ?? {});
  return onHTTP((app) => (scope, receive, send) => {
    // RFC 6797 §7.2: over http anyone on the way could have written it, and browsers pay no attention.
    const added = transport !== null && scope.scheme === "https" ? [...always, transport] : always;
    const add = (headers: ResponseHeaders) => {
      for (const [name, value] of added) if (!headers.has(name)) headers.append(name, value);
    };
    return app(scope, receive, changingHeaders(send, add));
  });
}

type Pair = readonly [name: string, value: string];

function compile(options: SecurityHeadersOptions): readonly Pair[] {
  const { frameOptions = "DENY", referrerPolicy = "strict-origin-when-cross-origin" } = options;
  const ancestors = frameOptions === "DENY" ? "frame-ancestors 'none'" : "frame-ancestors 'self'";
  const { contentSecurityPolicy = frameOptions === false ? false : ancestors } = options;
  const given: readonly (readonly [name: string, value: string | false | undefined])[] = [
    ["x-content-type-options", "nosniff"],
    ["x-frame-options", frameOptions],
    ["content-security-policy", contentSecurityPolicy],
    ["referrer-policy", referrerPolicy],
    ["cross-origin-opener-policy", options.crossOriginOpenerPolicy],
    ["permissions-policy", options.permissionsPolicy],
  ];
  const pairs = given.flatMap(([name, value]) => (value ? [[name, value] as const] : []));
  try {
    return [...new ResponseHeaders(pairs)];
  } catch (error) {
    throw configurationError("TSGI_INVALID_HEADER_VALUE", messageOfError(error));
  }
}

function compileTransport(options: (SecurityHeadersOptions["strictTransportSecurity"] & object) | false): Pair | null {
  if (options === false) return null;
  assertOptions("securityHeaders(): strictTransportSecurity", options, TRANSPORT_OPTIONS);
  const { maxAge = YEAR, includeSubDomains = false, preload = false } = options;
  if (preload && (!includeSubDomains || maxAge < MIN_PRELOAD)) {
    throw configurationError("TSGI_INVALID_HSTS_PRELOAD", { maxAge, includeSubDomains });
  }
  const directives = [`max-age=${maxAge}`, includeSubDomains ? "includeSubDomains" : "", preload ? "preload" : ""];
  return ["strict-transport-security", directives.filter((text) => text !== "").join("; ")];
}
