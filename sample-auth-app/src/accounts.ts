import { Depends, withParams } from "tsgi";
import { type Caller, Limiter } from "tsgi/concurrency";
import type { LoginThrottle, Passwords } from "@tsgi/passwords";

import { database, type Database, passwords } from "./database.js";
import { type Account, USERNAME } from "./models.js";
import { revokeSessions } from "./security/refresh-tokens.js";
import { throttle } from "./security/throttle.js";

/** Half a second's work; later ones get 503. */
const REGISTRATIONS_WAITING = 25;

/** The users and their passwords. */
export class Accounts {
  readonly #db: Database;
  readonly #passwords: Passwords;
  readonly #throttle: LoginThrottle;
  /** Of the line for hashing, registrations take one place: a flood of them leaves the others to the logins. */
  readonly #registrations = new Limiter({ maxRunning: 1, maxWaiting: REGISTRATIONS_WAITING });

  constructor(db: Database, passwords: Passwords, throttle: LoginThrottle) {
    this.#db = db;
    this.#passwords = passwords;
    this.#throttle = throttle;
  }

  /** Finds a name as it is stored. Returns `null` for invalid names, some of which PostgreSQL rejects with an error. */
  async find(username: string): Promise<Account | null> {
    return USERNAME.test(username) ? this.#db.user.findUnique({ where: { username } }) : null;
  }

  /**
   * Returns the account with this name and password, or `null`; an unknown name takes the same work as a wrong
   * password. A disabled account is found like any other. The account has the hash that was verified: a change that
   * rests on the verification is made `WHERE` the database still has it.
   *
   * @throws HTTPException 429 when there were too many wrong ones, 503 when too many wait
   */
  async authenticate(typed: string, password: string, caller: Required<Caller>): Promise<Account | null> {
    const username = typed.toLowerCase(); // before it is counted, or each spelling would have separate guesses
    return this.#throttle.attempt(caller.line, username, () => this.#verify(username, password, caller));
  }

  async #verify(username: string, password: string, caller: Caller): Promise<Account | null> {
    const account = await this.find(username);
    const matches = await this.#passwords.verify(password, account?.hashed_password ?? null, caller);
    if (account === null || !matches || !this.#passwords.isOutdated(account.hashed_password)) {
      return matches ? account : null;
    }
    const { id, hashed_password: verified } = account;
    const hashed_password = await this.#passwords.hash(password, caller);
    const where = { id, hashed_password: verified };
    const { count } = await this.#db.user.updateMany({ where, data: { hashed_password } });
    // Another login may have renewed the hash, or the password was changed: the current one is verified instead.
    return count === 1 ? { ...account, hashed_password } : this.#verify(username, password, caller);
  }

  /**
   * Hashes the password of a new user.
   *
   * @throws HTTPException 429 when there were too many registrations from that address, 503 when too many wait
   */
  async hashNew(password: string, caller: Required<Caller>): Promise<string> {
    await this.#throttle.admitRegistration(caller.line);
    return this.#registrations.run(() => this.#passwords.hash(password, caller), caller);
  }

  /**
   * Sets a new password, and ends all sessions and access tokens, so that the old password has no effect any more.
   *
   * @param account the result of `authenticate`
   * @returns whether it still had the password that was verified: of two changes at once, the second has no effect
   */
  async changePassword(account: Account, password: string, caller?: Caller): Promise<boolean> {
    const { id, hashed_password: verified } = account;
    const hashed_password = await this.#passwords.hash(password, caller);
    return this.#db.transaction(async (tx) => {
      const where = { id, hashed_password: verified, disabled: false };
      const { count } = await tx.user.updateMany({ where, data: { hashed_password, version: { increment: 1 } } });
      if (count === 1) {
        await revokeSessions(tx, { id });
      }
      return count === 1;
    });
  }
}

/** Disables a user, or enables one again. Both end all sessions and access tokens: enabling does not restore them. */
export async function setDisabled(db: Database, typed: string, disabled: boolean): Promise<boolean> {
  const username = typed.toLowerCase();
  return db.transaction(async (tx) => {
    const data = { disabled, version: { increment: 1 } };
    const { count } = await tx.user.updateMany({ where: { username }, data });
    await revokeSessions(tx, { username });
    return count === 1;
  });
}

export const accounts = Depends(
  withParams({ db: database, passwords, throttle }, async ({ db, passwords, throttle }) => {
    return new Accounts(db, passwords, throttle);
  }),
  { scope: "app" },
);
