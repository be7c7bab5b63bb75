/** `LoginThrottle`: limits for those who guess passwords. @module */
import { createHash } from "node:crypto";
import { HTTPException } from "tsgi";
import { assertOptions, type OptionRules, STORE, swapOf, TEXT, whole } from "tsgi/internals";
import { clientNetwork, type Count, memoryStore, type Store } from "tsgi/middleware";

/** The options of `LoginThrottle`. */
export interface LoginThrottleOptions {
  /** The store of the counts. Defaults to the memory of this process. */
  store?: Store;
  /** The prefix of the counts in the store: throttles with the same name share their counts. Defaults to `"login"`. */
  name?: string;
  /** Seconds from the first attempt of a window to its end. Defaults to 300. */
  windowSeconds?: number;
  /** Wrong passwords in a window from one address, which may belong to an office. Defaults to 100. */
  perAddress?: number;
  /** Wrong passwords in a window for one account, from all addresses. Defaults to 100. */
  perAccount?: number;
  /** Wrong passwords in a window from one address for one account. Defaults to 20. */
  perPair?: number;
  /** Registrations in a window from one address. Defaults to 100. */
  registrations?: number;
}

const OPTIONS: OptionRules<LoginThrottleOptions> = {
  store: STORE,
  name: TEXT,
  windowSeconds: whole(1),
  perAddress: whole(1),
  perAccount: whole(1),
  perPair: whole(1),
  registrations: whole(1),
};

/**
 * Slows down clients that guess passwords or register accounts without end: 429 with `Retry-After`. Only wrong passwords are
 * counted. If an account is attacked from many addresses, an address without a recent wrong password for it still has one
 * attempt. So the owner can log in, and each address of an attacker has one guess in a window.
 *
 * An address is a client's IPv4 address, or the /64 of its IPv6 address.
 *
 * @example
 * ```ts
 * import { LoginThrottle, Passwords } from "@tsgi/passwords";
 *
 * const passwords = new Passwords();
 * const throttle = new LoginThrottle();
 * const hash = await passwords.hash("correct horse");
 * const user = await throttle.attempt("192.0.2.1", "ada", async () =>
 *   (await passwords.verify("correct horse", hash)) ? { name: "ada" } : null,
 * );
 * console.log(user?.name); // ada
 * ```
 */
export class LoginThrottle {
  readonly #store: Store;
  readonly #name: string;
  readonly #limits: Required<Omit<LoginThrottleOptions, "store" | "name">>;

  /** @throws ConfigurationError for an option that cannot work. */
  constructor(options: LoginThrottleOptions = {}) {
    assertOptions("new LoginThrottle()", options, OPTIONS);
    const { store = memoryStore(), windowSeconds = 300, perAddress = 100, perAccount = 100, perPair = 20 } = options;
    this.#store = store;
    this.#name = options.name ?? "login";
    this.#limits = { windowSeconds, perAddress, perAccount, perPair, registrations: options.registrations ?? 100 };
  }

  /**
   * Verifies a password. The attempt is counted before, so that concurrent attempts cannot exceed the limit.
   *
   * @param address - The client's address; `""` if it is unknown: such attempts are only counted for the account.
   * @param account - The name in one spelling, such as lower case if your login ignores case: each has separate counts.
   * @param verify - Returns `null` for a wrong password. For any other result, and for an error, the attempt is not counted.
   * @throws HTTPException 429 if the attempts are used up, 503 if the store is unavailable.
   */
  async attempt<T>(address: string, account: string, verify: () => Promise<T | null>): Promise<T | null> {
    await this.admit(address, account);
    let isWrong = false;
    try {
      const verified = await verify();
      isWrong = verified === null;
      return verified;
    } finally {
      if (!isWrong) await this.forgive(address, account);
    }
  }

  /**
   * Counts an attempt before its password is verified.
   *
   * @throws HTTPException 429 if the attempts are used up, 503 if the store is unavailable.
   */
  async admit(address: string, account: string): Promise<void> {
    const { perAddress, perAccount, perPair } = this.#limits;
    const keys = keysOf(address, account);
    // The address is checked first: a rejected one does not create keys for all the names that it invents.
    const ofAddress = await this.#take(keys.address, perAddress);
    if (ofAddress.waitSeconds > 0) {
      await this.#giveBack(keys.address);
      throw tooMany(ofAddress.waitSeconds);
    }
    const [ofPair, ofAccount] = await Promise.all([
      this.#take(keys.pair, perPair),
      this.#take(keys.account, perAccount),
    ]);
    const waitSeconds = Math.max(ofPair.waitSeconds, ofPair.count === 1 ? 0 : ofAccount.waitSeconds);
    if (waitSeconds > 0) {
      await this.forgive(address, account);
      throw tooMany(waitSeconds);
    }
  }

  /** Removes an attempt from the counts, because its password was not wrong. */
  async forgive(address: string, account: string): Promise<void> {
    const { account: ofAccount, address: ofAddress, pair } = keysOf(address, account);
    await Promise.all([ofAccount, ofAddress, pair].map((key) => this.#giveBack(key)));
  }

  /**
   * Counts a registration. Hashing its password costs as much as a login, and it needs no account.
   *
   * @throws HTTPException 429 if the registrations of the address are used up, 503 if the store is unavailable.
   */
  async admitRegistration(address: string): Promise<void> {
    const key = address === "" ? undefined : `registration ${clientNetwork(address)}`;
    const { waitSeconds } = await this.#take(key, this.#limits.registrations);
    if (waitSeconds > 0) throw tooMany(waitSeconds);
  }

  /** @param key - Undefined if the client is unknown: one of these would use up the attempts of all others. */
  async #take(key: string | undefined, limit: number): Promise<{ count: number; waitSeconds: number }> {
    if (key === undefined) return { count: 0, waitSeconds: 0 };
    const { count, expiresInMs } = await this.#add(key, 1);
    return { count, waitSeconds: count > limit ? Math.max(1, Math.ceil(expiresInMs / 1_000)) : 0 };
  }

  /**
   * Removes an attempt, and a count without one. Attack: rejected attempts at the end of a window would be guesses in the
   * next, and the names of attempts that are not counted would fill the store.
   */
  async #giveBack(key: string | undefined): Promise<void> {
    if (key === undefined) return;
    const { count } = await this.#add(key, -1);
    if (count <= 0) await swapOf(this.#store)(this.#keyOf(key), String(count), null);
  }

  async #add(key: string, by: number): Promise<Count> {
    try {
      return await this.#store.increment(this.#keyOf(key), this.#limits.windowSeconds, by);
    } catch (cause) {
      throw new HTTPException(503, undefined, { cause });
    }
  }

  #keyOf(key: string): string {
    return `throttle:${this.#name}:${key}`;
  }
}

/** The name is stored as its hash: users type their password there, and a name can have any length. */
function keysOf(address: string, name: string): { account: string; address?: string; pair?: string } {
  const account = createHash("sha256").update(name).digest("base64url");
  if (address === "") return { account: `account ${account}` };
  const network = clientNetwork(address);
  return { address: `address ${network}`, account: `account ${account}`, pair: `pair ${network} ${account}` };
}

const tooMany = (seconds: number) => new HTTPException(429, undefined, { headers: { "Retry-After": String(seconds) } });
