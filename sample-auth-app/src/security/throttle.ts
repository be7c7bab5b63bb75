/** There were too many wrong guesses. */
export class TooManyAttemptsError extends Error {
  override name = "TooManyAttemptsError";
  /** When the next attempt may succeed. */
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super(`too many attempts; the next in ${retryAfterSeconds} s`);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** How many attempts a key has, and how fast they come back. */
interface Allowance {
  attempts: number;
  /** Milliseconds until one attempt comes back. */
  refillMs: number;
}

/** One address may belong to an office full of people. */
const PER_ADDRESS: Allowance = { attempts: 100, refillMs: 3_000 };
/** One account, from wherever. */
const PER_ACCOUNT: Allowance = { attempts: 100, refillMs: 3_000 };
/** One account from one address. */
const PER_PAIR: Allowance = { attempts: 20, refillMs: 15_000 };

/**
 * Slows down those who guess passwords. Only failures count: who succeeds gets the attempt back.
 *
 * An account that is attacked from many addresses runs out of attempts, but an address that has not failed at it lately
 * still has one. So the owner gets in, and of each address the attacker has, one guess in five minutes.
 */
export class LoginThrottle {
  readonly #addresses = new Buckets(PER_ADDRESS);
  readonly #accounts = new Buckets(PER_ACCOUNT);
  readonly #pairs = new Buckets(PER_PAIR);

  /**
   * Counts an attempt, before its password is looked at: a hundred at once shall not all slip through.
   *
   * @throws TooManyAttemptsError when there is none left
   */
  admit(address: string, username: string, now = Date.now()): void {
    const account = keyOf(username);
    const pair = `${address} ${account}`;
    const waits = [this.#addresses.waitMs(address, now), this.#pairs.waitMs(pair, now)];
    if (!this.#pairs.isFull(pair, now)) {
      waits.push(this.#accounts.waitMs(account, now));
    }
    const waitMs = Math.max(...waits);
    if (waitMs > 0) {
      throw new TooManyAttemptsError(Math.ceil(waitMs / 1000));
    }
    this.#addresses.take(address, now);
    this.#accounts.take(account, now);
    this.#pairs.take(pair, now);
  }

  /** Gives the attempt back: it was no wrong guess. */
  forgive(address: string, username: string): void {
    const account = keyOf(username);
    this.#addresses.giveBack(address);
    this.#accounts.giveBack(account);
    this.#pairs.giveBack(`${address} ${account}`);
  }
}

/** No name is longer than 64; what is sent as one may be, and must not fill the memory. */
function keyOf(username: string): string {
  return username.slice(0, 65);
}

/** A bucket of attempts for each key. A key that is not kept has a full one. */
class Buckets {
  static readonly #MAX_KEYS = 50_000;
  readonly #allowance: Allowance;
  readonly #buckets = new Map<string, { left: number; at: number }>();

  constructor(allowance: Allowance) {
    this.#allowance = allowance;
  }

  isFull(key: string, now: number): boolean {
    return this.#left(key, now) >= this.#allowance.attempts;
  }

  /** Milliseconds until there is an attempt to take. */
  waitMs(key: string, now: number): number {
    const missing = 1 - this.#left(key, now);
    return missing <= 0 ? 0 : missing * this.#allowance.refillMs;
  }

  take(key: string, now: number): void {
    const left = Math.max(0, this.#left(key, now) - 1);
    this.#buckets.delete(key); // so that the map's order is that of use
    this.#buckets.set(key, { left, at: now });
    if (this.#buckets.size > Buckets.#MAX_KEYS) {
      const [oldest] = this.#buckets.keys();
      this.#buckets.delete(oldest!);
    }
  }

  giveBack(key: string): void {
    const bucket = this.#buckets.get(key);
    if (bucket !== undefined) {
      bucket.left += 1;
    }
  }

  #left(key: string, now: number): number {
    const { attempts, refillMs } = this.#allowance;
    const bucket = this.#buckets.get(key);
    return bucket === undefined ? attempts : Math.min(attempts, bucket.left + (now - bucket.at) / refillMs);
  }
}
