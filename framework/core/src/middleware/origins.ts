/** Origins that a rule allows, for CORS and WebSocket handshakes. @module */
import { configurationError } from "../common/exceptions.js";
import { parseHost } from "../protocol/http-grammar.js";

/** Decides on an origin as a browser sends it. */
type OriginTest = (origin: string) => boolean | Promise<boolean>;

/** One origin, or an expression that matches a whole one. */
type OriginEntry = string | RegExp;

/** A rule for origins: every page (`"*"`), those listed, those that match, those that a function lets in. */
export type OriginRule = OriginEntry | readonly OriginEntry[] | OriginTest;

/** Longer than any scheme, host and port. Attack: a longer text would cost the time of an expression. */
const MAX_LENGTH = 300;

/**
 * Makes a test of a rule; `null` for every page.
 *
 * @throws ConfigurationError for an entry that no browser sends, or that is more than it seems.
 */
export function compileOrigins(rule: OriginRule): OriginTest | null {
  if (typeof rule === "function") return (origin) => origin.length <= MAX_LENGTH && rule(origin);
  const entries: unknown = typeof rule === "string" || rule instanceof RegExp ? [rule] : rule;
  if (!Array.isArray(entries)) throw configurationError("TSGI_MISSING_CORS_ORIGINS", rule);
  if (entries.includes("*")) {
    if (entries.length === 1) return null;
    throw configurationError("TSGI_INVALID_CORS_ORIGIN.all");
  }
  const origins = new Set<string>();
  const expressions: RegExp[] = [];
  for (const entry of entries as readonly unknown[]) {
    if (entry instanceof RegExp) expressions.push(whole(entry));
    else origins.add(assertOrigin(entry));
  }
  return (origin) =>
    origins.has(origin) || (origin.length <= MAX_LENGTH && expressions.some((expression) => expression.test(origin)));
}

/** `/https:\/\/example\.com/` would let in `https://example.com.evil.net`: it has to match from end to end. */
function whole({ source, flags }: RegExp): RegExp {
  return new RegExp(`^(?:${source})$`, flags.replace(/[gmy]/g, ""));
}

/** @throws ConfigurationError for what a browser would never send as `Origin`. */
function assertOrigin(entry: unknown): string {
  if (entry === "null") throw configurationError("TSGI_INVALID_CORS_ORIGIN.null");
  const match = typeof entry === "string" ? /^([a-z][a-z0-9+.-]*):\/\/(.*)$/.exec(entry) : null;
  const isWeb = match !== null && /^https?$/.test(match[1] as string);
  const isHost = match !== null && parseHost(match[2] as string) !== null;
  if (!isHost || (isWeb && (!URL.canParse(match[0]) || new URL(match[0]).origin !== match[0]))) {
    throw configurationError("TSGI_INVALID_CORS_ORIGIN.form", entry);
  }
  return match[0];
}
