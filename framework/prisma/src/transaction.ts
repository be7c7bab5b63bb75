/** A transaction that is open from `begin` to `commit` or `rollBack`, and not for the time of a callback. @module */
import { Deferred, MAX_TIMER_MS } from "tsgi/internals";
import type { DatabaseConfig, Driver } from "./driver.js";
import type { IdempotencyStore, RawClient } from "./idempotency-store.js";
import { patiently, RolledBackError, UnavailableError } from "./patience.js";
import { applySettings, type Settings } from "./transaction-settings.js";

/** The options of one transaction. */
export interface BeginOptions {
  readonly isolation: string | undefined;
  readonly timeoutMs: number;
  readonly settings: Settings;
}

/** A transaction that has begun. */
export interface OpenTransaction {
  /** Prisma's client of the transaction. */
  readonly client: unknown;
  /** Rejects after `timeoutMs`, when the transaction is being rolled back. */
  readonly failure: Promise<never>;
  /** @throws UnavailableError if the database is unavailable, if another transaction has taken precedence, or after `timeoutMs`. */
  commit(): Promise<void>;
  /** Returns the error to rethrow: an `UnavailableError` if the database should be tried again. */
  rollBack(cause: unknown): Promise<unknown>;
}

/** Begins a transaction, after a wait for a database that is busy. */
export type Begin = (options: BeginOptions) => Promise<OpenTransaction>;

/** A client of Prisma that can run a transaction. */
interface TransactingClient {
  $transaction(work: (tx: unknown) => Promise<unknown>, options: object): Promise<unknown>;
}

/** A client that `openPrisma` has opened. */
export interface OpenedClient {
  readonly driver: Driver;
  readonly config: DatabaseConfig;
  readonly begin: Begin;
  readonly responses: IdempotencyStore;
}

/** By the method `transaction` of a client: an extended client of Prisma is another object with the same method. */
const openedClients = new WeakMap<object, OpenedClient>();

/** Keeps the parts of a client. */
export function setOpened(method: object, opened: OpenedClient): void {
  openedClients.set(method, opened);
}

/** The parts of a client; `null` for a client that `openPrisma` has not opened. */
export function openedOf(client: unknown): OpenedClient | null {
  const method = (Object(client) as { transaction?: unknown }).transaction;
  return typeof method === "function" ? (openedClients.get(method) ?? null) : null;
}

/** Makes what begins the transactions of a client. */
export function createBegin(client: TransactingClient, driver: Driver, waitMs: number): Begin {
  return ({ isolation, ...request }) => {
    const isolationLevel = driver.hasIsolation && isolation !== undefined ? { isolationLevel: isolation } : {};
    // Prisma's own time limit would end a transaction without notifying its owner.
    const options = { timeout: MAX_TIMER_MS, ...isolationLevel };
    return patiently(() => start(client, driver, options, request), driver.judge, waitMs);
  };
}

/** Prisma's transaction lasts as long as a callback. This one waits for the end. */
function start(
  client: TransactingClient,
  driver: Driver,
  options: object,
  { timeoutMs, settings }: Omit<BeginOptions, "isolation">,
): Promise<OpenTransaction> {
  return new Promise((resolve, reject) => {
    const end = new Deferred<void>();
    const done = client.$transaction(async (tx) => {
      await applySettings(tx as RawClient, settings);
      resolve(new PrismaTransaction(tx, { end, done }, driver, timeoutMs));
      await end.promise;
    }, options);
    done.catch(reject);
  });
}

/** The end of Prisma's callback, and of what Prisma does then. */
interface Ending {
  readonly end: Deferred<void>;
  readonly done: Promise<unknown>;
}

class PrismaTransaction implements OpenTransaction {
  readonly client: unknown;
  readonly #ending: Ending;
  readonly #driver: Driver;
  readonly #failure = new Deferred<never>();
  readonly #timer: ReturnType<typeof setTimeout>;
  /** The error after `timeoutMs`; `null` before. */
  #expired: UnavailableError | null = null;

  constructor(client: unknown, ending: Ending, driver: Driver, timeoutMs: number) {
    this.client = client;
    this.#ending = ending;
    this.#driver = driver;
    this.#timer = setTimeout(() => this.#expire(timeoutMs), timeoutMs);
  }

  get failure(): Promise<never> {
    return this.#failure.promise;
  }

  #expire(timeoutMs: number): void {
    this.#expired = new UnavailableError(new Error(`The transaction took longer than ${timeoutMs} ms.`));
    this.#ending.end.reject(this.#expired);
    this.#failure.reject(this.#expired);
  }

  async commit(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#expired !== null) throw await this.rollBack(this.#expired);
    this.#ending.end.resolve();
    try {
      await this.#ending.done;
    } catch (error) {
      throw this.#toResponse(error);
    }
  }

  async rollBack(cause: unknown): Promise<unknown> {
    clearTimeout(this.#timer);
    this.#ending.end.reject(cause);
    await this.#ending.done.catch(() => {
      // The reason of the rollback, or a connection that is lost, which has rolled back too.
    });
    return this.#expired ?? this.#toResponse(cause);
  }

  /** Only an error of the database is judged: the code of another service's `ECONNREFUSED` is the same. */
  #toResponse(error: unknown): unknown {
    const isOfDatabase = error instanceof RolledBackError || this.#driver.isOwn(error);
    return isOfDatabase && this.#driver.judge(error) !== "fault" ? new UnavailableError(error) : error;
  }
}
