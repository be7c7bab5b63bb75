/** Refresh tokens: each can be used once, and a second use ends its session. @module */
import { createHash, randomBytes } from "node:crypto";
import { setImmediate as loopTurn, setTimeout as delay } from "node:timers/promises";
import { assertOptions, OBJECT, type OptionRules, whole } from "tsgi/internals";

const DAY_SECONDS = 24 * 60 * 60;

/**
 * Two tabs that wake up together send the same token at once: that is a race, not a theft. A response with a new token is
 * held for this long, so that a client that presents the old one later has had time to receive the new one.
 */
const RACE_MS = 100;
/** The server takes one connection in a turn of its loop: after so many, all that was sent at once has been seen. */
const RACE_TURNS = 50;
/**
 * A store that is slow for one request, such as the first query of a replica, is slow for others: the response is held longer by a
 * multiple of its time. A request that was read after it may have waited for as long. Without this, 4 of 12 races over three new
 * replicas were taken for a theft.
 */
const HOLD_FACTOR = 2;
const MAX_DELAY_MS = 1_000;

/** The characters of the id of a session, which each of its tokens begins with. */
const ID_LENGTH = 16;

/** The state of a session. It contains the hashes of tokens, and no token. */
export interface RefreshSession {
  readonly id: string;
  /** The SHA-256 of the token that is valid. */
  readonly currentHash: string;
  /** The SHA-256 of its successor, until that is delivered or presented. */
  readonly pendingHash: string | null;
  /** The time at which a token lost its validity. One that arrived before was in a race. */
  readonly rotatedAt: Date;
  /** The session ends if it is not used until then. */
  readonly idleUntil: Date;
  /** The session ends then in any case. */
  readonly expiresAt: Date;
}

/**
 * Keeps sessions, such as rows of a table.
 *
 * @typeParam Session - The session with your own data, such as the user.
 */
export interface RefreshTokenStore<Session extends RefreshSession = RefreshSession> {
  /** Returns `null` for an unknown session, and for a user who may not continue it. */
  find(id: string): Promise<Session | null>;
  /**
   * Writes `next` if the stored session still has the hashes of `previous`, in one atomic step, such as a
   * conditional `UPDATE`.
   *
   * @returns `false` if another request has changed the session, or it does not exist.
   */
  replace(previous: RefreshSession, next: RefreshSession): Promise<boolean>;
  /** Removes a session, if it exists. */
  remove(id: string): Promise<void>;
}

/** The options of `RefreshTokens`. */
export interface RefreshTokensOptions<Session extends RefreshSession> {
  store: RefreshTokenStore<Session>;
  /** Seconds without use after which a session ends. Defaults to 7 days. */
  idleSeconds?: number;
  /** Seconds after which a session ends, however often it is used. Defaults to 30 days. */
  maxSeconds?: number;
}

/** A token for the client. */
export interface IssuedRefreshToken {
  /** 43 characters for a cookie: the id of the session and 160 random bits. Only the client has it. */
  readonly token: string;
  /** Seconds until it expires, for a cookie. */
  readonly maxAgeSeconds: number;
}

/**
 * The result of a token. `reused` has ended the session. `raced`: another request gets the successor. `abandoned`: the client has
 * disconnected, and can present the token again.
 */
export type Rotation<Session extends RefreshSession> =
  | (IssuedRefreshToken & { readonly outcome: "rotated"; readonly session: Session })
  | {
      readonly outcome: "unknown" | "expired" | "raced" | "reused" | "abandoned";
      /** `null` for an unknown session. */
      readonly session: Session | null;
    };

const OPTIONS: OptionRules<RefreshTokensOptions<RefreshSession>> = {
  store: OBJECT,
  idleSeconds: whole(1),
  maxSeconds: whole(1),
};

/** A token that is presented. */
interface Presented {
  readonly id: string;
  readonly hash: string;
  readonly race: Race;
  readonly signal: AbortSignal | undefined;
}

