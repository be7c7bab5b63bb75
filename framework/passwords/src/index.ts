/** `@tsgi/passwords`: hashes of passwords, by argon2id. @module */
import { passwordsError } from "./errors.js";
import { randomBytes } from "node:crypto";
import { availableParallelism } from "node:os";
import type Library from "argon2";
import { RequestValidationError } from "tsgi";
import { type Caller, Limiter } from "tsgi/concurrency";
import { assertOptions, missingPackage, type OptionRules, whole } from "tsgi/internals";

export { getCaller } from "./caller.js";
export { LoginThrottle, type LoginThrottleOptions } from "./login-throttle.js";

/** Options of `Passwords`. The defaults of the cost are the least that OWASP's Password Storage Cheat Sheet names. */
export interface PasswordsOptions {
  /** Memory of a hash in KiB (RFC 9106). Defaults to 19,456. */
  memoryKiB?: number;
  /** Number of passes over that memory. Defaults to 2. */
  passes?: number;
  /** Degree of parallelism. Defaults to 1. */
  lanes?: number;
  /** Hashes at once. Defaults to one less than the machine has cores, and four at most: Node has as many threads for them. */
  maxRunning?: number;
  /** Hashes that wait at most, in all lines together. Defaults to 25 for each at once: half a second's work. */
  maxWaiting?: number;
  /** The shortest password that may be chosen, in characters. Defaults to 8 (NIST SP 800-63B §5.1.1.2). */
  minLength?: number;
  /** The longest: more costs a server time without a benefit for users. Defaults to 128. */
  maxLength?: number;
}

const AMOUNT = whole(1, 2 ** 32 - 1);
const OPTIONS: OptionRules<PasswordsOptions> = {
  memoryKiB: AMOUNT,
  passes: AMOUNT,
  lanes: AMOUNT,
  maxRunning: AMOUNT,
  maxWaiting: whole(0),
  minLength: AMOUNT,
  maxLength: AMOUNT,
};

/** The parameters of a hash. */
interface Cost {
  readonly memoryKiB: number;
  readonly passes: number;
  readonly lanes: number;
}

/**
 * Hashes and verifies passwords with argon2id, off the event loop, no more at once than the machine bears, and in lines that
 * are served in turn. Stands on the package `argon2`.
 *
 * @example
 * ```ts
 * import { Passwords } from "@tsgi/passwords";
 *
 * const passwords = new Passwords();
 * const hash = await passwords.hash("correct horse");
 * await passwords.verify("correct horse", hash); // true
 * ```
 */
export class Passwords {
  readonly #cost: Cost;
  readonly #limiter: Limiter;
  readonly #dummyHash: string;
  readonly #minLength: number;
  readonly #maxLength: number;

  /** @throws ConfigurationError for an option that cannot work. */
  constructor(options: PasswordsOptions = {}) {
    assertOptions("new Passwords()", options, OPTIONS);
    const { memoryKiB = 19_456, passes = 2, lanes = 1, maxRunning = hashesFor(availableParallelism()) } = options;
    this.#cost = { memoryKiB, passes, lanes };
    this.#limiter = new Limiter({ maxRunning, maxWaiting: options.maxWaiting ?? maxRunning * 25 });
    this.#dummyHash = randomHash(this.#cost);
    this.#minLength = options.minLength ?? 8;
    this.#maxLength = options.maxLength ?? 128;
  }

  /** Tells whether a password may be chosen: well-formed Unicode text of `minLength` to `maxLength` characters of any script. */
  isAcceptable(password: string): boolean {
    return !this.#isTooLong(password) && password.isWellFormed() && lengthOf(password) >= this.#minLength;
  }

