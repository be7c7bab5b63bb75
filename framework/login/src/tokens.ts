/** The tokens of logins: entries in the store, which one request at a time refreshes. @module */
import { randomState, refreshTokenGrant, type TokenEndpointResponse } from "openid-client";
import { type HTTPConnection, HTTPException } from "tsgi";
import { addText, deleteText, replaceText, sessionSettingsOf } from "tsgi/internals";
import type { Store } from "tsgi/middleware";
import { ask, isRefusal, loginFailure, report } from "./failure.js";
import { type Login, type Logins, secondsLeft, storeOf } from "./logins.js";
import type { Settings } from "./options.js";
import type { Provider } from "./provider.js";

/** The tokens of one login. */
interface Tokens {
  readonly access: string;
  readonly refresh?: string | undefined;
  readonly idToken?: string | undefined;
  /** Milliseconds since 1970 at which the access token expires, if the provider tells. */
  readonly expiresAt?: number;
  /** Milliseconds since 1970 from which it is replaced. */
  readonly refreshAt?: number;
}

/** An access token is replaced so long before it expires: a request that uses it takes time, and clocks differ. */
const LEEWAY_MS = 30_000;
/** Of a token that is valid for a short time, at most this part is not used. */
const LEEWAY_SHARE = 0.1;
const POLL_MS = 50;

function tokensOf(response: TokenEndpointResponse, before?: Tokens): Tokens {
  const {
    access_token: access,
    refresh_token: refresh = before?.refresh,
    id_token: idToken = before?.idToken,
  } = response;
  if (response.expires_in === undefined) return { access, refresh, idToken };
  const lifeMs = response.expires_in * 1_000;
  const expiresAt = Date.now() + lifeMs;
  return { access, refresh, idToken, expiresAt, refreshAt: expiresAt - Math.min(LEEWAY_MS, lifeMs * LEEWAY_SHARE) };
}

const isPast = (time = Infinity) => time <= Date.now();
const keyOf = (id: string) => `login:tokens:${id}`;

/** The tokens of the logins at one provider. */
export class LoginTokens {
  readonly #provider: Provider;
  readonly #logins: Logins;
  /** Seconds that a refresh takes at most: the metadata, the tokens and the keys of the provider are requested. */
  readonly #maxSeconds: number;

  constructor(provider: Provider, logins: Logins, { timeoutMs }: Settings) {
    this.#provider = provider;
    this.#logins = logins;
    this.#maxSeconds = Math.ceil((3 * timeoutMs) / 1_000);
  }

  /** Stores the tokens of a login. Returns their id; `null` if the sessions have no store. */
  async add(connection: HTTPConnection, response: TokenEndpointResponse): Promise<string | null> {
    const { store, maxAge } = sessionSettingsOf(connection);
    if (store === null) return null;
    const id = randomState();
    await this.#logins.stored(connection, store.set(keyOf(id), JSON.stringify(tokensOf(response)), maxAge));
    return id;
  }

  /** Removes the tokens of a login. Returns its ID token, by which the provider knows the login. */
  async remove(connection: HTTPConnection, { id }: Login): Promise<string | undefined> {
    const { store } = sessionSettingsOf(connection);
    if (id === undefined || store === null) return undefined;
    const tokens = await this.#read(connection, store, id);
    await this.#logins.stored(connection, store.delete(keyOf(id)));
    return tokens?.idToken;
  }

  async #read(connection: HTTPConnection, store: Store, id: string): Promise<Tokens | null> {
    const text = await this.#logins.stored(connection, store.get(keyOf(id)));
    return text === null ? null : (JSON.parse(text) as Tokens);
  }

  /**
   * The access token of a login, which is refreshed if necessary. One request refreshes it, and the others wait for that.
   *
   * @returns `"expired"` without a refresh token, and `"ended"` if the tokens are removed or the provider has refused.
   * @throws HTTPException 502 or 503 if the provider lies or is unavailable.
   */
  async access(connection: HTTPConnection, login: Login): Promise<{ token: string } | "expired" | "ended"> {
    const store = storeOf(connection, "login.accessToken");
    const { id = "" } = login;
    const lock = `${keyOf(id)}:refresh`;
    const owner = randomState();
    for (const until = Date.now() + this.#maxSeconds * 1_000; Date.now() < until;) {
      const tokens = await this.#read(connection, store, id);
      if (tokens === null) return "ended";
      const usable = isPast(tokens.expiresAt) ? null : { token: tokens.access };
      if (usable && (!isPast(tokens.refreshAt) || tokens.refresh === undefined)) return usable;
      if (tokens.refresh === undefined) return "expired";
      if (await this.#logins.stored(connection, addText(store, lock, owner, this.#maxSeconds))) {
        try {
          return await this.#refresh(connection, store, { ...login, id });
        } finally {
          await deleteText(store, lock, owner).catch(() => {}); // else the lock expires
        }
      }
      if (usable) return usable;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    throw loginFailure(503);
  }

  /** Refreshes the tokens, unless that has happened before this request had the lock. */
  async #refresh(connection: HTTPConnection, store: Store, login: Login & { id: string }) {
    const before = await this.#read(connection, store, login.id);
    if (before?.refresh === undefined) return "ended";
    if (!isPast(before.refreshAt)) return { token: before.access };
    try {
      const response = await this.#request(connection, login, before.refresh);
      if (response === null) await this.#logins.stored(connection, store.delete(keyOf(login.id)));
      if (response === null) return "ended";
      const next = tokensOf(response, before);
      const ttl = Math.max(1, secondsLeft(login, sessionSettingsOf(connection)));
      // A logout during the refresh has removed the entry, which must not return.
      const isKept = await this.#logins.stored(
        connection,
        replaceText(store, keyOf(login.id), JSON.stringify(next), ttl),
      );
      return isKept ? { token: next.access } : "ended";
    } catch (error) {
      const isUsable = error instanceof HTTPException && error.statusCode === 503 && !isPast(before.expiresAt);
      if (isUsable) return { token: before.access };
      throw error;
    }
  }

  /** Requests new tokens; `null` if the provider refuses, or they are another user's (OpenID Connect Core §12.2). */
  async #request(
    connection: HTTPConnection,
    { sub }: Login,
    refreshToken: string,
  ): Promise<TokenEndpointResponse | null> {
    return ask(connection, async () => {
      const configuration = await this.#provider.configuration();
      const response = await refreshTokenGrant(configuration, refreshToken).catch((error: unknown) => {
        if (!isRefusal(error)) throw error;
        report(connection, 401, error);
        return null;
      });
      if (response === null || (response.claims()?.sub ?? sub) === sub) return response;
      report(connection, 401, new Error("The refreshed ID token has another subject"));
      return null;
    });
  }
}