/**
 * Issues refresh tokens, and replaces each by a successor when it is used (RFC 9700 §4.14.2). A second use of a token ends its
 * session, because the token may be stolen. If a client uses a token several times at the same time, one request gets the
 * successor, and the session continues.
 *
 * @throws ConfigurationError for an option that cannot work.
 * @example
 * ```ts
 * import { RefreshTokens, type RefreshSession } from "@tsgi/oauth";
 *
 * const sessions = new Map<string, RefreshSession>(); // in an application, a table
 * const tokens = new RefreshTokens({
 *   store: {
 *     find: async (id) => sessions.get(id) ?? null,
 *     replace: async ({ id, currentHash, pendingHash }, next) => {
 *       const stored = sessions.get(id);
 *       if (stored?.currentHash !== currentHash || stored.pendingHash !== pendingHash) return false;
 *       sessions.set(id, next);
 *       return true;
 *     },
 *     remove: async (id) => void sessions.delete(id),
 *   },
 * });
 * const { token, session } = tokens.issue();
 * sessions.set(session.id, session);
 * console.log((await tokens.rotate(token)).outcome); // rotated
 * ```
 */
export class RefreshTokens<Session extends RefreshSession = RefreshSession> {
  readonly #store: RefreshTokenStore<Session>;
  readonly #idleMs: number;
  readonly #maxMs: number;
  readonly #delay = new Delay();

  constructor(options: RefreshTokensOptions<Session>) {
    assertOptions("new RefreshTokens()", options, OPTIONS);
    const { store, idleSeconds = 7 * DAY_SECONDS, maxSeconds = 30 * DAY_SECONDS } = options;
    OPTIONS.store("new RefreshTokens()", "store", store);
    this.#store = store;
    this.#idleMs = idleSeconds * 1_000;
    this.#maxMs = maxSeconds * 1_000;
  }

