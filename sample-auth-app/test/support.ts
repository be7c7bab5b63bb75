import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { loadConfig, type Config } from "../src/config.js";
import { openDatabase, type Database } from "../src/database.js";
import { migrate } from "../src/migrations.js";

/** A key for the tests alone, of the least size that production takes. */
export const SECRET_KEY = "a-key-of-exactly-32-bytes-length";

/** The parameters that a test can afford; the real ones are a test of their own. */
export const CHEAP = { memoryKiB: 1024, passes: 2, lanes: 1 };

/** A folder that is gone at the end of the block that holds it. */
export async function temporaryFolder(): Promise<{ path: string } & AsyncDisposable> {
  const folder = await mkdtemp(path.join(tmpdir(), "sample-auth-app-"));
  return { path: folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

/** The configuration of a test: a database file of its own, cheap hashes, a short wait for locks. */
export function configIn(folder: string, env: Record<string, string> = {}): Config {
  const config = loadConfig({ NODE_ENV: "test", DATABASE_URL: `file:${folder}/test.db`, SECRET_KEY, ...env });
  return { ...config, passwordHashCost: CHEAP };
}

/** A migrated database in a file of its own. */
export async function temporaryDatabase(): Promise<{ db: Database; url: string } & AsyncDisposable> {
  const folder = await temporaryFolder();
  const url = `file:${folder.path}/test.db`;
  await migrate(url, 1_000);
  const db = openDatabase(url, 1_000);
  return {
    db,
    url,
    [Symbol.asyncDispose]: async () => {
      await db.$disconnect();
      await folder[Symbol.asyncDispose]();
    },
  };
}
