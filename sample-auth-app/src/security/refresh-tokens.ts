import { type IssuedRefreshToken, RefreshTokens } from "@tsgi/oauth";
import { Depends, withParams } from "tsgi";

import { database, type Database, type Transaction } from "../database.js";
import type { Account } from "../models.js";

/** The sessions, in the database. docs/refresh-tokens.md describes their states, and the attacks that these prevent. */
export function openSessions(db: Database) {
  const remove = async (id: string) => void (await db.session.deleteMany({ where: { id } }));
  return new RefreshTokens({
    store: {
      find: async (id) => {
        const session = await db.session.findUnique({ where: { id }, include: { user: true } });
        if (session?.user.disabled !== true) {
          return session;
        }
        await remove(id);
        return null;
      },
      replace: async ({ id, currentHash, pendingHash }, next) => {
        const { count } = await db.session.updateMany({ where: { id, currentHash, pendingHash }, data: next });
        return count === 1;
      },
      remove,
    },
  });
}

export const refreshTokens = Depends(
  withParams({ db: database }, async ({ db }) => openSessions(db)),
  { scope: "app" },
);

/**
 * Starts a session for a user who has just shown the password; `null` if the account no longer has the hash that was
 * verified, or is disabled.
 */
export async function startSession(
  db: Database,
  refreshTokens: RefreshTokens,
  { id: userId, hashed_password }: Pick<Account, "id" | "hashed_password">,
): Promise<IssuedRefreshToken | null> {
  return db.transaction(async (tx) => {
    // An UPDATE without an effect: it also waits for a running change of the password, and keeps the next one waiting
    // until this session is visible, and can be ended. A SELECT, or an INSERT from one, would do neither.
    const where = { id: userId, hashed_password, disabled: false };
    const { count } = await tx.user.updateMany({ where, data: { disabled: false } });
    if (count === 0) {
      return null;
    }
    await removeExpired(tx, { userId });
    const { session, ...refreshToken } = refreshTokens.issue();
    await tx.session.create({ data: { ...session, userId } });
    return refreshToken;
  });
}

/** Removes the sessions that can no longer be continued: all of them, or the ones of a user. */
export async function removeExpired(tx: Transaction, user: { userId?: number } = {}): Promise<number> {
  const { count } = await tx.session.deleteMany({ where: { ...user, idleUntil: { lte: new Date() } } });
  return count;
}

/** Ends all sessions of a user, as part of the change that makes it necessary. */
export async function revokeSessions(tx: Transaction, user: { id: number } | { username: string }): Promise<void> {
  await tx.session.deleteMany({ where: { user } });
}
