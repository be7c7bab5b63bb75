/** One transaction per request, which commits before the response is sent. @module */
import type { Marker } from "tsgi";
import {
  assertOptions,
  createSettling,
  isDependency,
  MAX_TIMER_MS,
  observable,
  oneOf,
  type OptionRules,
  type Settlement,
  type SettlingDependency,
  whole,
} from "tsgi/internals";
import { prismaError } from "./errors.js";
import { openedOf, type OpenTransaction } from "./transaction.js";

/** An isolation level, by its name in Prisma. On SQLite every transaction is serializable. */
export type IsolationLevel = "ReadUncommitted" | "ReadCommitted" | "RepeatableRead" | "Serializable";

/** The options of `transactionOf`. */
export interface RequestTransactionOptions {
  /** Defaults to the level of the database. On SQLite every transaction is serializable. */
  isolation?: IsolationLevel;
  /** Milliseconds after which the transaction is rolled back, and the response is a 503. Defaults to 5,000. */
  timeoutMs?: number;
}

/** The part of a client of `openPrisma` from which the type of its transactions is known. */
interface Transacting {
  transaction(work: never): Promise<unknown>;
}

/** The type of the transactions of a dependency's client. */
export type TransactionOf<D> =
  D extends Marker<{ transaction(work: (tx: infer Tx) => Promise<unknown>): unknown }> ? Tx : never;

/** The transaction of a request, as `Depends` accepts it. */
export type RequestTransaction<D, Tx> = SettlingDependency<{ readonly database: D }, Tx>;

const OPTIONS: OptionRules<RequestTransactionOptions> = {
  isolation: oneOf("ReadUncommitted", "ReadCommitted", "RepeatableRead", "Serializable"),
  timeoutMs: whole(1, MAX_TIMER_MS),
};

/** Prisma's own default. */
const TIMEOUT_MS = 5_000;

/**
 * Makes the dependency of one transaction per request. It begins when the first dependency or handler that takes it is
 * called, commits before the response is sent, and rolls back on any error.
 *
 * @param database - The dependency of a client of `openPrisma`.
 * @throws ConfigurationError if the first argument is not a dependency, or an option is invalid.
 * @example
 * ```ts
 * import { App, Depends, t } from "tsgi";
 * import { openPrisma, transactionOf } from "@tsgi/prisma";
 *
 * interface Client {
 *   user: { create(query: { data: { name: string } }): Promise<{ id: number }> };
 * }
 * // `load` imports the client that Prisma has generated: `() => import("./generated/client.js")`.
 * export function createApp(load: () => Promise<{ PrismaClient: new (options: never) => Client }>) {
 *   const open = async () => openPrisma({ url: "file:./dev.db", sqlite: load });
 *   const transaction = transactionOf(Depends(open, { scope: "app" }));
 *   const app = new App();
 *   const params = { tx: Depends(transaction), user: t.Object({ name: t.String() }) };
 *   app.post("/users", { params }, async ({ tx, user }) => tx.user.create({ data: user }));
 *   return app;
 * }
 * ```
 */
export function transactionOf<const D extends Marker<Transacting>>(
  database: D,
  options: RequestTransactionOptions = {},
): RequestTransaction<D, TransactionOf<D>> {
  if (!isDependency(database)) throw prismaError("TSGI_NO_PRISMA_DATABASE", database);
  assertOptions("transactionOf()", options, OPTIONS);
  const { isolation, timeoutMs = TIMEOUT_MS } = options;
  const transaction = createSettling("transaction", { database }, async ({ database: client }) => {
    const opened = openedOf(client);
    if (opened === null) throw prismaError("TSGI_NO_PRISMA_DATABASE", client);
    return settlementOf<TransactionOf<D>>(await opened.begin({ isolation, timeoutMs }));
  });
  databases.set(transaction, database);
  return transaction;
}

/** The databases of the transactions that were made here. */
const databases = new WeakMap<object, Marker<unknown>>();

/** The database of a transaction; `null` for anything else. */
export function databaseOf(transaction: unknown): Marker<unknown> | null {
  return databases.get(Object(transaction) as object) ?? null;
}

function settlementOf<Tx>(transaction: OpenTransaction): Settlement<Tx> {
  const ended = observable(transaction.client as object);
  return {
    value: transaction.client as Tx,
    failure: transaction.failure,
    confirm: async () => {
      let hasCommitted = false;
      try {
        await transaction.commit();
        hasCommitted = true;
      } finally {
        ended(hasCommitted);
      }
    },
    undo: async (error) => {
      try {
        return await transaction.rollBack(error);
      } finally {
        ended(false);
      }
    },
  };
}
