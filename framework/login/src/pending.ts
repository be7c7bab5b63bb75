/** Logins that have begun: each is a cookie of 10 minutes, so that tabs do not disturb each other. @module */
import type { CookieOptions, HTTPConnection, Response } from "tsgi";
import { isToken } from "tsgi/internals";
import type { Settings } from "./options.js";

/** A login that has begun. */
export interface Pending {
  readonly nonce: string;
  /** The secret of PKCE (RFC 7636 §4.1). */
  readonly verifier: string;
  /** The path to which the browser goes after the login. */
  readonly returnTo: string;
}

const TEN_MINUTES = 600;
/** Attack: a page that begins many logins would fill the header `Cookie`, which servers limit. The oldest are removed. */
const MAX_BYTES = 4_096;
const MAX_PATH = 1_024;

/** The cookies of the logins that have begun at one provider. */
export class PendingLogins {
  readonly #prefix: string;
  readonly #attributes: CookieOptions;

  constructor({ redirectURI }: Settings) {
    const { protocol, pathname } = new URL(redirectURI);
    const secure = protocol === "https:";
    // Attack: a subdomain logs a user in as the attacker. It cannot set a cookie whose name begins with `__Host-`. Attack, mix-up:
    // another provider sends the browser here. The cookie of that login has the name of the other callback.
    this.#prefix = `${secure ? "__Host-" : ""}login${pathname.replaceAll("/", "!")}!`;
    this.#attributes = { secure, httpOnly: true, sameSite: "lax", path: "/" };
  }

  add({ cookies }: HTTPConnection, response: Response, state: string, { nonce, verifier, returnTo }: Pending): void {
    const value = [nonce, verifier, returnTo].join(" ");
    response.setCookie(this.#prefix + state, value, { ...this.#attributes, maxAge: TEN_MINUTES });
    let bytes = value.length;
    const known = Object.entries(cookies).filter(([name]) => name.startsWith(this.#prefix) && isToken(name));
    // Browsers send the oldest first (RFC 6265 §5.4).
    for (const [name, text] of known.toReversed()) {
      bytes += name.length + text.length;
      if (bytes > MAX_BYTES) response.deleteCookie(name, this.#attributes);
    }
  }

  /** Returns `null` for a login that this browser has not begun, that has ended, or that is too old. */
  find({ cookies }: HTTPConnection, state: string): Pending | null {
    const [nonce, verifier, returnTo] = cookies[this.#prefix + state]?.split(" ") ?? [];
    return nonce && verifier && returnTo ? { nonce, verifier, returnTo } : null;
  }

  remove(response: Response, state: string): void {
    response.deleteCookie(this.#prefix + state, this.#attributes);
  }
}

/**
 * A path of this origin, as a browser reads it; `"/"` for anything else. Attack, open redirect: a browser reads `//host` and
 * `/\host` as an address of another host, and removes tabs and line breaks.
 */
export function localPath(text: string | null, baseURL: string): string {
  const { origin } = new URL(baseURL);
  if (!text?.startsWith("/") || text.length > MAX_PATH || !URL.canParse(text, origin)) return "/";
  const url = new URL(text, origin);
  const path = url.pathname + url.search + url.hash;
  return url.origin === origin && !path.startsWith("//") ? path : "/";
}
