import { randomBytes } from "node:crypto";
import { availableParallelism } from "node:os";

import argon2 from "argon2";

import type { PasswordHashCost } from "../config.js";
import { Limiter, type Caller } from "../limiter.js";

/** The shortest password that may be chosen, in characters (NIST SP 800-63B §5.1.1.2). */
export const MIN_PASSWORD_LENGTH = 8;
/** The longest, in characters: longer input costs a server time and gives a user nothing. */
export const MAX_PASSWORD_LENGTH = 128;

/** For each that runs: half a second's work. Who comes later is told to come again. */
const HASHES_WAITING = 25;

/** Hashes and verifies passwords with argon2id, off the event loop and no more at once than the machine bears. */
export class Passwords {
  readonly #cost: PasswordHashCost;
  readonly #limiter: Limiter;
  readonly #dummyHash: string;

  constructor(cost: PasswordHashCost, hashesAtOnce = hashesFor(availableParallelism())) {
    this.#cost = cost;
    this.#limiter = new Limiter(hashesAtOnce, hashesAtOnce * HASHES_WAITING);
    this.#dummyHash = randomHash(cost);
  }

  /**
   * Hashes a new password with a salt of its own.
   *
   * @throws UnavailableError when too many are waiting already
   * @throws ClientDisconnect when the caller goes before it begins
   */
  async hash(password: string, caller?: Caller): Promise<string> {
    const { memoryKiB: memoryCost, passes: timeCost, lanes: parallelism } = this.#cost;
    return this.#limiter.run(
      () => argon2.hash(normalize(password), { type: argon2.argon2id, memoryCost, timeCost, parallelism }),
      caller,
    );
  }

  /**
   * Tells whether the password is the one that was hashed. Where there is no hash (no such user) it does the same work on
   * a dummy before it says no: an answer's time must not tell which names exist.
   *
   * @throws UnavailableError when too many are waiting already
   * @throws ClientDisconnect when the caller goes before it begins
   */
  async verify(password: string, hash: string | null, caller?: Caller): Promise<boolean> {
    if (isTooLong(password)) {
      return false; // nobody could choose it, so there is nothing to spend work on
    }
    const usable = hash !== null && costOf(hash) !== null;
    const verifiable = usable ? hash : this.#dummyHash;
    const matches = await this.#limiter.run(() => argon2.verify(verifiable, normalize(password)), caller);
    return usable && matches;
  }

  /** Whether the parameters have grown since this hash was made. */
  isOutdated(hash: string): boolean {
    const cost = costOf(hash);
    return (
      cost !== null &&
      (cost.memoryKiB < this.#cost.memoryKiB || cost.passes < this.#cost.passes || cost.lanes < this.#cost.lanes)
    );
  }
}

/**
 * How many hashes may run at once on a machine: one core stays free for the event loop, and Node has four threads for such
 * work, so more would only wait there.
 */
export function hashesFor(cores: number): number {
  return Math.min(4, Math.max(1, cores - 1));
}

/** Whether a password may be chosen: well-formed Unicode text of 8 to 128 characters (code points) of any script. */
export function isAcceptablePassword(password: string): boolean {
  return !isTooLong(password) && password.isWellFormed() && lengthOf(password) >= MIN_PASSWORD_LENGTH;
}

/** Unicode's compatibility form, so that a password is the same from every keyboard (NIST SP 800-63B §5.1.1.2). */
function normalize(password: string): string {
  return password.normalize("NFKC");
}

function lengthOf(password: string): number {
  return Array.from(normalize(password)).length;
}

/** Looks at the raw length first: what is far beyond is not even normalized. */
function isTooLong(password: string): boolean {
  return password.length > 8 * MAX_PASSWORD_LENGTH || lengthOf(password) > MAX_PASSWORD_LENGTH;
}

/** Reads the parameters of a PHC string; `null` when it is none, such as the `!` of an account without a password. */
function costOf(hash: string): PasswordHashCost | null {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$/.exec(hash);
  return match && { memoryKiB: Number(match[1]), passes: Number(match[2]), lanes: Number(match[3]) };
}

/** Makes a hash that costs as much as a real one and that no password has. */
function randomHash({ memoryKiB, passes, lanes }: PasswordHashCost): string {
  const base64 = (bytes: number): string => randomBytes(bytes).toString("base64").replace(/=+$/, "");
  return `$argon2id$v=19$m=${memoryKiB},t=${passes},p=${lanes}$${base64(16)}$${base64(32)}`;
}
