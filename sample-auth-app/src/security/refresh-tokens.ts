import { createHash, randomBytes } from "node:crypto";
import { setImmediate as loopTurn, setTimeout as delay } from "node:timers/promises";

import { Depends, withParams } from "tsgi";

import { database, type Database, type Transaction } from "../database.js";
import type { Account } from "../models.js";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** A session that is not used for so long is over. */
const IDLE_MS = 7 * DAY;
/** However often it is used, a session is over after so long. */
const ABSOLUTE_MS = 30 * DAY;

/**
 * Two tabs that wake up together send the same token at once: that is a race, not a theft. A response with a new token
 * is held for this long, so that a client that presents the old one later has had time to receive the new one.
 */
const RACE_MS = 100;
/** The server takes one connection in a turn of its loop: after so many, all that was sent at once has been seen. */
const RACE_TURNS = 50;

/** A new refresh token, as the cookie needs it. */
export interface IssuedRefreshToken {
  /** 256 random bits. The client has it, the database only its hash. */
  token: string;
  /** Seconds until it is too old to be used. */
  maxAgeSeconds: number;
}

/** The state of a refresh token. */
export type Rotation =
  | { outcome: "rotated"; user: Account; refreshToken: IssuedRefreshToken }
  /**
   * `reused` and `disabled` have ended the session. `raced`: another request is given the successor. `abandoned`: the
   * client has disconnected, and may present the token again.
   */
  | { outcome: "unknown" | "expired" | "raced" | "reused" | "disabled" | "abandoned"; username?: string };

/** A successor that is made and not yet delivered. */
interface Rotating {
  outcome: "rotating";
  session: { id: string; user: Account };
  refreshToken: IssuedRefreshToken;
}

/** Another request is about to deliver a successor; `null` if it has only just begun. */
interface Pending {
  outcome: "pending";
  pendingHash: string | null;
  username: string;
}

/** A token that is presented, and when. */
interface Presented {
  hash: string;
  arrivedAt: Date;
  /** The state in which it was found before, a while ago. */
  seen: Pending | null;
}

/**
 * The refresh tokens: each can be used once, which creates its successor (RFC 9700 §4.14.2). docs/refresh-tokens.md
 * describes each step in each state, and the attack that it prevents.
 */
export class RefreshTokens {
  readonly #db: Database;
  readonly #now: () => number;

  /** @param now returns the time in milliseconds since the epoch */
  constructor(db: Database, now: () => number = Date.now) {
    this.#db = db;
    this.#now = now;
  }

  /**
   * Starts a session for a user who has just shown the password; `null` where the account no longer has the hash that was
   * verified, or is disabled.
   */
  async start({
    id: userId,
    hashed_password,
  }: Pick<Account, "id" | "hashed_password">): Promise<IssuedRefreshToken | null> {
    const now = this.#now();
    return this.#db.transaction(async (tx) => {
      // An UPDATE without an effect: it also waits for a running change of the password, and keeps the next one waiting
      // until this session is visible, and can be ended. A SELECT, or an INSERT from one, would do neither.
      const where = { id: userId, hashed_password, disabled: false };
      const { count } = await tx.user.updateMany({ where, data: { disabled: false } });
      if (count === 0) {
        return null;
      }
      await tx.session.deleteMany({ where: { userId, expiresAt: { lte: new Date(now) } } });
      const expiresAt = new Date(now + ABSOLUTE_MS);
      const { refreshToken, row } = createToken(expiresAt, now);
      await tx.session.create({ data: { userId, expiresAt, currentHash: row.hash, tokens: { create: row } } });
      return refreshToken;
    });
  }

  /**
   * Accepts a token and returns its successor. A token whose successor was delivered, or presented, ends its session.
   *
   * @param signal aborts if the client disconnects: it may then present the token again
   */
  async rotate(token: string, signal?: AbortSignal): Promise<Rotation> {
    const hash = hashOf(token);
    const arrivedAt = new Date(this.#now()); // before it waits for the database: a race depends on the arrival times
    const look = (seen: Pending | null) =>
      this.#db.transaction((tx) => take(tx, { hash, arrivedAt, seen }, this.#now()));
    for (let step = await look(null); ; step = await look(step)) {
      if (step.outcome === "rotating") {
        return this.#deliver(step, hash, signal);
      }
      if (step.outcome !== "pending") {
        return step;
      }
      await raceIsOver();
      await raceIsOver(); // again, so that a delivery in progress is not overtaken
      if (signal?.aborted === true) {
        return { outcome: "abandoned", username: step.username }; // and does not replace another successor
      }
    }
  }

  /** Ends the session of a token, even one that was used already. */
  async revoke(token: string): Promise<void> {
    await this.#db.session.deleteMany({ where: { tokens: { some: { hash: hashOf(token) } } } });
  }

  /**
   * Spends the predecessor right before the response is sent: a client that has disconnected by then can present it
   * again.
   */
  async #deliver({ session, refreshToken }: Rotating, predecessor: string, signal?: AbortSignal): Promise<Rotation> {
    await raceIsOver();
    const { id, user } = session;
    const successor = hashOf(refreshToken.token);
    try {
      const isDelivered = await this.#db.transaction(async (tx) => {
        const { count } = await tx.session.updateMany({
          where: { id, pendingHash: successor },
          data: { currentHash: successor, pendingHash: null },
        });
        if (count === 1) {
          await spend(tx, predecessor, this.#now());
        }
        signal?.throwIfAborted(); // as late as can be; it undoes both
        return count === 1;
      });
      return isDelivered ? { outcome: "rotated", user, refreshToken } : { outcome: "raced", username: user.username };
    } catch (error) {
      if (signal?.aborted === true) {
        return { outcome: "abandoned", username: user.username };
      }
      throw error;
    }
  }
}

