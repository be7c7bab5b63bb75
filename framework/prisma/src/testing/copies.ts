/** Copies of a database for tests: a template that has the migrations, and a copy of it for each process. @module */
import { createHash } from "node:crypto";
import type { DatabaseConfig, Driver } from "../driver.js";
import { CREATE_JOBS } from "@tsgi/transactions/testing/internals";
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

/** Identifies the content of a template: it is made again when a migration changes, and with another schema. */
export function templateOf({ driver, config, migrations }: Original): string {
  const { search } = new URL(config.url);
  const parts = [driver.name, fingerprintOf(migrations, driver.name), search, CREATE_JOBS];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
