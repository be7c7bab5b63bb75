/** The transactions of other libraries, as pg-boss writes in them. @module */
import type { Db } from "pg-boss";
import { isObject } from "tsgi/internals";
import { jobsError } from "./errors.js";
import type { PgBossModule } from "./library.js";

type Method = (...args: readonly unknown[]) => unknown;

function has<Name extends string>(value: object, name: Name): value is { [Key in Name]: Method } {
  return name in value && typeof (value as { [Key in Name]?: unknown })[name] === "function";
}

/**
 * Lets pg-boss write in a transaction, which is recognized by its methods:
 *
 * - Prisma: `$queryRawUnsafe` without `$connect`, even if `transactionOf` has begun it,
 * - Kysely: `executeQuery`, and `isTransaction`,
 * - Drizzle: `execute` and `rollback`,
 * - `pg`: `query` of a client. A pool, which has `totalCount`, would run each statement on any connection.
 *
 * @throws ConfigurationError for anything else.
 */
export function executorOf(tx: unknown, { fromKysely, fromPrisma }: PgBossModule): Db {
  const given: unknown = tx;
  if (typeof given !== "function" && !isObject(given)) throw jobsError("TSGI_JOBS_NOT_A_TRANSACTION", tx);
  if (has(given, "$queryRawUnsafe") && !has(given, "$connect"))
    return fromPrisma(given as unknown as Parameters<typeof fromPrisma>[0]);
  if (has(given, "executeQuery") && "isTransaction" in given && given.isTransaction === true)
    return fromKysely(given as unknown as Parameters<typeof fromKysely>[0]);
  if (has(given, "execute") && has(given, "rollback")) return fromDrizzle(given);
  if (has(given, "query") && !("totalCount" in given)) return fromClient(given);
  throw jobsError("TSGI_JOBS_NOT_A_TRANSACTION", tx);
}

/**
 * Drizzle builds the text of a query by `toQuery()`, so a query that is its own builder needs no import of `drizzle-orm`. pg-boss's
 * adapter requires its tag `sql`, of the copy that the application uses.
 */
function fromDrizzle(tx: { execute: Method }): Db {
  return {
    executeSql: async (text: string, values: unknown[] = []) => {
      const query = { getSQL: () => query, toQuery: () => ({ sql: text, params: values }) };
      const result: unknown = await tx.execute(query);
      return Array.isArray(result) ? { rows: result } : (result as { rows: unknown[] });
    },
  };
}

function fromClient(client: { query: Method }): Db {
  return {
    executeSql: async (text: string, values?: unknown[]) => (await client.query(text, values)) as { rows: unknown[] },
  };
}
