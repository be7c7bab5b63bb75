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
  /** Whether other sites' requests carry it. Defaults to `"lax"`. */
  sameSite?: "strict" | "lax" | "none";
  /** Kept apart for each top-level site (CHIPS). Needs `secure`. Defaults to `false`. */
  partitioned?: boolean;
}

/** RFC 6265 §4.1.1 `cookie-name`, which is RFC 9110's `token`. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

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

const SAME_SITE = { strict: "Strict", lax: "Lax", none: "None" } as const;

/**
 * The value of a `Set-Cookie` header. The cookie's value is percent-encoded where it needs to be.
 *
 * @throws TypeError when a name or an attribute has a character that is not allowed there, or a number is none.
 */
export function serializeCookie(name: string, value: string, options: CookieOptions = {}): string {
  if (!NAME.test(name)) throw new TypeError(`The cookie name ${JSON.stringify(name)} is no token of RFC 9110 §5.6.2.`);
  const { maxAge, expires, path = "/", domain, sameSite = "lax" } = options;
  let cookie = `${name}=${encodeURIComponent(value)}`;
  if (maxAge !== undefined) {
    if (!Number.isInteger(maxAge)) throw new TypeError(`The cookie's maxAge should be whole seconds, not ${maxAge}.`);
    cookie += `; Max-Age=${maxAge}`;
  }
  if (expires !== undefined) cookie += attribute("Expires", expires.toUTCString());
  if (domain !== undefined) cookie += attribute("Domain", domain);
  cookie += attribute("Path", path);
  if (options.secure) cookie += "; Secure";
  if (options.httpOnly) cookie += "; HttpOnly";
  cookie += attribute("SameSite", SAME_SITE[sameSite]);
  if (options.partitioned) cookie += "; Partitioned";
  return cookie;
}
