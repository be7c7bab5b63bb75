import { createHash } from "node:crypto";
import { isIPv6 } from "node:net";

import type { Redis } from "ioredis";
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes, type RateLimiterAbstract } from "rate-limiter-flexible";

/** Too many wrong passwords, or registrations; the next attempt may be made after a while. */
export class TooManyAttemptsError extends Error {
  override name = "TooManyAttemptsError";
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super(`too many attempts; the next in ${retryAfterSeconds} s`);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** After so long, counting starts anew. */
const WINDOW_SECONDS = 300;
/** Wrong passwords in that time from one address, which may belong to an office full of people. */
const PER_ADDRESS = 100;
/** For one account, from wherever. */
const PER_ACCOUNT = 100;
/** For one account from one address. */
const PER_PAIR = 20;
/** Registrations in that time from one address: each costs as much work as a login, and needs no account. */
const REGISTRATIONS_PER_ADDRESS = 100;

/**
 * Slows down those who guess passwords, or register without end. Of logins only failures count: who succeeds gets the
 * attempt back.
 *
 * An account that is attacked from many addresses runs out of attempts, but an address that has not failed at it lately
 * still has one. So the owner gets in, and of each address the attacker has, one guess in five minutes.
 */
export class Throttle {
  readonly #addresses: RateLimiterAbstract;
  readonly #accounts: RateLimiterAbstract;
  readonly #pairs: RateLimiterAbstract;
  readonly #registrations: RateLimiterAbstract;

  /** @param redis shares the counts with other processes; without it, and while it is away, they are this process's own */
  constructor(redis: Redis | null = null) {
    this.#addresses = createLimiter("login-address", PER_ADDRESS, redis);
    this.#accounts = createLimiter("login-account", PER_ACCOUNT, redis);
    this.#pairs = createLimiter("login-pair", PER_PAIR, redis);
    this.#registrations = createLimiter("registration", REGISTRATIONS_PER_ADDRESS, redis);
  }

  /**
   * Counts an attempt, before its password is looked at: a hundred at once shall not all slip through.
   *
   * @throws TooManyAttemptsError when there is none left
   */
  async admit(address: string, username: string): Promise<void> {
    const keys = keysOf(address, username);
    // The address comes first: one that is refused leaves no keys behind for all the names that it makes up.
    const ofAddress = await take(this.#addresses, keys.address);
    if (ofAddress.waitSeconds > 0) {
      await this.#addresses.reward(keys.address, 1);
      throw new TooManyAttemptsError(ofAddress.waitSeconds);
    }
    const [ofPair, ofAccount] = await Promise.all([take(this.#pairs, keys.pair), take(this.#accounts, keys.account)]);
    const waitSeconds = Math.max(ofPair.waitSeconds, ofPair.isFirst ? 0 : ofAccount.waitSeconds);
    if (waitSeconds > 0) {
      await this.forgive(address, username);
      throw new TooManyAttemptsError(waitSeconds);
    }
  }

  /**
   * Counts a registration.
   *
   * @throws TooManyAttemptsError when there is none left
   */
  async admitRegistration(address: string): Promise<void> {
    const { waitSeconds } = await take(this.#registrations, networkOf(address));
    if (waitSeconds > 0) {
      throw new TooManyAttemptsError(waitSeconds);
    }
  }

  /** Gives the attempt back: it was no wrong guess. */
  async forgive(address: string, username: string): Promise<void> {
    const keys = keysOf(address, username);
    await Promise.all([
      this.#addresses.reward(keys.address, 1),
      this.#accounts.reward(keys.account, 1),
      this.#pairs.reward(keys.pair, 1),
    ]);
  }
}

function createLimiter(name: string, points: number, redis: Redis | null): RateLimiterAbstract {
  const options = { keyPrefix: name, points, duration: WINDOW_SECONDS };
  const inMemory = new RateLimiterMemory(options);
  return redis === null
    ? inMemory
    : new RateLimiterRedis({ ...options, storeClient: redis, rejectIfRedisNotReady: true, insuranceLimiter: inMemory });
}

/** Counts one more; says how long to wait when that is too many, and whether it was the first. */
async function take(limiter: RateLimiterAbstract, key: string): Promise<{ waitSeconds: number; isFirst: boolean }> {
  try {
    const { consumedPoints } = await limiter.consume(key, 1);
    return { waitSeconds: 0, isFirst: consumedPoints <= 1 };
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) {
      throw refusal;
    }
    return { waitSeconds: Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)), isFirst: false };
  }
}

/** A name is kept as its hash: people type their password there, and what is sent may have any length. */
function keysOf(address: string, username: string): { address: string; account: string; pair: string } {
  const account = createHash("sha256").update(username).digest("base64url");
  const network = networkOf(address);
  return { address: network, account, pair: `${network} ${account}` };
}

/** Who has one IPv6 address has the 2^64 of its network (RFC 6177 §2), so these count as one. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined || !isIPv6(address)) {
    return mapped ?? address;
  }
  const [head = "", tail] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  const missing = tail === undefined ? 0 : 8 - groups.length - (tail === "" ? 0 : tail.split(":").length);
  const network = [...groups, ...Array<string>(missing).fill("0"), ...(tail ?? "").split(":")].slice(0, 4);
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}
