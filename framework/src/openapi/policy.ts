import type { ServerObject } from "./types.js";

/** The origins of servers elsewhere, which "Try it out" must be able to reach. */
function originsOf(servers: readonly ServerObject[]): string[] {
  return servers.flatMap(({ url }) => {
    const origin = /^https?:/.test(url) && URL.canParse(url) ? new URL(url).origin : null;
    return origin === null || origin === "null" ? [] : [origin];
  });
}

/**
 * What a page may load: its own files, and nothing that stands in its markup, so that a title or a description that
 * got past an escape runs nothing. Styles may stand in the markup, because both pages put theirs there.
 *
 * @see {@link https://www.w3.org/TR/CSP3/}
 */
export function contentSecurityPolicy(servers: readonly ServerObject[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self' data:",
    `connect-src ${["'self'", ...new Set(originsOf(servers))].join(" ")}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join("; ");
}
