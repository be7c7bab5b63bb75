/**
 * Middleware.
 *
 * These errors are thrown when you create the middleware. See [middleware.md](middleware.md).
 * @module
 */
import { describe } from "../messages.js";

export const MIDDLEWARE = {
  /**
   * `cors()` allows credentials together with `"*"`, which is unsafe or has no effect.
   *
   * With `"*"` in `allowOrigins`, every page on the web could act as the user who visits it. If credentials are
   * allowed, browsers treat `"*"` in `exposeHeaders` as the name of a header.
   *
   * ```js
   * // Wrong
   * cors({ allowOrigins: "*", allowCredentials: true });
   *
   * // Right
   * cors({ allowOrigins: ["https://example.com"], allowCredentials: true });
   * ```
   */
  "TSGI_CORS_CREDENTIALS_FOR_ALL.origins":
    `cors(): allowCredentials with allowOrigins "*" would let every page on the web act as its visitor. List ` +
    `the origins: allowOrigins: ["https://example.com"].`,
  "TSGI_CORS_CREDENTIALS_FOR_ALL.headers": `cors(): with allowCredentials, browsers treat exposeHeaders "*" as the name of a header. List the headers.`,
  /**
   * A list of `cors` contains `"*"` and other names. `"*"` is every name, including `Authorization`.
   *
   * ```js
   * // Wrong
   * cors({ allowOrigins: "*", allowHeaders: ["Authorization", "*"] });
   *
   * // Right
   * cors({ allowOrigins: "*", allowHeaders: "*" });
   * ```
   */
  TSGI_CORS_STAR_IN_LIST: (option: string) =>
    `cors(): "*" in ${option} makes the other names pointless. Write ${option}: "*", or list names only.`,
  /**
   * An entry of `allowOrigins` does not match the origin that browsers send, or it allows more origins than it seems
   * to.
   *
   * ```js
   * // Wrong
   * cors({ allowOrigins: ["https://example.com/"] });
   *
   * // Right
   * cors({ allowOrigins: ["https://example.com", /https:\/\/[a-z0-9-]+\.example\.com/] });
   * ```
   */
  "TSGI_INVALID_CORS_ORIGIN.all": `cors(): "*" in allowOrigins makes the other origins pointless. Leave one or the other.`,
  "TSGI_INVALID_CORS_ORIGIN.null":
    `cors(): any page can have the origin "null", in a sandboxed frame. Remove it from allowOrigins, ` +
    "and serve the calling page from its own origin.",
  "TSGI_INVALID_CORS_ORIGIN.form": (entry: unknown) =>
    `cors(): ${JSON.stringify(entry)} in allowOrigins is not an origin that browsers send. Write scheme and host in ` +
    `lower case, the port only if it is not the default, and no path: "https://example.com". For many hosts ` +
    "write an expression: /https:\\/\\/[a-z0-9-]+\\.example\\.com/.",
  /**
   * A value of `securityHeaders()` is not valid in a header.
   *
   * The message shows the value and the reason. A header value cannot contain line breaks or characters above U+00FF.
   *
   * ```js
   * // Wrong
   * securityHeaders({ contentSecurityPolicy: "default-src 'self';\n img-src *" });
   *
   * // Right
   * securityHeaders({ contentSecurityPolicy: "default-src 'self'; img-src *" });
   * ```
   */
  TSGI_INVALID_HEADER_VALUE: (reason: string) => `securityHeaders(): ${reason}`,
  /**
   * `preload` of `securityHeaders()` is set, but the other options do not meet the requirements of [the browsers'
   * list](https://hstspreload.org).
   *
   * ```js
   * // Wrong
   * securityHeaders({ strictTransportSecurity: { preload: true } });
   *
   * // Right
   * securityHeaders({
   *   strictTransportSecurity: {
   *     maxAge: 63_072_000,
   *     includeSubDomains: true,
   *     preload: true,
   *   },
   * });
   * ```
   */
  TSGI_INVALID_HSTS_PRELOAD: (given: object) =>
    "securityHeaders(): preload needs includeSubDomains and a maxAge of a year or more. Received " +
    `${JSON.stringify(given)}. Write strictTransportSecurity: { maxAge: 63072000, includeSubDomains: true, ` +
    "preload: true }.",
  /**
   * The name or an attribute of the cookie of `sessions()` is not valid, or browsers would reject the cookie.
   *
   * ```js
   * // Wrong
   * sessions({ secret: "0".repeat(32), sameSite: "none", secure: false });
   *
   * // Right
   * sessions({ secret: "0".repeat(32), sameSite: "lax", secure: false, cookie: "session" });
   * ```
   */
  "TSGI_INVALID_SESSION_COOKIE.secure": `sessions(): browsers reject sameSite "none" without secure. Write secure: true, or sameSite: "lax".`,
  /** @remarks The name or an attribute is not valid in a cookie. The message shows which one. */
  "TSGI_INVALID_SESSION_COOKIE.form": (reason: string) => `sessions(): ${reason}`,
  /**
   * The list of hosts in `trustedHost()` or in `allowedHosts` of `serve` is missing, or an entry is not a host.
   *
   * ```js
   * // Wrong
   * trustedHost({ allowedHosts: ["https://example.com/"] });
   *
   * // Right
   * trustedHost({ allowedHosts: ["example.com", "*.example.com"] });
   * ```
   */
  "TSGI_INVALID_TRUSTED_HOST.none": (given: unknown) =>
    `trustedHost() needs allowedHosts: ["example.com", "*.example.com"]. Received ` +
    `${Array.isArray(given) ? "an empty list" : describe(given)}.`,
  "TSGI_INVALID_TRUSTED_HOST.entry": (entry: unknown) =>
    `trustedHost(): ${JSON.stringify(entry)} in allowedHosts is not a host. Write it without scheme and path: ` +
    `"example.com", "*.example.com", "127.0.0.1:8000", "[::1]".`,
  "TSGI_INVALID_TRUSTED_HOST.server": (entry: unknown) =>
    `serve(): ${JSON.stringify(entry)} in allowedHosts is not a host. Write it without scheme and path: ` +
    `"example.com", "*.example.com", "127.0.0.1:8000", "[::1]".`,
  /**
   * An entry of `trustedOrigins` of `csrf()` does not match the origin that browsers send, or it matches every page.
   *
   * ```js
   * // Wrong
   * csrf({ trustedOrigins: ["https://admin.example.com/"] });
   *
   * // Right
   * csrf({ trustedOrigins: ["https://admin.example.com"] });
   * ```
   */
  "TSGI_INVALID_TRUSTED_ORIGIN.null":
    `csrf(): every page can have the origin "null", in a sandboxed frame. Remove it from trustedOrigins, and serve the ` +
    "page from a separate origin.",
  "TSGI_INVALID_TRUSTED_ORIGIN.form": (entry: unknown) =>
    `csrf(): ${JSON.stringify(entry)} in trustedOrigins is not an origin that a browser sends. Write scheme and host in ` +
    `lower case, the port only if it is not the default, and no path: "https://admin.example.com".`,
  /**
   * `cors()` does not specify the allowed origins.
   *
   * ```js
   * // Wrong
   * cors({});
   *
   * // Right
   * cors({ allowOrigins: ["https://example.com"] });
   * ```
   */
  TSGI_MISSING_CORS_ORIGINS: (given: unknown) =>
    `cors() needs allowOrigins: ["https://example.com"], or "*" for every page on the web. Received ` +
    `${describe(given)}.`,
  /**
   * You called `sessionOf`, `renewSession` or `clearSession`, but the handler is not inside the middleware `sessions()`.
   *
   * ```js
   * // Right
   * app.addMiddleware(sessions({ secret: "0".repeat(32) }));
   * ```
   */
  TSGI_MISSING_SESSION: "This request has no session. Add the middleware: app.addMiddleware(sessions({ secret })).",
  /**
   * You called `clearSession` or `renewSession` after the response had started: after the first item of a stream, or in a
   * background task. The headers with the cookie have been sent, so the call would have no effect.
   *
   * ```js
   * // Right
   * app.post("/logout", { params: { request: Request } }, async ({ request }) => {
   *   clearSession(request);
   * });
   * ```
   */
  "TSGI_SESSION_ALREADY_SENT.response": (caller: string) =>
    `${caller}() was called after the response had started, so it cannot change the cookie. Call it in the handler, before ` +
    "the first item of a stream.",
  /** @remarks A WebSocket can read its session, but not change it. */
  "TSGI_SESSION_ALREADY_SENT.websocket": (caller: string) =>
    `${caller}() was called for a WebSocket, which can only read its session. Call it in an HTTP request.`,
  /**
   * The secret of `sessions()` is missing, or is so short that an attacker could guess it. You need no secret if you
   * set `store`.
   *
   * Read the secret from the environment, and do not write it into the source code. If you want to change the secret,
   * pass an array: the first secret signs new sessions.
   *
   * ```js
   * // Wrong
   * sessions({ secret: "secret" });
   *
   * // Right
   * sessions({
   *   secret: process.env.SESSION_SECRET ?? "only for development, 32 bytes and more",
   * });
   * ```
   */
  TSGI_WEAK_SESSION_SECRET: (bytes: number) =>
    `sessions() needs a secret of at least ${bytes} bytes, for example from \`openssl rand -hex 32\`, or a ` +
    "store. The given secret is missing or shorter.",
};
