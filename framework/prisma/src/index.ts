/** `@tsgi/prisma`: a client of Prisma, opened by its URL, migrated, and patient. @module */
import { prismaError } from "./errors.js";
import path from "node:path";
import { fileURLToPath } from "node:url";
import {
  assertOptions,
  ConnectError,
  expecting,
  FUNCTION,
  MAX_TIMER_MS,
  type OptionRules,
  whole,
} from "tsgi/internals";
import { causeOf, type DatabaseConfig, type Driver } from "./driver.js";
import { applyMigrations, MigrationError } from "./migrations.js";
import { patiently, UnavailableError } from "@tsgi/transactions/internals";
import { IdempotencyStore } from "./idempotency-store.js";
import { currentRedirection } from "./redirection.js";
import { createBegin, setOpened } from "./transaction.js";
import { reportColumns } from "./unique-columns.js";

export { ConnectError, MigrationError, UnavailableError };
export { idempotent, type IdempotentOptions } from "./idempotent.js";
export type { Locals } from "@tsgi/transactions/internals";
export {
  type IsolationLevel,
  type RequestTransaction,
  type RequestTransactionOptions,
  type TransactionOf,
  transactionOf,
} from "./request-transaction.js";

/** The module that `prisma generate` writes, with the generator `prisma-client`. */
export interface PrismaModule<Client> {
  readonly PrismaClient: new (options: never) => Client;
}

/** The options of `openPrisma`. */
export interface PrismaOptions<SQLite, PostgreSQL = unknown> {
  /** `file:` and the path of an SQLite file, or `postgresql://user:password@host/database?schema=name`. */
  url: string;
  /** Imports the client that is generated for SQLite, if the application can have such a database. */
  sqlite?: () => Promise<PrismaModule<SQLite>>;
  /** The same for PostgreSQL. If there are both, of one schema, the client has the type of the one for SQLite. */
  postgresql?: () => Promise<PrismaModule<PostgreSQL>>;
  /**
   * The folder of Prisma's migrations, or one that holds such a folder for each database, `sqlite` and `postgresql`:
   * those that the database lacks are applied. Without it, no migrations are applied, and the client connects at its first
   * query.
   */
  migrations?: URL | string;
  /** Connections to PostgreSQL that this process holds at most. Defaults to 10. */
  poolSize?: number;
  /**
   * Milliseconds that a query waits for the database: for its lock, for a connection, and for the result of each statement.
   * Defaults to 6,000 for SQLite, whose locks pass, and to 2,000 for PostgreSQL. A transaction may last longer.
   */
  waitMs?: number;
  /** Milliseconds for which the migrations are tried again while the database is away. Defaults to 0: once. */
  startMs?: number;
}

const delay = whole(1, MAX_TIMER_MS);
const OPTIONS: OptionRules<PrismaOptions<unknown>> = {
  url: expecting('a URL that begins with "file:" or "postgresql:"', (url) => driverNameOf(url) !== null),
  sqlite: FUNCTION,
  postgresql: FUNCTION,
  migrations: expecting("a folder", (value) => typeof value === "string" || value instanceof URL),
  poolSize: whole(1, 2_147_483_647),
  waitMs: delay,
  startMs: whole(0, MAX_TIMER_MS),
};

/** The client of a transaction: the same models, without the waiting. */
export type Transactional<Client> = Omit<Client, "$connect" | "$disconnect" | "$extends" | "$on" | "$transaction">;

/** The options of `transaction`. */
export interface TransactionOptions {
  /** Milliseconds after which the transaction is rolled back. Defaults to 5,000. */
  timeoutMs?: number;
}