  /** Makes the first token of a session. Store the session, for example in the transaction that verifies the password. */
  issue(): IssuedRefreshToken & { readonly session: RefreshSession } {
    const now = Date.now();
    const id = randomBytes(12).toString("base64url");
    const token = createToken(id);
    const expiresAt = new Date(now + this.#maxMs);
    const idleUntil = this.#idleUntil(now, expiresAt);
    const hashes = { currentHash: hashOf(token), pendingHash: null };
    const session = { id, ...hashes, rotatedAt: new Date(now), idleUntil, expiresAt };
    return { token, maxAgeSeconds: secondsUntil(idleUntil, now), session };
  }

  /**
   * Accepts a token, and returns its successor after 100 ms, in which other requests with the same token can arrive. If the
   * store is slow, it waits longer.
   *
   * @param options.signal - Aborts when the client disconnects, such as `request.signal`: it can then present the token again.
   */
  async rotate(token: string, { signal }: { signal?: AbortSignal } = {}): Promise<Rotation<Session>> {
    // Before it waits for the store: a race depends on the times of arrival.
    const race = new Race(this.#delay);
    const presented = { id: idOf(token), hash: hashOf(token), race, signal };
    for (let seen: Session | null = null; ;) {
      const session: Session | null = await this.#store.find(presented.id);
      race.measure();
      const outcome = session === null ? "unknown" : refusalOf(session, presented, seen);
      if (outcome === "reused") await this.#store.remove(presented.id);
      if (session === null || outcome !== null) return { outcome: outcome ?? "unknown", session };
      const rotation = await this.#advance(session, presented, seen);
      if (rotation !== null) return rotation;
      seen = session;
      await race.isOver();
      await race.isOver(); // again, so that a delivery in progress is not overtaken
      if (signal?.aborted === true) return { outcome: "abandoned", session }; // and replaces no other successor
    }
  }

  /** Ends the session of a token, even if the token was used already. */
  async revoke(token: string): Promise<void> {
    await this.#store.remove(idOf(token));
  }

  /** Makes a successor, and delivers it; `null` if another request is about to deliver one. */
  async #advance(session: Session, presented: Presented, seen: Session | null): Promise<Rotation<Session> | null> {
    const { hash } = presented;
    const isReplaceable = session.pendingHash === (seen?.pendingHash ?? null);
    if (hash !== session.pendingHash && !isReplaceable) return null;
    const token = createToken(session.id);
    // A successor that is presented was delivered; one whose predecessor is presented again was not.
    const rotatedAt = session.pendingHash === null ? session.rotatedAt : new Date(Date.now());
    const claimed = { ...stateOf(session), currentHash: hash, pendingHash: hashOf(token), rotatedAt };
    // Of those who found the session as it was, one moves it on.
    return (await this.#store.replace(session, claimed)) ? this.#deliver(session, claimed, { token, presented }) : null;
  }

  /** Makes the successor valid right before it is sent: a client that has disconnected by then can present the predecessor again. */
  async #deliver(
    session: Session,
    claimed: RefreshSession,
    { token, presented: { race, signal } }: { token: string; presented: Presented },
  ): Promise<Rotation<Session>> {
    const hasLeft = () => signal?.aborted === true;
    await race.isOver();
    if (hasLeft()) return { outcome: "abandoned", session };
    const now = Date.now();
    const idleUntil = this.#idleUntil(now, session.expiresAt);
    const hashes = { currentHash: hashOf(token), pendingHash: null };
    const delivered = { ...claimed, ...hashes, rotatedAt: new Date(now), idleUntil };
    if (!(await this.#store.replace(claimed, delivered))) return { outcome: "raced", session };
    if (hasLeft()) {
      await this.#store.replace(delivered, claimed);
      return { outcome: "abandoned", session };
    }
    return { outcome: "rotated", token, maxAgeSeconds: secondsUntil(idleUntil, now), session };
  }

  #idleUntil(now: number, expiresAt: Date): Date {
    return new Date(Math.min(now + this.#idleMs, expiresAt.getTime()));
  }
}

/** The reason to reject a token, or `null`. */
function refusalOf(
  { currentHash, pendingHash, rotatedAt, idleUntil }: RefreshSession,
  token: Presented,
  seen: object | null,
) {
  if (token.hash !== currentHash && token.hash !== pendingHash) {
    // Clocks of processes differ: a race may be taken for a theft, or the reverse. Either is rejected.
    return seen !== null || token.race.includes(rotatedAt) ? "raced" : "reused";
  }
  return idleUntil.getTime() <= Date.now() ? "expired" : null;
}

/** A session without the data of the application. */
function stateOf(session: RefreshSession): RefreshSession {
  const { id, currentHash, pendingHash, rotatedAt, idleUntil, expiresAt } = session;
  return { id, currentHash, pendingHash, rotatedAt, idleUntil, expiresAt };
}

/** 160 random bits (RFC 6749 §10.10), after the id of the session. */
const createToken = (id: string) => id + randomBytes(20).toString("base64url");
/** No session has the id of a text in another form, which a database may not accept. */
const idOf = (token: string) => (/^[\w-]{43}$/.test(token) ? token.slice(0, ID_LENGTH) : "");
const secondsUntil = (end: Date, now: number) => Math.floor((end.getTime() - now) / 1_000);

/** A fast hash is right here: 160 random bits cannot be guessed. */
function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

/** The time of the slowest read from the store, in milliseconds. It counts until it has passed once more. */
class Delay {
  #ms = 0;
  #at = 0;

  /** Adds the time of a read that has ended, and returns what counts. */
  add(ms: number): number {
    const now = performance.now();
    this.#ms = Math.min(Math.max(ms, this.#ms - (now - this.#at)), MAX_DELAY_MS);
    this.#at = now;
    return this.#ms;
  }
}

/** The time in which requests with the same token are a race, as one of them sees it. */
class Race {
  readonly #arrivedAt = Date.now();
  readonly #startedAt = performance.now();
  readonly #delay: Delay;
  #delayMs: number | null = null;

  constructor(ofStore: Delay) {
    this.#delay = ofStore;
  }

  /** The store has been read. */
  measure(): void {
    this.#delayMs ??= this.#delay.add(performance.now() - this.#startedAt);
  }

  /** Tells if the request may have been sent before a time. */
  includes(time: Date): boolean {
    const delayMs = this.#delayMs ?? 0;
    const waitedMs = delayMs > RACE_MS ? delayMs : 0;
    return this.#arrivedAt - waitedMs < time.getTime();
  }

  /** Waits for the other requests. */
  async isOver(): Promise<void> {
    await delay(RACE_MS + (this.#delayMs ?? 0) * HOLD_FACTOR);
    for (let turn = 0; turn < RACE_TURNS; turn++) await loopTurn();
  }
}
