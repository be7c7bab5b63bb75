import { createHash, randomBytes } from "node:crypto";
import { setImmediate as loopTurn, setTimeout as delay } from "node:timers/promises";

import type { Account } from "../accounts.js";
import type { Database, Transactional } from "../database.js";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** A session that is not used for so long is over. */
const IDLE_MS = 7 * DAY;
/** However often it is used, a session is over after so long. */
const ABSOLUTE_MS = 30 * DAY;

/**
 * Two tabs that wake up together send the same token at once: that is a race, not a theft. An answer with a new token is
 * held for this long, so that whoever presents the old one later has had time to know the new one.
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

/** What became of a refresh token. */
export type Rotation =
  | { outcome: "rotated"; user: Account; refreshToken: IssuedRefreshToken }
  /** `reused` and `disabled` have ended the session. `raced`: another request has just been given the successor. */
  | { outcome: "unknown" | "expired" | "raced" | "reused" | "disabled"; username?: string };

/** The refresh tokens: each is good for one use, which gives its successor (RFC 9700 §4.14.2). */
export class RefreshTokens {
  readonly #db: Database;
  readonly #now: () => number;
  /** Hashes of the tokens whose rotation is under way or about to be answered. */
  readonly #rotating = new Set<string>();

  /** @param now gives the time in milliseconds since the epoch */
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
      // An UPDATE that changes nothing: it also waits for a change of the password that is under way, and keeps the next
      // one waiting until this session can be seen, and ended. A SELECT, or an INSERT from one, would do neither.
      const where = { id: userId, hashed_password, disabled: false };
      const { count } = await tx.user.updateMany({ where, data: { disabled: false } });
      if (count === 0) {
        return null;
      }
      await tx.session.deleteMany({ where: { userId, expiresAt: { lte: new Date(now) } } });
      const session = await tx.session.create({ data: { userId, expiresAt: new Date(now + ABSOLUTE_MS) } });
      return issue(tx, session, now);
    });
  }

  /** Takes a token and gives its successor. A token that was taken before ends its session. */
  async rotate(token: string): Promise<Rotation> {
    const hash = hashOf(token);
    const arrivedAt = this.#now(); // before it waits for the database: a race is a matter of when they came
    if (this.#rotating.has(hash)) {
      return { outcome: "raced" };
    }
    this.#rotating.add(hash);
    try {
      const rotation = await this.#db.transaction((tx) => take(tx, hash, arrivedAt, this.#now()));
      if (rotation.outcome === "rotated") {
        await raceIsOver();
      }
      return rotation;
    } finally {
      this.#rotating.delete(hash);
    }
  }

  /** Ends the session to which a token belongs, also one that was used already. */
  async revoke(token: string): Promise<void> {
    await this.#db.session.deleteMany({ where: { tokens: { some: { hash: hashOf(token) } } } });
  }
}

/** Ends all sessions of a user, as part of the change that makes it necessary. */
export async function revokeSessions(tx: Transactional, userId: number): Promise<void> {
  await tx.session.deleteMany({ where: { userId } });
}

async function take(tx: Transactional, hash: string, arrivedAt: number, now: number): Promise<Rotation> {
  // The claim comes first: of two who present the same token, one finds it unused.
  const claim = await tx.refreshToken.updateMany({ where: { hash, usedAt: null }, data: { usedAt: new Date(now) } });
  const found = await tx.refreshToken.findUnique({
    where: { hash },
    include: { session: { include: { user: true } } },
  });
  if (found === null) {
    return { outcome: "unknown" };
  }
  const { session, usedAt } = found;
  const { username } = session.user;
  if (claim.count === 0) {
    // With another process of this application, whose clock agrees to some milliseconds. Where it does not, a race is taken
    // for a theft or the reverse; the token is refused in either case.
    if (usedAt !== null && arrivedAt - usedAt.getTime() < RACE_MS) {
      return { outcome: "raced", username };
    }
    await tx.session.delete({ where: { id: session.id } });
    return { outcome: "reused", username };
  }
  if (session.user.disabled) {
    await tx.session.delete({ where: { id: session.id } });
    return { outcome: "disabled", username };
  }
  if (found.expiresAt.getTime() <= now) {
    return { outcome: "expired", username };
  }
  return { outcome: "rotated", user: session.user, refreshToken: await issue(tx, session, now) };
}

/** Makes a token that ends with its idle time, or with the session when that is sooner. */
async function issue(
  tx: Transactional,
  session: { id: string; expiresAt: Date },
  now: number,
): Promise<IssuedRefreshToken> {
  const token = randomBytes(32).toString("base64url");
  const expires = Math.min(now + IDLE_MS, session.expiresAt.getTime());
  await tx.refreshToken.create({
    data: { hash: hashOf(token), sessionId: session.id, expiresAt: new Date(expires) },
  });
  return { token, maxAgeSeconds: Math.floor((expires - now) / 1000) };
}

/** A fast hash is right here: 256 random bits cannot be guessed, so there is nothing to slow down. */
function hashOf(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

async function raceIsOver(): Promise<void> {
  await delay(RACE_MS);
  for (let turn = 0; turn < RACE_TURNS; turn += 1) {
    await loopTurn();
  }
}
