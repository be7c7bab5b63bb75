/** One transaction per request, which commits before the response is sent. @module */
import type { Marker } from "tsgi";
import {
  createRequestTransaction,
  type RequestTransaction,
  type RequestTransactionOptions,
} from "@tsgi/transactions/internals";
import { isDependency } from "tsgi/internals";
import { prismaError } from "./errors.js";
import { EXAMINE, examineRowSecurity, type Examined } from "./row-security.js";
import { openedOf, type OpenedClient } from "./transaction.js";

export type { IsolationLevel, RequestTransaction, RequestTransactionOptions } from "@tsgi/transactions/internals";

/** The part of a client of `openPrisma` from which the type of its transactions is known. */
interface Transacting {
  transaction(work: never): Promise<unknown>;
}

/** The type of the transactions of a dependency's client. */
export type TransactionOf<D> =
  D extends Marker<{ transaction(work: (tx: infer Tx) => Promise<unknown>): unknown }> ? Tx : never;

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
export function transactionOf<const D extends Marker<Transacting>, const Options extends RequestTransactionOptions>(
  database: D,
  options?: Options,
): RequestTransaction<D, TransactionOf<D>, Options>;
export function transactionOf(database: Marker<Transacting>, options: RequestTransactionOptions = {}): unknown {
  if (!isDependency(database)) throw prismaError("TSGI_NO_PRISMA_DATABASE", database);
  const transaction = createRequestTransaction(database, options, {
    begin: async (client, begin) => openedIn(client).begin(begin),
    assertSettings: (client) => assertPostgreSQL(openedIn(client)),
  });
  databases.set(transaction, database);
  const { locals, role } = options;
  if (locals !== undefined || role !== undefined) {
    const examine = ({ database: client }: { database: unknown }) => examineRowSecurity(openedIn(client), client, role);
    const examined: Examined = { params: { database }, examine };
    Object.defineProperty(transaction, EXAMINE, { value: examined });
  }
  return transaction;
}

function openedIn(client: unknown): OpenedClient {
  const opened = openedOf(client);
  if (opened === null) throw prismaError("TSGI_NO_PRISMA_DATABASE", client);
  return opened;
}

function assertPostgreSQL({ driver }: OpenedClient): void {
  if (driver.name !== "postgresql") throw prismaError("TSGI_TRANSACTION_SETTINGS_SQLITE");
}

/** The databases of the transactions that were made here. */
const databases = new WeakMap<object, Marker<unknown>>();

/** The database of a transaction; `null` for anything else. */
export function databaseOf(transaction: unknown): Marker<unknown> | null {
  return databases.get(Object(transaction) as object) ?? null;
}
