/** A client that `openPrisma` has opened, and its transactions. @module */
import { type BeginOptions, hold, type OpenTransaction, patiently, statementOf } from "@tsgi/transactions/internals";
import { MAX_TIMER_MS } from "tsgi/internals";
import type { DatabaseConfig, Driver } from "./driver.js";
import type { IdempotencyStore, RawClient } from "./idempotency-store.js";

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
  return ({ isolation, timeoutMs, settings }) => {
    const isolationLevel = driver.hasIsolation && isolation !== undefined ? { isolationLevel: isolation } : {};
    // Prisma's own time limit would end a transaction without notifying its owner.
    const options = { timeout: MAX_TIMER_MS, ...isolationLevel };
    const transact = (work: (tx: unknown) => Promise<void>) => client.$transaction(work, options);
    const prepare = async (tx: unknown) => {
      if (settings.length === 0) return;
      const { text, values } = statementOf(settings);
      await (tx as RawClient).$executeRawUnsafe(text, ...values);
    };
    return patiently(() => hold(transact, prepare, { judgement: driver, timeoutMs }), driver.judge, waitMs);
  };
}