/** Ends all sessions of a user, as part of the change that makes it necessary. */
export async function revokeSessions(tx: Transaction, user: { id: number } | { username: string }): Promise<void> {
  await tx.session.deleteMany({ where: { user } });
}

/** Moves the family of a token on, unless something speaks against it. */
async function take(tx: Transaction, presented: Presented, now: number): Promise<Rotation | Rotating | Pending> {
  const found = await find(tx, presented.hash);
  if (found === null) {
    return { outcome: "unknown" };
  }
  const { hash, session } = found;
  const { id, currentHash, pendingHash, user } = session;
  const refusal = refusalOf(found, presented, now);
  if (refusal !== null) {
    if (refusal === "reused" || refusal === "disabled") {
      await tx.session.deleteMany({ where: { id } });
    }
    return { outcome: refusal, username: user.username };
  }
  const isReplaceable = pendingHash === (presented.seen?.pendingHash ?? null);
  if (hash !== pendingHash && !(hash === currentHash && isReplaceable)) {
    return { outcome: "pending", pendingHash, username: user.username };
  }
  return rotate(tx, found, now);
}

async function rotate(tx: Transaction, { hash, session }: Found, now: number): Promise<Rotating | Pending> {
  const { id, currentHash, pendingHash } = session;
  const { refreshToken, row } = createToken(session.expiresAt, now);
  // Of those who found the family as it was, one moves it on.
  const claim = await tx.session.updateMany({
    where: { id, currentHash, pendingHash },
    data: { currentHash: hash, pendingHash: row.hash },
  });
  if (claim.count === 0) {
    return { outcome: "pending", pendingHash, username: session.user.username };
  }
  // A successor that is presented was delivered; one whose predecessor is presented again was not.
  const left = hash === pendingHash ? currentHash : pendingHash;
  if (left !== null) {
    await spend(tx, left, now);
  }
  await tx.refreshToken.create({ data: { ...row, sessionId: id } });
  return { outcome: "rotating", session, refreshToken };
}

async function find(tx: Transaction, hash: string) {
  return tx.refreshToken.findUnique({ where: { hash }, include: { session: { include: { user: true } } } });
}

type Found = NonNullable<Awaited<ReturnType<typeof find>>>;

function refusalOf({ usedAt, expiresAt, session }: Found, { arrivedAt, seen }: Presented, now: number) {
  if (usedAt !== null) {
    // Clocks of processes differ: a race may be taken for a theft, or the reverse. Either is refused.
    return seen !== null || arrivedAt < usedAt ? "raced" : "reused";
  }
  if (session.user.disabled) {
    return "disabled";
  }
  return expiresAt.getTime() <= now ? "expired" : null;
}

async function spend(tx: Transaction, hash: string, now: number): Promise<void> {
  await tx.refreshToken.updateMany({ where: { hash }, data: { usedAt: new Date(now) } });
}

/** Makes a token that ends with its idle time, or with the session when that is sooner. */
function createToken(sessionEnd: Date, now: number) {
  const token = randomBytes(32).toString("base64url");
  const expires = Math.min(now + IDLE_MS, sessionEnd.getTime());
  const refreshToken: IssuedRefreshToken = { token, maxAgeSeconds: Math.floor((expires - now) / 1000) };
  return { refreshToken, row: { hash: hashOf(token), expiresAt: new Date(expires) } };
}

/** A fast hash is right here: 256 random bits cannot be guessed, so a slow hash is not needed. */
function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

async function raceIsOver(): Promise<void> {
  await delay(RACE_MS);
  for (let turn = 0; turn < RACE_TURNS; turn += 1) {
    await loopTurn();
  }
}

export const refreshTokens = Depends(
  withParams({ db: database }, async ({ db }) => new RefreshTokens(db)),
  { scope: "app" },
);