  /**
   * Checks a new password.
   *
   * @param loc - The place of the password in the request, such as `["body", "password"]`.
   * @throws RequestValidationError for a password that may not be chosen, which results in 422.
   */
  assertAcceptable(password: string, loc: (string | number)[]): void {
    if (this.isAcceptable(password)) return;
    const msg = `Password should have ${this.#minLength} to ${this.#maxLength} characters`;
    throw new RequestValidationError([{ type: "value_error", loc, msg }]);
  }

  /**
   * Hashes a new password with a separate salt.
   *
   * @throws PoolFullError if too many calls are already waiting, which results in 503.
   * @throws ClientDisconnect when the caller goes before it begins.
   * @throws ConfigurationError where the package `argon2` is missing.
   */
  async hash(password: string, caller?: Caller): Promise<string> {
    const { memoryKiB: memoryCost, passes: timeCost, lanes: parallelism } = this.#cost;
    const argon2 = await loadLibrary();
    const options = { type: argon2.argon2id, memoryCost, timeCost, parallelism };
    return this.#limiter.run(() => argon2.hash(normalize(password), options), caller);
  }

  /**
   * Tells whether the password is the one that was hashed. Without a hash, as for a user who does not exist, and with a
   * damaged one, it does the same work on a dummy before it returns `false`. Attack: the time of a response would reveal
   * which names exist.
   *
   * @throws PoolFullError if too many calls are already waiting, which results in 503.
   * @throws ClientDisconnect when the caller goes before it begins.
   * @throws ConfigurationError where the package `argon2` is missing.
   */
  async verify(password: string, hash: string | null, caller?: Caller): Promise<boolean> {
    if (this.#isTooLong(password)) return false; // no account can have it, so hashing is not necessary
    const argon2 = await loadLibrary();
    const matches = (digest: string) => argon2.verify(digest, normalize(password));
    return this.#limiter.run(async () => {
      try {
        if (hash !== null && costOf(hash) !== null) return await matches(hash);
      } catch {
        // A damaged hash fails at once. If the machine cannot hash at all, the dummy fails too.
      }
      await matches(this.#dummyHash);
      return false;
    }, caller);
  }

  /** Tells whether the parameters have grown since this hash was made: it is time for another one. */
  isOutdated(hash: string): boolean {
    const cost = costOf(hash);
    if (cost === null) return false;
    const { memoryKiB, passes, lanes } = this.#cost;
    return cost.memoryKiB < memoryKiB || cost.passes < passes || cost.lanes < lanes;
  }

  /** Checks the raw length first: a value far beyond the limit is not even normalized. */
  #isTooLong(password: string): boolean {
    return password.length > 8 * this.#maxLength || lengthOf(password) > this.#maxLength;
  }
}

/** The default export is the module as it is, which tests can watch. */
async function loadLibrary(): Promise<typeof Library> {
  return (await import("argon2").catch(missingPackage(() => passwordsError("TSGI_MISSING_ARGON2")))).default;
}

/** One core stays free for the event loop, and Node has four threads for such work, so more would only wait there. */
function hashesFor(cores: number): number {
  return Math.min(4, Math.max(1, cores - 1));
}

/** Unicode's compatibility form, so that a password is the same from every keyboard (NIST SP 800-63B §5.1.1.2). */
function normalize(password: string): string {
  return password.normalize("NFKC");
}

/** In code points. */
function lengthOf(password: string): number {
  return Array.from(normalize(password)).length;
}

/** Reads the parameters of a PHC string; `null` if it is invalid, such as the `!` of an account without a password. */
function costOf(hash: string): Cost | null {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$/.exec(hash);
  return match && { memoryKiB: Number(match[1]), passes: Number(match[2]), lanes: Number(match[3]) };
}

/** Makes a hash that costs as much as a real one and that no password has. */
function randomHash({ memoryKiB, passes, lanes }: Cost): string {
  const base64 = (bytes: number) => randomBytes(bytes).toString("base64").replaceAll("=", "");
  return `$argon2id$v=19$m=${memoryKiB},t=${passes},p=${lanes}$${base64(16)}$${base64(32)}`;
}
