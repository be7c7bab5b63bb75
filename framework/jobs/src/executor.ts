/** The transactions of other libraries, as pg-boss writes in them. @module */
import type { Db } from "pg-boss";
import { isObject, missingPackage } from "tsgi/internals";
import { jobsError } from "./errors.js";
import type { PgBossModule } from "./library.js";

type Method = (...args: readonly unknown[]) => unknown;

function has<Name extends string>(value: object, name: Name): value is { [Key in Name]: Method } {
  return name in value && typeof (value as { [Key in Name]?: unknown })[name] === "function";
}

/**
 * Lets pg-boss write in a transaction, which is recognized by its methods:
 *
 * - Prisma: `$queryRawUnsafe`, even if `transactionOf` has begun it,
 * - Kysely: `executeQuery`,
 * - Drizzle: `execute` and `rollback`,
 * - `pg`: `query` of a client. A pool, which has `totalCount`, would run each statement on any connection.
 *
 * @throws ConfigurationError for anything else.
 */
export async function executorOf(tx: unknown, { fromDrizzle, fromKysely, fromPrisma }: PgBossModule): Promise<Db> {
  const given: unknown = tx;
  if (typeof given !== "function" && !isObject(given)) throw jobsError("TSGI_JOBS_NOT_A_TRANSACTION", tx);
  if (has(given, "$queryRawUnsafe")) return fromPrisma(given as unknown as Parameters<typeof fromPrisma>[0]);
  if (has(given, "executeQuery")) return fromKysely(given as unknown as Parameters<typeof fromKysely>[0]);
  if (has(given, "execute") && has(given, "rollback")) {
    return fromDrizzle(given as unknown as Parameters<typeof fromDrizzle>[0], await drizzleSQL());
  }
  if (has(given, "query") && !("totalCount" in given)) return fromClient(given);
  throw jobsError("TSGI_JOBS_NOT_A_TRANSACTION", tx);
}

/** The tag of Drizzle, without which no statement can have parameters. */
async function drizzleSQL(): Promise<Parameters<PgBossModule["fromDrizzle"]>[1]> {
  // Its types are not there when this is compiled: it is an optional peer, and large.
  const name: string = "drizzle-orm";
  const drizzle: unknown = await import(name).catch(missingPackage(() => jobsError("TSGI_MISSING_DRIZZLE")));
  return (drizzle as { sql: Parameters<PgBossModule["fromDrizzle"]>[1] }).sql;
}

function fromClient(client: { query: Method }): Db {
  return {
    executeSql: async (text: string, values?: unknown[]) => (await client.query(text, values)) as { rows: unknown[] },
  };
}
