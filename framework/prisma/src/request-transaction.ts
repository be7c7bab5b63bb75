/** One transaction per request, which commits before the response is sent. @module */
import { Depends, type Marker, withParams } from "tsgi";
import {
  assertOptions,
  createTransactional,
  expecting,
  isDependency,
  MAX_TIMER_MS,
  observable,
  oneOf,
  type OptionRules,
  type Transaction,
  type TransactionalDependency,
  whole,
} from "tsgi/internals";
import { prismaError } from "./errors.js";
import { EXAMINE, examineRowSecurity, type Examined } from "./row-security.js";
import { openedOf, type OpenedClient, type OpenTransaction } from "./transaction.js";
import { isRole, type Locals, localsOf, roleOf, type SettingParams } from "./transaction-settings.js";

/** An isolation level, by its name in Prisma. On SQLite every transaction is serializable. */
export type IsolationLevel = "ReadUncommitted" | "ReadCommitted" | "RepeatableRead" | "Serializable";

/** The options of `transactionOf`. */
export interface RequestTransactionOptions {
  /** Defaults to the level of the database. On SQLite every transaction is serializable. */
  isolation?: IsolationLevel;
  /** Milliseconds after which the transaction is rolled back, and the response is a 503. Defaults to 5,000. */
  timeoutMs?: number;
  /**
   * Settings of the transaction for policies of row-level security, on PostgreSQL: a dependency that returns names and
   * strings, such as `{ "app.tenant": user.tenant }`. They end with the transaction.
   */
  locals?: Marker<Locals>;
  /** The role of the transaction, on PostgreSQL: its name, or a dependency that returns it. It ends with the transaction. */
  role?: string | Marker<string>;
}

/** The part of a client of `openPrisma` from which the type of its transactions is known. */
interface Transacting {
  transaction(work: never): Promise<unknown>;
}

/** The type of the transactions of a dependency's client. */
export type TransactionOf<D> =
  D extends Marker<{ transaction(work: (tx: infer Tx) => Promise<unknown>): unknown }> ? Tx : never;

/** The transaction of a request, as `Depends` accepts it. */
export type RequestTransaction<D, Tx, Options = {}> = TransactionalDependency<
  { readonly database: D } & SettingParams<Options>,
  Tx
>;

const OPTIONS: OptionRules<RequestTransactionOptions> = {
  isolation: oneOf("ReadUncommitted", "ReadCommitted", "RepeatableRead", "Serializable"),
  timeoutMs: whole(1, MAX_TIMER_MS),
  locals: expecting("a dependency: Depends(getLocals)", isDependency),
  role: expecting(
    "the name of a role that is not reserved, or a dependency",
    (role) => isRole(role) || isDependency(role),
  ),
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
export function transactionOf<const D extends Marker<Transacting>, const Options extends RequestTransactionOptions>(
  database: D,
  options?: Options,
): RequestTransaction<D, TransactionOf<D>, Options>;
export function transactionOf(database: Marker<Transacting>, options: RequestTransactionOptions = {}): unknown {
  if (!isDependency(database)) throw prismaError("TSGI_NO_PRISMA_DATABASE", database);
  assertOptions("transactionOf()", options, OPTIONS);
  const { isolation, timeoutMs = TIMEOUT_MS, locals, role } = options;
  const hasSettings = locals !== undefined || role !== undefined;
  const params = {
    database,
    ...(locals && { locals }),
    ...(typeof role === "object" && { role }),
    ...(hasSettings && isOfApplication(database) && { settings: postgreSQLOf(database) }),
  };
  const transaction = createTransactional("transaction", params, async (args: Readonly<Record<string, unknown>>) => {
    const opened = openedIn(args["database"]);
    if (hasSettings) assertPostgreSQL(opened);
    const settings = [
      ...(locals === undefined ? [] : localsOf(args["locals"])),
      ...(role === undefined ? [] : roleOf(typeof role === "object" ? args["role"] : role)),
    ];
    return asTransaction(await opened.begin({ isolation, timeoutMs, settings }));
  });
  databases.set(transaction, database);
  if (hasSettings) {
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

/** Tells if a dependency is there when the application starts. */
function isOfApplication(database: Marker<unknown>): boolean {
  return Reflect.get(database, "scope") === "app";
}

/** Checks the database when the application starts, not at the first request. */
function postgreSQLOf(database: Marker<unknown>) {
  const checkSettings = withParams({ client: database }, async ({ client }) => assertPostgreSQL(openedIn(client)));
  return Depends(checkSettings, { scope: "app" });
}

/** The databases of the transactions that were made here. */
const databases = new WeakMap<object, Marker<unknown>>();

/** The database of a transaction; `null` for anything else. */
export function databaseOf(transaction: unknown): Marker<unknown> | null {
  return databases.get(Object(transaction) as object) ?? null;
}

function asTransaction(transaction: OpenTransaction): Transaction<unknown> {
  const ended = observable(transaction.client as object);
  return {
    value: transaction.client,
    failure: transaction.failure,
    commit: async () => {
      let hasCommitted = false;
      try {
        await transaction.commit();
        hasCommitted = true;
      } finally {
        ended(hasCommitted);
      }
    },
    rollBack: async (error) => {
      try {
        return await transaction.rollBack(error);
      } finally {
        ended(false);
      }
    },
  };
}
