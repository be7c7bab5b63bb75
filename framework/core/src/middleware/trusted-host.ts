/** `trustedHost`: 400 for requests to unknown hosts. @module */
import type { Middleware } from "./chain.js";
import { configurationError } from "../common/exceptions.js";
import { compileHost, type HostTest } from "../protocol/http-grammar.js";
import { hostOf, onHTTP, refuse } from "./layer.js";
import { ANYTHING, assertOptions } from "../common/options.js";

/** Options of `trustedHost`. */
export interface TrustedHostOptions {
  /**
   * The allowed hosts: names (`"example.com"`), all subdomains (`"*.example.com"`, without `example.com` itself),
   * addresses (`"127.0.0.1"`, `"[::1]"`), each on any port unless one is specified (`"example.com:8443"`); `"*"` for
   * any valid host.
   */
  allowedHosts: readonly string[];
}

/**
 * Responds with 400 to requests for a host that is not listed, without a host, or with two. An application that builds
 * links from `Host` would otherwise use a host of an attacker.
 *
 * @throws ConfigurationError for an entry that is not a host.
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { trustedHost } from "tsgi/middleware";
 *
 * const app = new App();
 * app.addMiddleware(trustedHost({ allowedHosts: ["example.com", "*.example.com"] }));
 * ```
 */
export function trustedHost(options: TrustedHostOptions): Middleware {
  assertOptions("trustedHost()", options, { allowedHosts: ANYTHING });
  const { allowedHosts } = options;
  if (!Array.isArray(allowedHosts) || allowedHosts.length === 0) {
    throw configurationError("TSGI_INVALID_TRUSTED_HOST.none", allowedHosts);
  }
  const tests = allowedHosts.map(compileEntry);
  return onHTTP((app) => (scope, receive, send) => {
    const host = hostOf(scope);
    const defaultPort = scope.scheme === "https" ? 443 : 80;
    if (host !== null && tests.some((test) => test(host, defaultPort))) return app(scope, receive, send);
    return refuse(scope, send, { statusCode: 400, detail: "Invalid host header" });
  });
}

function compileEntry(entry: unknown): HostTest {
  const test = compileHost(entry);
  if (test === null) throw configurationError("TSGI_INVALID_TRUSTED_HOST.entry", entry);
  return test;
}
