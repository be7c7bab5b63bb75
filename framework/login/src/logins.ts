/** Logins that have succeeded: each is a part of a session, until it ends. @module */
import { type HTTPConnection, HTTPException, type Request } from "tsgi";
import { type SessionSettings, sessionSettingsOf, sha256, StoreFailure, StoreLog } from "tsgi/internals";
import { renewSession, sessionOf, type Store } from "tsgi/middleware";
import { loginError } from "./errors.js";
import type { IDTokenClaims, Settings } from "./options.js";

/** A login, as the session keeps it. */
export interface Login {
  readonly sub: string;
  /** The data that the option `claims` has selected. */
  readonly claims: object;
  /** Milliseconds since 1970 at which it began. */
  readonly at: number;
  /** The id of the session at the provider (OpenID Connect Front-Channel Logout 1.0 §3). */
  readonly sid?: string;
  /** The random id of its tokens in the store. */
  readonly id?: string;
}

/** The store of the sessions around a handler. @param user - The function that needs it. */
export function storeOf(connection: HTTPConnection, user: string): Store {
  const { store } = sessionSettingsOf(connection);
  if (store === null) throw loginError("TSGI_LOGIN_WITHOUT_STORE", user);
  return store;
}

type LoginSession = Record<string, Login | undefined>;

/** The logins at one provider. */
export class Logins {
  readonly #settings: Settings;
  /** The name of a login in the data of a session. It has the provider: a user of another one can have the same `sub`. */
  readonly #name: string;
  readonly #log = new StoreLog({
    of: "the logins",
    effect: "requests that need it get 503",
    back: "requests have their logins again",
  });

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#name = `login ${settings.issuer} ${settings.clientId} ${settings.redirectURI}`;
  }

  /** Awaits a call of the store. @throws HTTPException 503 while the store is unavailable. */
  async stored<T>({ scope }: HTTPConnection, call: Promise<T>): Promise<T> {
    try {
      return await this.#log.watch(scope, call);
    } catch (error) {
      throw error instanceof StoreFailure ? new HTTPException(503) : error;
    }
  }

  /** The login of a request or a handshake; `null` if there is not one, or it has ended. */
  async find(connection: HTTPConnection): Promise<Login | null> {
    const login = sessionOf<LoginSession>(connection)[this.#name];
    if (login === undefined || secondsLeft(login, sessionSettingsOf(connection)) <= 0) return null;
    const hasEnded = this.#settings.backchannelLogout && (await this.#hasEnded(connection, login));
    return hasEnded ? null : login;
  }

  /** Starts a login. The session gets a new id: an attacker may know the one of before (fixation). */
  start(request: Request, { sub, ...all }: IDTokenClaims, at: number, id: string | null): Login {
    const { sid } = all;
    const login: Login = {
      sub,
      claims: this.#settings.claims({ sub, ...all }),
      at,
      ...(typeof sid === "string" && id !== null && { sid }),
      ...(id !== null && { id }),
    };
    renewSession(request);
    sessionOf<LoginSession>(request)[this.#name] = login;
    return login;
  }

  /**
   * Removes a login from its session. The new id of the session prevents that a slower request, which has read the login, stores
   * it again. A handshake cannot change a session: there, the login only loses its tokens.
   */
  end(connection: HTTPConnection): void {
    if (connection.scope.type !== "http") return;
    renewSession(connection);
    delete sessionOf<LoginSession>(connection)[this.#name];
  }

  /** Ends all logins of a user, or of one session at the provider, that have begun until now, on every server. */
  async endAll(request: Request, kind: "sid" | "sub", value: string): Promise<void> {
    const { maxAge } = sessionSettingsOf(request);
    const store = storeOf(request, "backchannelLogout");
    await this.stored(request, store.set(await this.#marker(kind, value), String(Date.now()), maxAge));
  }

  async #hasEnded(connection: HTTPConnection, { sub, sid, at }: Login): Promise<boolean> {
    const store = storeOf(connection, "backchannelLogout");
    const read = async (kind: "sid" | "sub", value: string) => store.get(await this.#marker(kind, value));
    const reads = Promise.all([read("sub", sub), sid === undefined ? null : read("sid", sid)]);
    const markers = await this.stored(connection, reads);
    return markers.some((endedAt) => endedAt !== null && Number(endedAt) >= at);
  }

  async #marker(kind: "sid" | "sub", value: string): Promise<string> {
    const { issuer, clientId } = this.#settings;
    return `login:ended:${await sha256(JSON.stringify([issuer, clientId, kind, value]))}`;
  }
}

/** The seconds until a login ends: a session that changes lasts longer, and its login does not. */
export function secondsLeft({ at }: Login, { maxAge }: SessionSettings): number {
  return Math.ceil(maxAge - (Date.now() - at) / 1_000);
}
