/** Copies of a database for tests: a template that has the migrations, and a copy of it for each process. @module */
import { createHash } from "node:crypto";
import type { DatabaseConfig, Driver } from "../driver.js";
import { fingerprintOf } from "../migrations.js";

/** A copy of a database. */
export interface Copy {
  readonly config: DatabaseConfig;
  /** Removes it. */
  drop(): Promise<void>;
}

/** The database that is copied. */
export interface Original {
  readonly driver: Driver;
  readonly config: DatabaseConfig;
  /** The folder of the migrations. */
  readonly migrations: string;
}

/** The jobs of a sandbox, in the order in which they were enqueued. The same statement works on both databases. */
export const CREATE_JOBS = `CREATE TABLE IF NOT EXISTS "tsgi_sandbox_jobs" (
  "id" TEXT NOT NULL PRIMARY KEY,
  "place" INTEGER NOT NULL,
  "name" TEXT NOT NULL,
  "key" TEXT,
  "envelope" TEXT NOT NULL
)`;

/** Identifies the content of a template: it is made again when a migration changes, and with another schema. */
export function templateOf({ driver, config, migrations }: Original): string {
  const { search } = new URL(config.url);
  const parts = [driver.name, fingerprintOf(migrations, driver.name), search, CREATE_JOBS];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** Adds to a name, which PostgreSQL limits to 63 bytes. @param room - Bytes that are added later. */
export function extend(name: string, ending: string, room = 0): string {
  const bytes = Buffer.from(name).subarray(0, 63 - ending.length - room);
  return bytes.toString().replace(/\uFFFD+$/, "") + ending;
}
