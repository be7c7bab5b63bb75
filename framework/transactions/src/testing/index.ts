/**
 * `@tsgi/transactions/testing`: a sandbox for tests. Each process has a copy of the database, and each test a transaction that
 * is rolled back. Import it in tests only.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import type { Pool } from "pg";
import type { Marker } from "tsgi";
import { expecting, FUNCTION, type OptionRules } from "tsgi/internals";
import { transactionError } from "../errors.js";
import { PoolConnection } from "./pool.js";
import { isApplicationScoped, openOnly, type Sandbox, type SandboxOptions } from "./sandbox.js";

export { closeSandboxes, type Sandbox, type SandboxOptions, type SandboxTarget } from "./sandbox.js";
export type { SandboxJob } from "./jobs.js";

/** The options of `openSandbox`. */
export interface PoolSandboxOptions extends SandboxOptions {
  /** The folder of your migrations. If one of its files changes, the template is made again. */
  migrations: URL | string;
  /** Applies the migrations to an empty database. */
  migrate: (pool: Pool) => Promise<unknown>;
}

const OPTIONS: OptionRules<Pick<PoolSandboxOptions, "migrations" | "migrate">> = {
  migrations: expecting("a folder", (value) => typeof value === "string" || value instanceof URL),
  migrate: FUNCTION,
};

/**
 * Opens a sandbox: a copy of the database, in which each test is a transaction. Open it before your application starts.
 *
 * @param pool - The dependency of a pool of `pg`, with scope `"app"`.
 * @throws ConfigurationError if this process has a sandbox already, or the database's user cannot create databases.
 * @example
 * ```ts
 * import { readFile } from "node:fs/promises";
 * import { after, afterEach } from "node:test";
 * import type { Pool } from "pg";
 * import type { App, Marker } from "tsgi";
 * import { closeSandboxes, openSandbox } from "@tsgi/transactions/testing";
 *
 * export async function useSandbox(app: App, pool: Marker<Pool>) {
 *   const migrate = async (empty: Pool) => empty.query(await readFile("migrations/notes.sql", "utf8"));
 *   const sandbox = await openSandbox(pool, { app, migrations: "migrations", migrate });
 *   afterEach(() => sandbox.rollback());
 *   after(() => closeSandboxes());
 *   return sandbox;
 * }
 * ```
 */
export async function openSandbox(pool: Marker<Pool>, options: PoolSandboxOptions): Promise<Sandbox<Pool>> {
  if (!isApplicationScoped(pool)) throw transactionError("TSGI_SANDBOX_POOL");
  const { app, migrations, migrate } = options;
  for (const name of ["migrations", "migrate"] as const) OPTIONS[name]("openSandbox()", name, options[name]);
  const folder = migrations instanceof URL ? fileURLToPath(migrations) : migrations;
  return openOnly(pool, app === undefined ? {} : { app }, new PoolConnection({ migrations: folder, migrate }));
}
