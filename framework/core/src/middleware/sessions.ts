/** `sessions`: data of a client in a signed cookie. @module */
import type { Middleware } from "./chain.js";
import { configurationError } from "../common/exceptions.js";
import { messageOfError } from "../common/messages.js";
import { ANYTHING, assertOptions, FLAG, oneOf, type OptionRules, TEXT, whole } from "../common/options.js";
import { type HTTPConnection, Request } from "../http/request.js";
import { addVary, type ResponseHeaders } from "../http/response/headers.js";
import { type CookieOptions, serializeCookie } from "../http/response/cookies.js";
import { changingHeaders, onHTTP, sendInOrder } from "./layer.js";
import { encodeLatin1 } from "../protocol/bytes.js";
import { encodeUTF8 } from "../protocol/header-list.js";

const ALGORITHM = { name: "HMAC", hash: "SHA-256" } as const;

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** Text that travels through a client and comes back unchanged, or not at all. */
export class SignedText {
  readonly #purpose: string;
  readonly #secrets: readonly string[];
  #keys: Promise<Key[]> | null = null;

  /**
   * @param purpose - Signed with the text, so that what is signed for one purpose counts for no other.
   * @param secrets - The first signs, all verify.
   */
  constructor(purpose: string, secrets: readonly string[]) {
    this.#purpose = purpose;
    this.#secrets = secrets;
  }

  /** Gives the text with its signature, in characters that a cookie can have. */
  async seal(text: string): Promise<string> {
    const [key] = await this.#load();
    const body = toBase64URL(encodeUTF8(text));
    const signature = await crypto.subtle.sign(ALGORITHM, key as Key, this.#signed(body));
    return `${body}.${toBase64URL(new Uint8Array(signature))}`;
  }

  /** Gives the text of what `seal` gave; `null` for anything else. */
  async open(sealed: string): Promise<string | null> {
    const match = /^([\w-]+)\.([\w-]{43})$/.exec(sealed);
    if (match === null) return null;
    const [, body = "", signature = ""] = match;
    for (const key of await this.#load()) {
      // `verify` compares in constant time.
      const isGood = await crypto.subtle.verify(ALGORITHM, key, fromBase64URL(signature), this.#signed(body));
      if (isGood) return new TextDecoder().decode(fromBase64URL(body));
    }
    return null;
  }

  #signed(body: string): Uint8Array<ArrayBuffer> {
    return new TextEncoder().encode(`${this.#purpose}\n${body}`);
  }

  #load(): Promise<Key[]> {
    return (this.#keys ??= Promise.all(
      this.#secrets.map((secret) =>
        crypto.subtle.importKey("raw", new TextEncoder().encode(secret), ALGORITHM, false, ["sign", "verify"]),
      ),
    ));
  }
}

