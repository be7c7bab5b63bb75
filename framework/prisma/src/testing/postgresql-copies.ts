/** Copies of a database of PostgreSQL. @module */
import { copyPostgreSQL as copyDatabase, urlOf } from "@tsgi/transactions/testing/internals";
import { schemaOf } from "../driver.js";
import { createTable } from "../idempotency-store.js";
import { applyMigrations } from "../migrations.js";
import { connectErrorOf } from "../postgresql.js";
import { type Copy, type Original, templateOf } from "./copies.js";

/** Makes a copy of the template next to the configured database, and the template if it is missing or stale. */
export async function copyPostgreSQL(opening: Original): Promise<Copy> {
  const { driver, config, migrations } = opening;
  const of = (name: string | null) => (name === null ? config.url : urlOf(config.url, name));
  const copy = await copyDatabase({
    configOf: (database) => ({ connectionString: of(database) }),
    schema: schemaOf(config.url),
    tables: createTable("BYTEA"),
    fingerprint: templateOf(opening),
    migrate: async (template) => void (await applyMigrations(driver, { ...config, url: of(template) }, migrations)),
    errorOf: connectErrorOf,
  });
  return { config: { ...config, url: of(copy.name), poolSize: 1, canExit: true }, drop: () => copy.drop() };
}