/** A client whose queries wait for a busy database, and throw an `UnavailableError` if it is unavailable. */
export type Patient<Client> = Client & {
  /**
   * Runs `work` in a transaction: all of it takes effect, or none of it. It may run several times, each without effect
   * but the last.
   *
   * @throws UnavailableError when the database cannot be had in time, or when `work` takes longer than `timeoutMs`.
   */
  transaction<T>(work: (tx: Transactional<Client>) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** @throws UnavailableError if the database does not respond. */
  ping(): Promise<void>;
};

/** The type of the client: `never` stands for a database without one. */
type ClientOf<SQLite, PostgreSQL> = [SQLite] extends [never] ? PostgreSQL : SQLite;

/** The parts of a Prisma client that are used here. */
interface AnyClient {
  $extends(extension: object): unknown;
  $transaction(work: (tx: unknown) => Promise<unknown>, options: { timeout: number }): Promise<unknown>;
  $queryRawUnsafe(statement: string): Promise<unknown>;
}

interface Work {
  args: unknown;
  query: (args: unknown) => Promise<unknown>;
}

/** Prisma's own default. */
const TRANSACTION_MS = 5_000;
const TRANSACTION_OPTIONS: OptionRules<TransactionOptions> = { timeoutMs: delay };

/**
 * Opens a client of Prisma by its URL, after it has applied the migrations that are missing. Queries that find the
 * database busy are tried again; if it is unavailable, they throw an `UnavailableError`, which results in 503.
 *
 * @throws ConfigurationError where the packages of the database are not installed, with the command that installs them.
 * @throws MigrationError when a migration that was applied has been changed, or has failed before.
 * @throws ConnectError when PostgreSQL cannot be reached, or refuses the client, with the command that fixes it.
 * @example
 * ```ts
 * import { openPrisma, type PrismaOptions } from "@tsgi/prisma";
 *
 * // `load` imports the client that Prisma has generated: `() => import("./generated/client.js")`.
 * export async function* openDatabase<Client>(load: NonNullable<PrismaOptions<Client>["sqlite"]>) {
 *   yield await openPrisma({ url: "file:./dev.db", sqlite: load, migrations: new URL("./migrations/", import.meta.url) });
 * }
 * ```
 */
export async function openPrisma<SQLite = never, PostgreSQL = unknown>(
  options: PrismaOptions<SQLite, PostgreSQL>,
): Promise<Patient<ClientOf<SQLite, PostgreSQL>>> {
  assertOptions("openPrisma()", options, OPTIONS);
  OPTIONS.url("openPrisma()", "url", options.url);
  const name = driverNameOf(options.url) as Driver["name"];
  const load: (() => Promise<PrismaModule<unknown>>) | undefined = options[name];
  if (load === undefined) throw prismaError("TSGI_NO_PRISMA_CLIENT", name);
  const driver = await loadDriver(name);
  const redirection = currentRedirection();
  const original = { driver, config: configOf(name, options), migrations: pathOf(options.migrations) };
  const { config, migrations } = await redirection.prepare(original);
  if (migrations !== null) await migrate(driver, config, migrations, options.startMs ?? 0);
  const { PrismaClient } = (await load()) as { PrismaClient: new (options: object) => AnyClient };
  const plain = new PrismaClient({
    errorFormat: "minimal", // the other formats print a query with its values
    adapter: redirection.adapt(await reportColumns(driver.createAdapter(config), driver, config)),
    transactionOptions: { maxWait: config.waitMs, timeout: TRANSACTION_MS },
  });
  const client = redirection.extend(plain);
  const wait = <T>(work: () => Promise<T>) => patiently(work, driver.judge, config.waitMs);
  const transaction = async (work: (tx: unknown) => Promise<unknown>, limits: TransactionOptions = {}) => {
    assertOptions("transaction()", limits, TRANSACTION_OPTIONS);
    return wait(() => client.$transaction(work, { timeout: limits.timeoutMs ?? TRANSACTION_MS }));
  };
  const begin = createBegin(client, driver, config.waitMs);
  const responses = new IdempotencyStore(driver, config);
  setOpened(transaction, redirection.replace({ driver, config, begin, responses }));
  const ping = async () => void (await wait(() => client.$queryRawUnsafe("SELECT 1")));
  // The first query takes 200 ms, in which the process serves no other request: it is not one of a user.
  if (migrations !== null) await ping();
  // The extension does not change the type of a query; a client for PostgreSQL accepts everything that SQLite's
  // accepts, and more.
  return client.$extends({
    query: { $allOperations: ({ args, query }: Work) => wait(() => query(args)) },
    client: { transaction, ping },
  }) as Patient<ClientOf<SQLite, PostgreSQL>>;
}

/** The error of a try is thrown, and not that it was the last one: it says what to do. */
async function migrate(driver: Driver, config: DatabaseConfig, home: string, startMs: number): Promise<void> {
  const apply = () => applyMigrations(driver, config, home);
  const judge: Driver["judge"] = (error) => driver.judge(error instanceof MigrationError ? error.cause : error);
  await patiently(apply, judge, startMs, { whileAway: true }).catch((error: unknown) => {
    throw error instanceof UnavailableError ? error.cause : error;
  });
}

function pathOf(folder: URL | string | undefined): string | null {
  if (folder === undefined) return null;
  return folder instanceof URL ? fileURLToPath(folder) : path.resolve(folder);
}

function configOf(name: Driver["name"], { url, poolSize, waitMs }: PrismaOptions<unknown>): DatabaseConfig {
  return { url, poolSize: poolSize ?? 10, waitMs: waitMs ?? (name === "sqlite" ? 6_000 : 2_000) };
}

function driverNameOf(url: unknown): Driver["name"] | null {
  if (typeof url !== "string") return null;
  if (/^file:./.test(url)) return "sqlite";
  return /^postgres(?:ql)?:\/\//.test(url) ? "postgresql" : null;
}

/** The packages of each database in addition to the client. Those of the other one are never loaded. */
const PACKAGES = {
  sqlite: "@prisma/adapter-libsql libsql",
  postgresql: "@prisma/adapter-pg pg",
} as const;

async function loadDriver(name: Driver["name"]): Promise<Driver> {
  try {
    return (await (name === "sqlite" ? import("./sqlite.js") : import("./postgresql.js"))).driver;
  } catch (cause) {
    if ((cause as { code?: unknown }).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw Object.assign(prismaError("TSGI_MISSING_PRISMA_DRIVER", name, PACKAGES[name]), { cause });
  }
}

/** A unique value that exists already. */
export interface UniqueViolation {
  /** The columns of the index, in its order. Empty for an index on an expression, and if they are unknown. */
  fields: string[];
}

/**
 * Returns the columns whose values exist already, or `null` for any other error. Applies to queries of models, to raw queries,
 * and to a commit (`DEFERRABLE INITIALLY DEFERRED`).
 *
 * @example
 * ```ts
 * import { HTTPException } from "tsgi";
 * import { uniqueViolation } from "@tsgi/prisma";
 *
 * export async function insertUser<User>(create: () => Promise<User>): Promise<User> {
 *   try {
 *     return await create();
 *   } catch (error) {
 *     const violation = uniqueViolation(error);
 *     throw violation === null ? error : new HTTPException(409, `Taken: ${violation.fields.join(", ")}`);
 *   }
 * }
 * ```
 */
export function uniqueViolation(error: unknown): UniqueViolation | null {
  const cause = causeOf(error);
  return cause?.kind === "UniqueConstraintViolation" ? { fields: [...(cause.constraint?.fields ?? [])] } : null;
}

/**
 * Tells if a unique value exists already. `uniqueViolation` also returns the columns.
 *
 * @example
 * ```ts
 * import { HTTPException } from "tsgi";
 * import { isUniqueViolation } from "@tsgi/prisma";
 *
 * export async function insertUser<User>(create: () => Promise<User>): Promise<User> {
 *   try {
 *     return await create();
 *   } catch (error) {
 *     throw isUniqueViolation(error) ? new HTTPException(409, "The name is taken") : error;
 *   }
 * }
 * ```
 */
export function isUniqueViolation(error: unknown): boolean {
  return uniqueViolation(error) !== null;
}
