import type { Middleware } from "../chain.js";
import { messageOf } from "../error-codes.js";
import { ConfigurationError, configurationError } from "../exceptions.js";
import { type Connection, Request } from "../request.js";
import { addVary, type CookieOptions, type ResponseHeaders, serializeCookie } from "../response.js";
import { headersOf, onHTTP, sendInOrder } from "./layer.js";
import { ANYTHING, assertOptions, FLAG, oneOf, type OptionRules, TEXT, whole } from "../options.js";
import { SESSION, Session, type SessionData } from "./session.js";
import { SignedText } from "./signed-text.js";

/** What `sessions` takes. */
export interface SessionsOptions {
  /** At least 32 bytes that nobody can guess. Of several the first signs and all are accepted, so that one can be replaced. */
  secret: string | readonly string[];
  /** Seconds that a session lasts from its last change. Defaults to 14 days. */
  maxAge?: number;
  /** Whether other sites' requests carry it. Defaults to `"lax"`. */
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
 * What is signed stays good until it is too old, also after a log-out: what has to end at once belongs in a database.
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
  return onHTTP(async (app, scope, receive, send) => {
    const session = await Session.open(new Request(scope, receive).cookies[name], signed, maxAge);
    const setCookie = async (headers: ResponseHeaders) => {
      if (session.wasRead) addVary(headers, "Cookie");
      const value = await session.seal();
      if (value === null) return;
      const cookie = serializeCookie(name, value, value === "" ? { ...attributes, maxAge: 0 } : attributes);
      if (cookie.length > MAX_COOKIE_BYTES) {
        throw new RangeError(
          `The session takes ${cookie.length} bytes as a cookie, more than ${MAX_COOKIE_BYTES}. Keep less in it.`,
        );
      }
      headers.append("set-cookie", cookie);
    };
    const sending = sendInOrder(async (message) => {
      if (message.type !== "http.response.start") return send(message);
      const headers = headersOf(message);
      await setCookie(headers);
      return send({ ...message, headers: headers.toList() });
    });
    return app({ ...scope, state: { ...scope.state, [SESSION]: session } }, receive, sending);
  });
}

/**
 * The data of a request's session. Change them before the response starts.
 *
 * @throws ConfigurationError when no `sessions()` is around the handler.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- what the session holds is the caller's to say
export function sessionOf<Data extends object = SessionData>(request: Connection): Data {
  return find(request).read() as Data;
}

/** Empties a request's session, which removes the cookie. @throws ConfigurationError when there is no `sessions()`. */
export function clearSession(request: Connection): void {
  find(request).clear();
}

function find(request: Connection): Session {
  const session = (request.state as { [SESSION]?: Session })[SESSION];
  if (session) return session;
  throw configurationError("TSGI_MISSING_SESSION");
}

function secretsOf(secret: SessionsOptions["secret"]): readonly string[] {
  const secrets: unknown = typeof secret === "string" ? [secret] : secret;
  if (Array.isArray(secrets) && secrets.length > 0 && secrets.every(isLong)) return secrets as string[];
  throw configurationError("TSGI_WEAK_SESSION_SECRET", MIN_SECRET_BYTES);
}

function isLong(text: unknown): boolean {
  return typeof text === "string" && new TextEncoder().encode(text).length >= MIN_SECRET_BYTES;
}

function compile(options: SessionsOptions) {
  assertOptions("sessions()", options, OPTIONS);
  const { secret, maxAge = FORTNIGHT, sameSite = "lax", secure = true } = options;
  const { cookie: name = secure ? "__Host-session" : "session" } = options;
  const secrets = secretsOf(secret);
  if (sameSite === "none" && !secure) {
    throw configurationError("TSGI_INVALID_SESSION_COOKIE.secure");
  }
  const attributes: CookieOptions = { maxAge, sameSite, secure, httpOnly: true, path: "/" };
  try {
    serializeCookie(name, "", attributes);
  } catch (error) {
    throw new ConfigurationError(messageOf("TSGI_INVALID_SESSION_COOKIE.form", (error as Error).message), {
      code: "TSGI_INVALID_SESSION_COOKIE",
      cause: error,
    });
  }
  return { name, attributes, maxAge, signed: new SignedText(name, secrets) };
}
