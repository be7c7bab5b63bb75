import { createHash } from "node:crypto";

import { Depends, HTTPException, withParams } from "tsgi";
import { memoryStore, type Store } from "tsgi/middleware";
import { openRedisStore } from "@tsgi/redis";

import { settings } from "../config.js";
import { logger } from "../logging.js";

/** The count restarts after this time. */
const WINDOW_SECONDS = 300;
/** Wrong passwords in that time from one address, which may belong to an office, for one account, and for both. */
const [PER_ADDRESS, PER_ACCOUNT, PER_PAIR] = [100, 100, 20];
/** Registrations in that time from one address: each costs as much work as a login, and needs no account. */
const REGISTRATIONS_PER_ADDRESS = 100;

/**
 * Slows down those who guess passwords, or register without end. Of logins only failures count: who succeeds gets the
 * attempt back. An account that is attacked from many addresses runs out of attempts, but an address that has not failed
 * at it lately still has one. So the owner gets in, and of each address the attacker has, one guess in five minutes.
 */
export class Throttle {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Counts the attempt before the password is verified, so that concurrent attempts cannot exceed the limit.
   *
   * @throws HTTPException 429 when the attempts are used up
   */
  async admit(network: string, username: string): Promise<void> {
    const { address, account, pair } = keysOf(network, username);
    // The address is checked first: a rejected one does not create keys for all the names that it invents.
    const { waitSeconds } = await this.#take(address, PER_ADDRESS);
    if (waitSeconds > 0) {
      await this.#giveBack(address);
      throw tooMany(waitSeconds);
    }
    const [ofPair, ofAccount] = await Promise.all([this.#take(pair, PER_PAIR), this.#take(account, PER_ACCOUNT)]);
    const seconds = Math.max(ofPair.waitSeconds, ofPair.count === 1 ? 0 : ofAccount.waitSeconds);
    if (seconds > 0) {
      await this.forgive(network, username);
      throw tooMany(seconds);
    }
  }

  /** @throws HTTPException 429 when the registrations are used up */
  async admitRegistration(network: string): Promise<void> {
    const { waitSeconds } = await this.#take(`registration ${network}`, REGISTRATIONS_PER_ADDRESS);
    if (waitSeconds > 0) {
      throw tooMany(waitSeconds);
    }
  }

  /** Gives the attempt back: it was no wrong guess. */
  async forgive(network: string, username: string): Promise<void> {
    await Promise.all(Object.values(keysOf(network, username)).map((key) => this.#giveBack(key)));
  }

  async #take(key: string, limit: number): Promise<{ count: number; waitSeconds: number }> {
    const { count, expiresInMs } = await this.#store.increment(key, WINDOW_SECONDS);
    return { count, waitSeconds: count > limit ? Math.max(1, Math.ceil(expiresInMs / 1000)) : 0 };
  }

  async #giveBack(key: string): Promise<void> {
    await this.#store.increment(key, WINDOW_SECONDS, -1);
  }
}

/** A name is kept as its hash: people type their password there, and what is sent may have any length. */
function keysOf(network: string, username: string) {
  const account = createHash("sha256").update(username).digest("base64url");
  return { address: `address ${network}`, account: `account ${account}`, pair: `pair ${network} ${account}` };
}

const tooMany = (seconds: number) => new HTTPException(429, undefined, { headers: { "Retry-After": String(seconds) } });

/** In Redis all replicas count together; without it, and while it is away, each counts by itself. */
export const openThrottle = withParams({ settings, logger }, async function* ({ settings: { redisUrl }, logger }) {
  const shared = redisUrl === undefined ? null : await openRedisStore(redisUrl, { logger, prefix: "throttle:" });
  yield new Throttle(shared ?? memoryStore());
  shared?.close();
});

export const throttle = Depends(openThrottle, { scope: "app" });
