import type { ServerObject } from "./types.js";

/** The addresses that a server with `{variables}` can have. */
function addressesOf({ url, variables = {} }: ServerObject): string[] {
  return Object.entries(variables).reduce(
    (addresses, [name, { enum: values = [], default: value }]) =>
      [...new Set([value, ...values])].flatMap((one) => addresses.map((text) => text.replaceAll(`{${name}}`, one))),
    [url],
  );
}

/** The origins of servers elsewhere, which "Try it out" and "Authorize" must be able to reach. */
function originsOf(servers: readonly ServerObject[]): string[] {
  return servers.flatMap(addressesOf).flatMap((url) => {
    const origin = /^https?:/.test(url) && URL.canParse(url) ? new URL(url).origin : null;
    // What follows a brace that no variable fills, or a character of the policy's own, is no origin.
    return origin !== null && /^[a-z0-9.:/[\]-]+$/i.test(origin) ? [origin] : [];
  });
}

/** What a page needs beside its own files. */
export interface PagePolicy {
  /** Further sources of styles. */
  readonly styles?: string;
  /** Sources of workers. */
  readonly workers?: string;
}

/**
 * What a page may load: its own files, and no script that stands in its markup, so that a title or a description that
 * got past an escape runs nothing.
 *
 * @see {@link https://www.w3.org/TR/CSP3/}
 */
export function contentSecurityPolicy({ styles, workers }: PagePolicy, servers: readonly ServerObject[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${["'self'", styles].filter(Boolean).join(" ")}`,
    ...(workers === undefined ? [] : [`worker-src ${workers}`]),
    "img-src 'self' data:",
    "font-src 'self' data:",
    `connect-src ${["'self'", ...new Set(originsOf(servers))].join(" ")}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join("; ");
}
