import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setImmediate as loopTurn } from "node:timers/promises";

import { jest } from "@jest/globals";
import supertest from "supertest";
import { TestClient } from "tsgi/testing";

import { Accounts } from "../src/accounts.js";
import { createApp } from "../src/app.js";
import { loadConfig, type Config } from "../src/config.js";
import { openDatabase, type Database } from "../src/database.js";
import type { DatabaseConfig } from "../src/database/driver.js";
import { migrate } from "../src/database/migrations.js";
import { createLog, type Log } from "../src/logging.js";
import { Passwords } from "../src/security/passwords.js";
import { Throttle } from "../src/security/throttle.js";
import { createTestDatabase } from "./support/databases.js";

// Tests that hash, lock files and start processes take their time on a machine that is busy.
jest.setTimeout(60_000);

/** A key for the tests alone, of the least size that production takes. */
export const SECRET_KEY = "a-key-of-exactly-32-bytes-length";

/** The parameters that a test can afford; the real ones are a test of their own. */
export const CHEAP = { memoryKiB: 1024, passes: 2, lanes: 1 };

/** A folder that is gone at the end of the block that holds it. */
export async function temporaryFolder(): Promise<{ path: string } & AsyncDisposable> {
  const folder = await mkdtemp(path.join(tmpdir(), "sample-auth-app-"));
  return { path: folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

/** The configuration of a test: cheap hashes, a short wait for the database. */
export function configFor(databaseUrl: string, env: Record<string, string> = {}): Config {
  const config = loadConfig({ NODE_ENV: "test", DATABASE_URL: databaseUrl, SECRET_KEY, ...env });
  return { ...config, database: { ...config.database, waitMs: 1_000 }, passwordHashCost: CHEAP };
}

/** A migrated database of its own. */
export async function temporaryDatabase(): Promise<{ db: Database; config: DatabaseConfig } & AsyncDisposable> {
  const { url, drop } = await createTestDatabase();
  const config: DatabaseConfig = { url, waitMs: 1_000, poolSize: 5 };
  await migrate(config);
  const db = await openDatabase(config);
  return {
    db,
    config,
    [Symbol.asyncDispose]: async () => {
      await db.$disconnect();
      await drop();
    },
  };
}

/** A log that keeps its lines. */
export function openLog(): { log: Log; lines: string[] } {
  const lines: string[] = [];
  return { log: createLog({ write: (line) => void lines.push(line) }), lines };
}

/** The password of every user that a test registers. */
export const PASSWORD = "correct horse";

/** What a test may want otherwise. */
type Changes = Partial<Omit<Config, "database">> & { waitMs?: number };

/** The whole application on a port of its own, with a database of its own, and what it logs. */
export async function openApp({ waitMs = 1_000, ...changes }: Changes = {}) {
  const { url, drop } = await createTestDatabase();
  const defaults = configFor(url);
  const config = { ...defaults, ...changes, database: { ...defaults.database, waitMs } };
  await migrate(config.database);
  const { log, lines } = openLog();
  const app = createApp(config, log);
  const client = await TestClient.open(app, { trustedProxies: config.trustedProxies });
  // Not the client's own agent, which keeps cookies: these tests say which cookie they send.
  const request = supertest(client.url);
  const db = await openDatabase(config.database);
  return {
    config,
    db,
    /** Another process's, on the same database. */
    accounts: new Accounts(db, new Passwords(CHEAP), new Throttle()),
    lines,
    request,
    routes: app.routes,
    url: client.url,
    websocket: (target: string) => client.websocket(target),
    register: async (username = "alice", password = PASSWORD) => {
      await request
        .post("/users")
        .send({ username, email: `${username}@example.com`, password })
        .expect(201);
    },
    login: async (username = "alice", password = PASSWORD) => {
      const response = await request.post("/auth/token").type("form").send({ username, password }).expect(200);
      return { token: String(response.body.access_token), cookie: refreshCookieOf(response) };
    },
    [Symbol.asyncDispose]: async () => {
      await client.close();
      await db.$disconnect();
      await drop();
    },
  };
}

/** The cookie that an answer sets, as a browser sends it back. */
export function refreshCookieOf(response: supertest.Response): string {
  return (response.get("Set-Cookie") ?? []).join().replace(/;.*$/, "");
}

/** Looks again and again until something is so. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!(await isSo())) {
    if (performance.now() > deadline) {
      throw new Error("it is not so after 20 s");
    }
    await loopTurn();
  }
}
