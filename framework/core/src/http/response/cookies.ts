/** The `Set-Cookie` header, RFC 6265. @module */
import { isToken } from "../../protocol/http-grammar.js";

/** The attributes of a cookie, RFC 6265 §4.1.2. */
export interface CookieOptions {
  /** Seconds until it ends; 0 ends it at once. Without it the cookie ends with the browser's session. */
  maxAge?: number;
  /** When it ends. `maxAge` wins where both are given. */
  expires?: Date;
  /** The paths to which it is sent. Defaults to `"/"`. */
  path?: string;
  /** The host and its subdomains to which it is sent. Without it only the host that set it. */
  domain?: string;
  /** Sent over https only. Defaults to `false`. */
  secure?: boolean;
  /** Hidden from scripts. Defaults to `false`. */
  httpOnly?: boolean;
  /** Restricts requests of other sites that carry it. Defaults to `"lax"`. */
  sameSite?: "strict" | "lax" | "none";
  /** Kept apart for each top-level site (CHIPS). Needs `secure`. Defaults to `false`. */
  partitioned?: boolean;
}

/** An attribute's value ends at `;`, and a control character would end the header. */
const ATTRIBUTE = /^[\u0020-\u003a\u003c-\u007e]*$/;

function attribute(name: string, value: string): string {
  if (!ATTRIBUTE.test(value)) {
    throw new TypeError(
      `The cookie attribute ${name} has a character that is not allowed there: ${JSON.stringify(value)}.`,
    );
  }
  return `; ${name}=${value}`;
}

function siteOf(sameSite: string): string {
  const site = ["Strict", "Lax", "None"].find((name) => name.toLowerCase() === sameSite.toLowerCase());
  if (site !== undefined) return site;
  throw new TypeError(`The cookie's sameSite should be "strict", "lax" or "none", not ${JSON.stringify(sameSite)}.`);
}

/**
 * Refuses cookies that browsers discard silently.
 *
 * @see RFC 6265bis §4.1.3 for the prefixes, §5.7 for `SameSite=None`, and CHIPS §2.1 for `Partitioned`.
 */
function assertKept(name: string, { secure, path = "/", domain, sameSite, partitioned }: CookieOptions): void {
  const isHost = /^__host-/i.test(name);
  const reason =
    isHost || /^__secure-/i.test(name)
      ? "its prefix asks for it"
      : sameSite?.toLowerCase() === "none"
        ? '`sameSite: "none"` asks for it'
        : partitioned
          ? "`partitioned` asks for it"
          : null;
  if (reason !== null && !secure) throw new TypeError(`The cookie ${name} needs \`secure: true\`: ${reason}.`);
  if (isHost && (path !== "/" || domain !== undefined)) {
    throw new TypeError(`The cookie ${name} takes no domain, and no path but "/": its prefix asks for it.`);
  }
}

/** Days that `Expires` can name, RFC 9110 §5.6.7: years of four digits. */
function expiry(date: Date): string {
  const year = date.getUTCFullYear();
  if (!(year >= 0 && year <= 9999)) throw new TypeError("The cookie's `expires` should be a valid Date.");
  return date.toUTCString();
}

/**
 * The value of a `Set-Cookie` header. The cookie's value is percent-encoded if necessary.
 *
 * @throws TypeError when a name or an attribute has a character that is not allowed there, a number or date is invalid, or
 * browsers would discard the cookie.
 */
export function serializeCookie(name: string, value: string, options: CookieOptions = {}): string {
  // RFC 6265 §4.1.1: a `cookie-name` is a token.
  if (!isToken(name)) throw new TypeError(`The cookie name ${JSON.stringify(name)} is not a token (RFC 9110 §5.6.2).`);
  const { maxAge, expires, path = "/", domain, sameSite = "lax" } = options;
  assertKept(name, options);
  const site = siteOf(sameSite);
  let cookie = `${name}=${encodeURIComponent(value.toWellFormed())}`;
  if (maxAge !== undefined) {
    if (!Number.isSafeInteger(maxAge))
      throw new TypeError(`The cookie's maxAge should be whole seconds, not ${maxAge}.`);
    cookie += `; Max-Age=${maxAge}`;
  }
  if (expires !== undefined) cookie += attribute("Expires", expiry(expires));
  if (domain !== undefined) cookie += attribute("Domain", domain);
  cookie += attribute("Path", path);
  if (options.secure) cookie += "; Secure";
  if (options.httpOnly) cookie += "; HttpOnly";
  cookie += `; SameSite=${site}`;
  if (options.partitioned) cookie += "; Partitioned";
  return cookie;
}

/** The `Set-Cookie` that ends a cookie. One whose prefix asks for `Secure` gets it: it cannot be ended otherwise. */
export function serializeDeletion(name: string, options: Omit<CookieOptions, "maxAge" | "expires">): string {
  const secure = options.secure ?? (/^__(?:host|secure)-/i.test(name) || options.sameSite === "none");
  return serializeCookie(name, "", { ...options, secure, maxAge: 0, expires: new Date(0) });
}
