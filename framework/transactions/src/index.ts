/** `@tsgi/transactions`: one transaction per request, for clients of PostgreSQL such as Drizzle and Kysely. @module */
import type { Marker } from "tsgi";
import { isDependency } from "tsgi/internals";
import { type ConnectionPool, judge, LentConnection, type PoolConnection, settingsOf } from "./connection.js";
import { transactionError } from "./errors.js";
import { hold, type OpenTransaction } from "./held.js";
import { patiently, UnavailableError } from "./patience.js";
import {
  type BeginOptions,
  createRequestTransaction,
  type IsolationLevel,
  type RequestTransaction,
  type RequestTransactionOptions,
} from "./request-transaction.js";
import { type Locals, statementOf } from "./settings.js";

export { UnavailableError };
export type { ConnectionPool, IsolationLevel, Locals, PoolConnection, RequestTransaction, RequestTransactionOptions };

/**
 * Runs a transaction of a client on one connection: it commits after `work` has resolved, and rolls back after it has
 * rejected. Every client has such a function.
 */
export type RunTransaction<Connection, Tx> = (
  connection: Connection,
  work: (tx: Tx) => Promise<void>,
) => Promise<unknown>;

/** Makes the dependency of one transaction per request. The database is the dependency of a pool. */
export type TransactionOf<Connection, Tx> = <
  const D extends Marker<ConnectionPool<Connection>>,
  const Options extends RequestTransactionOptions,
>(
  pool: D,
  options?: Options,
) => RequestTransaction<D, Tx, Options>;

/**
 * Makes `transactionOf()` for a client of PostgreSQL that uses connections of `pg`. The transaction begins when the first
 * dependency or handler that takes it is called, commits before the response is sent, and rolls back on any error.
 *
 * @param run - Runs a transaction of the client on one connection.
 * @example
 * ```ts
 * import { Depends } from "tsgi";
 * import { createTransactionOf, type PoolConnection } from "@tsgi/transactions";
 *
 * // Without a library: the transaction is the connection itself.
 * const transactionOf = createTransactionOf<PoolConnection, PoolConnection>(async (connection, work) => {
 *   await connection.query("BEGIN");
 *   try {
 *     await work(connection);
 *     await connection.query("COMMIT");
 *   } catch (error) {
 *     await connection.query("ROLLBACK");
 *     throw error;
 *   }
 * });
 * export const createTransaction = (openPool: () => Promise<{ connect(): Promise<PoolConnection> }>) =>
 *   transactionOf(Depends(openPool, { scope: "app" }), { role: "tenant" });
 * ```
 */
export function createTransactionOf<Connection extends PoolConnection, Tx extends object>(
  run: RunTransaction<Connection, Tx>,
): TransactionOf<Connection, Tx>;
export function createTransactionOf(run: RunTransaction<PoolConnection, object>): unknown {
  const begin = (pool: unknown, options: BeginOptions) => patiently(() => beginOn(pool, run, options), judge, 0);
  return (pool: Marker<unknown>, options: RequestTransactionOptions = {}) => {
    if (!isDependency(pool)) throw transactionError("TSGI_NO_TRANSACTION_POOL", pool);
    return createRequestTransaction(pool, options, { begin });
  };
}

async function beginOn(
  pool: unknown,
  run: RunTransaction<PoolConnection, object>,
  { isolation, timeoutMs, settings }: BeginOptions,
): Promise<OpenTransaction> {
  if (!isPool(pool)) throw transactionError("TSGI_NO_TRANSACTION_POOL", pool);
  const connection = await pool.connect();
  const lent = new LentConnection(connection);
  const client = lent.lend();
  const transact = async (work: (tx: object) => Promise<void>) => {
    try {
      await run(client, work);
    } finally {
      lent.giveBack();
    }
  };
  const prepare = async () => {
    if (isolation !== undefined) await client.query(`SET TRANSACTION ISOLATION LEVEL ${LEVELS[isolation]}`);
    if (settings.length === 0) return;
    const { text, values } = statementOf(settings);
    await client.query(text, [...values]);
    settingsOf.get(connection)?.(settings);
  };
  return hold(transact, prepare, { judgement: lent, timeoutMs });
}

const LEVELS: Readonly<Record<IsolationLevel, string>> = {
  ReadUncommitted: "READ UNCOMMITTED",
  ReadCommitted: "READ COMMITTED",
  RepeatableRead: "REPEATABLE READ",
  Serializable: "SERIALIZABLE",
};

function isPool(pool: unknown): pool is ConnectionPool<PoolConnection> {
  return typeof (Object(pool) as { connect?: unknown }).connect === "function";
}
