import { isUniqueViolation, type Database } from "./database.js";
import { USERNAME, type NewUser, type UserInDB } from "./models.js";
import type { Passwords } from "./security/passwords.js";
import { revokeSessions } from "./security/refresh-tokens.js";
import type { LoginThrottle } from "./security/throttle.js";

/** A user's row: what the guide calls `UserInDB`, and its key. */
export type Account = UserInDB & { id: number };

/** The users and their passwords. */
export class Accounts {
  readonly #db: Database;
  readonly #passwords: Passwords;
  readonly #throttle: LoginThrottle;

  constructor(db: Database, passwords: Passwords, throttle: LoginThrottle) {
    this.#db = db;
    this.#passwords = passwords;
    this.#throttle = throttle;
  }

  /** Whatever is no name is nobody's: PostgreSQL would refuse some of it with an error. */
  async find(username: string): Promise<Account | null> {
    return USERNAME.test(username) ? this.#db.user.findUnique({ where: { username } }) : null;
  }

  /**
   * Gives the account to which name and password belong, or `null`; it takes the same work to find out that there is no
   * such name as that the password is wrong. A disabled account is found like any other.
   *
   * @param address where the guess comes from
   * @throws TooManyAttemptsError when there were too many wrong ones
   */
  async authenticate(username: string, password: string, address: string): Promise<Account | null> {
    await this.#throttle.admit(address, username);
    let isWrongGuess = false;
    try {
      const account = await this.find(username);
      const matches = await this.#passwords.verify(password, account?.hashed_password ?? null);
      isWrongGuess = !matches;
      return matches ? account : null;
    } finally {
      if (!isWrongGuess) {
        await this.#throttle.forgive(address, username);
      }
    }
  }

  /** Makes the hash of a password that was just verified anew, where the parameters have grown since it was made. */
  async renewHash({ id, hashed_password }: Account, password: string): Promise<void> {
    if (this.#passwords.isOutdated(hashed_password)) {
      const renewed = await this.#passwords.hash(password);
      // Only over the hash that was verified: a password that was changed meanwhile stays.
      await this.#db.user.updateMany({ where: { id, hashed_password }, data: { hashed_password: renewed } });
    }
  }

  /** Adds a user; `null` when the name is taken. */
  async register({ username, email, password }: NewUser): Promise<Account | null> {
    if ((await this.find(username)) !== null) {
      return null; // spares the work of a hash
    }
    const hashed_password = await this.#passwords.hash(password);
    try {
      return await this.#db.user.create({ data: { username, email, hashed_password } });
    } catch (error) {
      if (isUniqueViolation(error)) {
        return null;
      }
      throw error;
    }
  }

  /** Sets a new password and ends all sessions: whoever knew the old one is out. */
  async changePassword(account: Account, password: string): Promise<void> {
    const hashed_password = await this.#passwords.hash(password);
    await this.#db.transaction(async (tx) => {
      await tx.user.update({ where: { id: account.id }, data: { hashed_password } });
      await revokeSessions(tx, account.id);
    });
  }

  /** Disables a user, or enables one again. Disabling ends all sessions, so that enabling brings none of them back. */
  async setDisabled(username: string, disabled: boolean): Promise<boolean> {
    return this.#db.transaction(async (tx) => {
      const { count } = await tx.user.updateMany({ where: { username }, data: { disabled } });
      const account = await tx.user.findUnique({ where: { username } });
      if (account !== null && disabled) {
        await revokeSessions(tx, account.id);
      }
      return count === 1;
    });
  }
}