function toBase64URL(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** @throws when the text is too short by a character, which no signed one is. */
function fromBase64URL(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(encodeLatin1(atob(text.replaceAll("-", "+").replaceAll("_", "/"))));
}

/** Options of `sessions`. */
export interface SessionsOptions {
  /** At least 32 bytes that nobody can guess. Of several the first signs and all are accepted, so that one can be replaced. */
  secret: string | readonly string[];
  /** Seconds that a session lasts from its last change. Defaults to 14 days. */
  maxAge?: number;
  /** The cookie's `SameSite`. Defaults to `"lax"`. */
  sameSite?: "strict" | "lax" | "none";
  /** Sent over https only; `false` is for development. Defaults to `true`. */
  secure?: boolean;
  /** The cookie's name. Defaults to `"__Host-session"`, which subdomains cannot set; to `"session"` without `secure`. */
  cookie?: string;
}

const OPTIONS: OptionRules<SessionsOptions> = {
  secret: ANYTHING,
  maxAge: whole(1),
  sameSite: oneOf("strict", "lax", "none"),
  secure: FLAG,
  cookie: TEXT,
};

/** The bytes of a cookie that browsers have to keep, name and attributes among them: RFC 6265 §6.1. */
const MAX_COOKIE_BYTES = 4096;
const MIN_SECRET_BYTES = 32;
const FORTNIGHT = 14 * 24 * 60 * 60;

/**
 * Keeps a little data for each browser in a signed cookie. The browser's owner can read it, and cannot change it; one
 * that was changed, or is too old, is an empty session. The cookie is set when the data has changed, and removed when
 * they are empty.
 *
 * A signed cookie is valid until it is too old, also after a log-out: data that have to end at once belong in a database.
 *
 * @throws ConfigurationError for a secret that is too short, or an option that could not work.
 * @example
 * ```ts
 * import { App, Request } from "tsgi";
 * import { sessionOf, sessions } from "tsgi/middleware";
 *
 * const app = new App({ middleware: [sessions({ secret: process.env.SESSION_SECRET ?? "" })] });
 * app.post("/visits", { params: { request: Request } }, async ({ request }) => {
 *   const session = sessionOf<{ visits?: number }>(request);
 *   return { visits: (session.visits = (session.visits ?? 0) + 1) };
 * });
 * ```
 */
export function sessions(options: SessionsOptions): Middleware {
  const { name, attributes, maxAge, signed } = compile(options);
  return onHTTP((app) => async (scope, receive, send) => {
    const before = await openData(new Request(scope, receive).cookies[name], signed, maxAge);
    const session: Session = { data: JSON.parse(before) as SessionData, wasRead: false };
    const setCookie = async (headers: ResponseHeaders) => {
      if (session.wasRead) addVary(headers, "Cookie");
      const data = JSON.stringify(session.data);
      if (data === before) return;
      const value = data === "{}" ? "" : await signed.seal(`${Math.floor(Date.now() / 1000)} ${data}`);
      const cookie = serializeCookie(name, value, value === "" ? { ...attributes, maxAge: 0 } : attributes);
      if (cookie.length > MAX_COOKIE_BYTES) {
        throw new RangeError(
          `The session takes ${cookie.length} bytes as a cookie, more than ${MAX_COOKIE_BYTES}. Keep less in it.`,
        );
      }
      headers.append("set-cookie", cookie);
    };
    const sending = sendInOrder(changingHeaders(send, setCookie));
    return app({ ...scope, state: { ...scope.state, [SESSION]: session } }, receive, sending);
  });
}

/** The key of a request's session in its state. A symbol, so that no name of the application collides with it. */
const SESSION: unique symbol = Symbol("tsgi.session");

/** The content of a session: any JSON. */
type SessionData = Record<string, unknown>;

/** The session of one request. */
interface Session {
  data: SessionData;
  wasRead: boolean;
}

/** The JSON text that a cookie holds; that of an empty session for none, a changed one, or one that is too old. */
async function openData(cookie: string | undefined, signed: SignedText, maxAge: number): Promise<string> {
  const text = cookie === undefined ? null : await signed.open(cookie);
  const [, issuedAt = "", data = "{}"] = /^(\d+) (.+)$/s.exec(text ?? "") ?? [];
  return Number(issuedAt) + maxAge > Date.now() / 1000 ? data : "{}";
}

/**
 * The data of a request's session. Change them before the response starts.
 *
 * @throws ConfigurationError when no `sessions()` is around the handler.
 * @example
 * ```ts
 * import { App, Request } from "tsgi";
 * import { sessionOf } from "tsgi/middleware";
 *
 * const app = new App();
 * app.get("/visits", { params: { request: Request } }, async ({ request }) => {
 *   const session = sessionOf<{ visits?: number }>(request);
 *   session.visits = (session.visits ?? 0) + 1;
 *   return session.visits;
 * });
 * ```
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows the type
export function sessionOf<Data extends object = SessionData>(request: HTTPConnection): Data {
  return readSession(request).data as Data;
}

/**
 * Empties a request's session, which removes the cookie.
 *
 * @throws ConfigurationError without `sessions()`.
 * @example
 * ```ts
 * import { App, Request } from "tsgi";
 * import { clearSession } from "tsgi/middleware";
 *
 * const app = new App();
 * app.post("/logout", { params: { request: Request } }, async ({ request }) => clearSession(request));
 * ```
 */
export function clearSession(request: HTTPConnection): void {
  readSession(request).data = {};
}

function readSession(request: HTTPConnection): Session {
  const state: Record<string, unknown> & { [SESSION]?: Session } = request.state;
  const session = state[SESSION];
  if (!session) throw configurationError("TSGI_MISSING_SESSION");
  session.wasRead = true;
  return session;
}

function secretsOf(secret: SessionsOptions["secret"]): readonly string[] {
  const secrets: unknown = typeof secret === "string" ? [secret] : secret;
  if (Array.isArray(secrets) && secrets.length > 0 && secrets.every(isLong)) return secrets;
  throw configurationError("TSGI_WEAK_SESSION_SECRET", MIN_SECRET_BYTES);
}

function isLong(text: unknown): text is string {
  return typeof text === "string" && new TextEncoder().encode(text).length >= MIN_SECRET_BYTES;
}

function compile(options: SessionsOptions) {
  assertOptions("sessions()", options, OPTIONS);
  const { secret, maxAge = FORTNIGHT, sameSite = "lax", secure = true } = options;
  const { cookie: name = secure ? "__Host-session" : "session" } = options;
  const secrets = secretsOf(secret);
  if (sameSite === "none" && !secure) throw configurationError("TSGI_INVALID_SESSION_COOKIE.secure");
  const attributes: CookieOptions = { maxAge, sameSite, secure, httpOnly: true, path: "/" };
  try {
    serializeCookie(name, "", attributes);
  } catch (error) {
    throw configurationError("TSGI_INVALID_SESSION_COOKIE.form", messageOfError(error));
  }
  return { name, attributes, maxAge, signed: new SignedText(name, secrets) };
}
