/** `sessions`: data of a browser, in a signed cookie or in a store. @module */
import type { ASGIApp, HTTPScope, Receive, Send, WebSocketScope } from "../protocol/asgi.js";
import type { Middleware } from "./chain.js";
import { ClientDisconnect, configurationError } from "../common/exceptions.js";
import { messageOfError } from "../common/messages.js";
import { ANYTHING, assertOptions, FLAG, oneOf, type OptionRules, TEXT, whole } from "../common/options.js";
import { HTTPConnection } from "../http/request.js";
import { REFUSE, WebSocket } from "../http/websocket.js";
import { addVary, type ResponseHeaders } from "../http/response/headers.js";
import { type CookieOptions, serializeCookie } from "../http/response/cookies.js";
import { changingHeaders, refusalOf, refuse, sendInOrder } from "./layer.js";
import { markHandled } from "../common/promises.js";
import { type Found, inCookie, inStore, type Keeping, type Left, type SessionData } from "./sessions/keeping.js";
import { STORE_UNAVAILABLE, StoreFailure, type Store, STORE, unlessAway } from "./stores.js";

/** The options of `sessions` that do not depend on where the data are. */
interface SessionCookieOptions {
  /** Seconds that a session lasts from its last change. Defaults to 14 days. */
  maxAge?: number;
  /** The cookie's `SameSite`. Defaults to `"lax"`. */
  sameSite?: "strict" | "lax" | "none";
  /** Sent over https only; `false` is for development. Defaults to `true`. */
  secure?: boolean;
  /** The cookie's name. Defaults to `"__Host-session"`, which subdomains cannot set; to `"session"` without `secure`. */
  cookie?: string;
}

/** Sessions whose data are in the cookie, or in a store if it is given. */
interface SignedSessionsOptions extends SessionCookieOptions {
  /**
   * A random secret of at least 32 bytes. Of several the first signs and all are accepted, so that one can be replaced.
   */
  secret: string | readonly string[];
  /** A store for the data. The cookie has an id then, and the secret is not used. */
  store?: Store;
}

/** Sessions whose data are in a store. */
interface StoredSessionsOptions extends SessionCookieOptions {
  /** Not used. */
  secret?: string | readonly string[];
  /** A store for the data. The cookie has an id. */
  store: Store;
}

/** Options of `sessions`: a `secret` to keep the data in the cookie, or a `store` to keep them on the server. */
export type SessionsOptions = SignedSessionsOptions | StoredSessionsOptions;

