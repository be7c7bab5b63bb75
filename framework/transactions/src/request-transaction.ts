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
import type { OpenTransaction } from "./held.js";
import { isRole, type Locals, localsOf, roleOf, type SettingParams, type Settings } from "./settings.js";

/** A level of the SQL standard. */
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

/** The transaction of a request, as `Depends` accepts it. */
export type RequestTransaction<D, Tx, Options = {}> = TransactionalDependency<
  { readonly database: D } & SettingParams<Options>,
  Tx
>;

/** The options of one transaction. */
export interface BeginOptions {
  readonly isolation: IsolationLevel | undefined;
  readonly timeoutMs: number;
  readonly settings: Settings;
}

/** The way of beginning transactions. */
export interface Source {
  /** @param database - The value of the dependency. */
  begin(database: unknown, options: BeginOptions): Promise<OpenTransaction>;
  /** @throws ConfigurationError if the transactions of a database cannot have settings. */
  assertSettings?(database: unknown): void;
}

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

/** Makes the dependency of one transaction per request. @throws ConfigurationError for an invalid option. */
export function createRequestTransaction(
  database: Marker<unknown>,
  options: RequestTransactionOptions,
  source: Source,
): TransactionalDependency<{ readonly database: Marker<unknown> }, unknown> {
  assertOptions("transactionOf()", options, OPTIONS);
  const { isolation, timeoutMs = TIMEOUT_MS, locals, role } = options;
  const hasSettings = locals !== undefined || role !== undefined;
  const check = hasSettings ? source.assertSettings?.bind(source) : undefined;
  const params = {
    database,
    ...(locals && { locals }),
    ...(typeof role === "object" && { role }),
    ...(check !== undefined && isOfApplication(database) && { settings: checked(database, check) }),
  };
  return createTransactional("transaction", params, async (args: Readonly<Record<string, unknown>>) => {
    check?.(args["database"]);
    const settings = [
      ...(locals === undefined ? [] : localsOf(args["locals"])),
      ...(role === undefined ? [] : roleOf(typeof role === "object" ? args["role"] : role)),
    ];
    return asTransaction(await source.begin(args["database"], { isolation, timeoutMs, settings }));
  });
}

/** Tells if a dependency is there when the application starts. */
function isOfApplication(database: Marker<unknown>): boolean {
  return Reflect.get(database, "scope") === "app";
}

/** Checks the database when the application starts, not at the first request. */
function checked(database: Marker<unknown>, check: (database: unknown) => void) {
  const checkSettings = withParams({ client: database }, async ({ client }) => check(client));
  return Depends(checkSettings, { scope: "app" });
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