const OPTIONS: OptionRules<SessionsOptions> = {
  secret: ANYTHING,
  store: STORE,
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
 * Keeps a little data for each browser: in a signed cookie, or with `store` on the server, where the cookie has a random id
 * only. The cookie is set when the data have changed, and removed when they are empty.
 *
 * The owner of a browser can read the data of a signed cookie, and cannot change them. A signed cookie is valid until
 * it expires, even after a logout. With a store, `clearSession` ends the session on every machine, an id that the store
 * does not know is an empty session, and a request with a session gets 503 while the store is unavailable.
 *
 * @throws ConfigurationError for a secret that is too short, or an option that could not work.
 * @example
 * ```ts
 * import { App, Request } from "tsgi";
 * import { memoryStore, sessionOf, sessions } from "tsgi/middleware";
 *
 * const app = new App({ middleware: [sessions({ store: memoryStore() })] });
 * app.post("/visits", { params: { request: Request } }, async ({ request }) => {
 *   const session = sessionOf<{ visits?: number }>(request);
 *   return { visits: (session.visits = (session.visits ?? 0) + 1) };
 * });
 * ```
 */
export function sessions(options: SessionsOptions): Middleware {
  const compiled = compile(options);
  const middleware: Middleware = (app) => (scope, receive, send) => {
    if (scope.type === "http") return markHandled(serveRequest(compiled, app, { scope, receive, send }));
    if (scope.type === "websocket") return serveHandshake(compiled, app, { scope, receive, send });
    return app(scope, receive, send);
  };
  settings.set(middleware, compiled.settings);
  return middleware;
}

/** The settings of a `sessions()` that packages build on. */
export interface SessionSettings {
  /** The name of the cookie. */
  readonly cookie: string;
  /** `null` if the data are in the cookie. */
  readonly store: Store | null;
  /** Seconds that a session lasts from its last change. */
  readonly maxAge: number;
  readonly sameSite: "strict" | "lax" | "none";
}

const settings = new WeakMap<Middleware, SessionSettings>();

/** The settings of a middleware that `sessions` has returned; `undefined` for any other middleware. */
export function findSessionSettings(middleware: Middleware): SessionSettings | undefined {
  return settings.get(middleware);
}

/**
 * The settings of the `sessions()` around a handler.
 *
 * @throws ConfigurationError if there is not one.
 */
export function sessionSettingsOf(connection: HTTPConnection): SessionSettings {
  return readSession(connection).settings;
}

/** A middleware, ready for its connections. */
interface Compiled {
  readonly settings: SessionSettings;
  readonly attributes: CookieOptions;
  readonly keeping: Keeping;
}

/** One call of an application. */
interface Connection<S> {
  readonly scope: S;
  readonly receive: Receive;
  readonly send: Send;
}

/** The session that the cookie of a connection leads to; `null` if the store is unavailable. */
function findSession({ settings: { cookie }, keeping }: Compiled, scope: HTTPScope | WebSocketScope) {
  return unlessAway(keeping.find(scope, new HTTPConnection(scope).cookies[cookie]));
}

async function serveRequest(compiled: Compiled, app: ASGIApp, { scope, receive, send }: Connection<HTTPScope>) {
  const found = await findSession(compiled, scope);
  if (found === null) return refuse(scope, send, STORE_UNAVAILABLE);
  const { data } = found;
  const session: Session = { settings: compiled.settings, data, wasRead: false, isFixed: false, newId: null };
  let isRefused = false;
  const setCookie = async (headers: ResponseHeaders) => {
    session.isFixed = true;
    if (session.wasRead) addVary(headers, "Cookie");
    const cookie = await keepSession(compiled, scope, found, session).catch(async (error: unknown) => {
      if (!(error instanceof StoreFailure)) throw error;
      isRefused = true;
      await refuse(scope, send, STORE_UNAVAILABLE);
      throw new ClientDisconnect();
    });
    if (cookie !== null) headers.append("set-cookie", cookie);
  };
  const sending = sendInOrder(changingHeaders(send, setCookie));
  try {
    await app({ ...scope, state: { ...scope.state, [SESSION]: session } }, receive, sending);
  } catch (error) {
    // The response of the application is dropped, as it is when a client disconnects.
    if (!isRefused || !(error instanceof ClientDisconnect)) throw error;
  }
}

/** Stores a session when the response starts. Returns the header for its cookie; `null` for no header. */
async function keepSession(
  { settings: { cookie: name }, attributes, keeping }: Compiled,
  scope: HTTPScope,
  found: Found,
  session: Session,
): Promise<string | null> {
  const left = { text: JSON.stringify(session.data), newId: session.newId };
  const value = await keeping.keep(scope, found, left);
  if (value === null) return null;
  const cookie = serializeCookie(name, value, value === "" ? { ...attributes, maxAge: 0 } : attributes);
  if (cookie.length <= MAX_COOKIE_BYTES) return cookie;
  throw new RangeError(
    `The session takes ${cookie.length} bytes as a cookie, more than ${MAX_COOKIE_BYTES}. Keep less in it.`,
  );
}

/** A handshake can read its session. It cannot change it, because `accept` may send the headers of its response much later. */
function serveHandshake(
  compiled: Compiled,
  app: ASGIApp,
  { scope, receive, send }: Connection<WebSocketScope>,
): Promise<void> {
  const enter = (text: string) => {
    const data = JSON.parse(text, (_, value: unknown) => Object.freeze(value)) as SessionData;
    const state: Record<string, unknown> & { [SESSION]?: Session } = (scope.state ??= {});
    state[SESSION] = { settings: compiled.settings, data, wasRead: false, isFixed: true, newId: null };
    return app(scope, receive, send);
  };
  const { cookies } = new HTTPConnection(scope);
  if (cookies[compiled.settings.cookie] === undefined) return enter("{}");
  const refuseHandshake = () => new WebSocket(scope, receive, send)[REFUSE](refusalOf(scope, STORE_UNAVAILABLE));
  return markHandled(findSession(compiled, scope).then((found) => (found ? enter(found.text) : refuseHandshake())));
}

/** The key of a request's session in its state. A symbol, so that no name of the application collides with it. */
const SESSION: unique symbol = Symbol("tsgi.session");

/** The session of one request, or of the handshake of a WebSocket. */
interface Session {
  readonly settings: SessionSettings;
  data: SessionData;
  wasRead: boolean;
  /** The cookie cannot change any more: the response has started, or the connection is a WebSocket. */
  isFixed: boolean;
  newId: Left["newId"];
}

/**
 * The data of a request's session. Change them before the response starts. In the handshake of a WebSocket they are read-only.
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
 * Empties a request's session, which removes the cookie. With a store it deletes the entry, which ends the session also for
 * a copy of the cookie. Data that are set afterwards have a new id.
 *
 * @throws ConfigurationError without `sessions()`, after the response has started, and for a WebSocket.
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
  Object.assign(openSession(request, "clearSession"), { data: {}, newId: "cleared" } satisfies Partial<Session>);
}

/**
 * Gives a request's session in a store a new id, and keeps its data. The id of before is not valid any more. Call it at each
 * login and change of rights: an attacker who knows the id from before, or has planted it, is not logged in with it (session
 * fixation). If the session ends while the request runs, the new one has only the values that the request has changed. A
 * session in a signed cookie has no id.
 *
 * @throws ConfigurationError without `sessions()`, after the response has started, and for a WebSocket.
 * @see OWASP Session Management Cheat Sheet, "Renew the Session ID After Any Privilege Level Change"
 * @example
 * ```ts
 * import { App, Request } from "tsgi";
 * import { renewSession, sessionOf } from "tsgi/middleware";
 *
 * const app = new App();
 * app.post("/login", { params: { request: Request } }, async ({ request }) => {
 *   renewSession(request);
 *   sessionOf<{ user?: string }>(request).user = "ada";
 * });
 * ```
 */
export function renewSession(request: HTTPConnection): void {
  openSession(request, "renewSession").newId ??= "renewed";
}

/** Attack: a logout in a stream or a background task would have no effect, and the session would stay valid. */
function openSession(request: HTTPConnection, caller: string): Session {
  const session = readSession(request);
  if (!session.isFixed) return session;
  if (request.scope.type === "http") throw configurationError("TSGI_SESSION_ALREADY_SENT.response", caller);
  throw configurationError("TSGI_SESSION_ALREADY_SENT.websocket", caller);
}

function readSession(request: HTTPConnection): Session {
  const state: Record<string, unknown> & { [SESSION]?: Session } = request.state;
  const session = state[SESSION];
  if (!session) throw configurationError("TSGI_MISSING_SESSION");
  session.wasRead = true;
  return session;
}

function secretsOf({ secret, store }: SessionsOptions): readonly string[] {
  if (store && secret === undefined) return [];
  const secrets: unknown = typeof secret === "string" ? [secret] : secret;
  if (Array.isArray(secrets) && secrets.length > 0 && secrets.every(isLong)) return secrets;
  throw configurationError("TSGI_WEAK_SESSION_SECRET", MIN_SECRET_BYTES);
}

function isLong(text: unknown): text is string {
  return typeof text === "string" && new TextEncoder().encode(text).length >= MIN_SECRET_BYTES;
}

function compile(options: SessionsOptions): Compiled {
  assertOptions("sessions()", options, OPTIONS);
  const { store = null, maxAge = FORTNIGHT, sameSite = "lax", secure = true } = options;
  const { cookie: name = secure ? "__Host-session" : "session" } = options;
  if (sameSite === "none" && !secure) throw configurationError("TSGI_INVALID_SESSION_COOKIE.secure");
  const attributes: CookieOptions = { maxAge, sameSite, secure, httpOnly: true, path: "/" };
  const secrets = secretsOf(options);
  try {
    serializeCookie(name, "", attributes);
  } catch (error) {
    throw configurationError("TSGI_INVALID_SESSION_COOKIE.form", messageOfError(error));
  }
  return {
    settings: { cookie: name, store, maxAge, sameSite },
    attributes,
    keeping: store ? inStore(name, store, maxAge) : inCookie(name, secrets, maxAge),
  };
}
