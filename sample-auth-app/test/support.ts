import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setImmediate as loopTurn } from "node:timers/promises";

import { it, jest } from "@jest/globals";
import supertest from "supertest";
import { TestClient } from "tsgi/testing";
import { accessLog } from "tsgi/middleware";
import { LoginThrottle, Passwords } from "@tsgi/passwords";

import { Accounts } from "../src/accounts.js";
import { createApp } from "../src/app.js";
import { getSettings, readSettings } from "../src/config.js";
import { connect, createPasswords, openDatabase, type Database } from "../src/database.js";
import { createLog, log as programLog, openLog } from "../src/logging.js";
import { createTestDatabase } from "./support/databases.js";

// Tests that hash, lock files and start processes take their time on a machine that is busy.
jest.setTimeout(300_000);

// The log of the program, which jobs write to. Each application of a test has a separate one.
programLog.level = "silent";

/** A key for only the tests, of the minimum size for production. */
export const SECRET_KEY = "a-key-of-exactly-32-bytes-length";

/** Fast parameters for tests; the real ones have a separate test. */
export const CHEAP = { memoryKiB: 1024, passes: 2, lanes: 1 };

/** A folder that is removed at the end of the surrounding block. */
export async function temporaryFolder(): Promise<{ path: string } & AsyncDisposable> {
  const folder = await mkdtemp(path.join(tmpdir(), "sample-auth-app-"));
  return { path: folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

type Cases<Values extends readonly unknown[]> = (title: string, check: (...values: Values) => unknown) => void;

/** One test for all rows of a table; a failure names its row. */
export function cases<T extends readonly [unknown, ...unknown[]]>(rows: readonly T[]): Cases<T>;
export function cases<T>(rows: readonly T[]): Cases<[T]>;
export function cases(rows: readonly unknown[]): Cases<unknown[]> {
  return (title, check) =>
    // oxlint-disable-next-line jest/expect-expect, jest/valid-title -- the caller's
    it(title, async () => {
      for (const row of rows) {
        try {
          await check(...(Array.isArray(row) ? row : [row]));
        } catch (error) {
          throw new Error(`${JSON.stringify(row)}: ${String(error)}`, { cause: error });
        }
      }
    });
}

/** A separate migrated database. */
export async function temporaryDatabase(): Promise<{ db: Database; url: string } & AsyncDisposable> {
  const { url, drop } = await createTestDatabase();
  const db = await connect(url, { poolSize: 5, waitMs: 1_000 });
  return {
    db,
    url,
    [Symbol.asyncDispose]: async () => {
      await db.$disconnect();
      await drop();
    },
  };
}

/** A log that keeps its lines. */
export function openTestLog() {
  const lines: string[] = [];
  return { log: createLog({ write: (line) => void lines.push(line) }), lines };
}

/** The password of every user that a test registers. */
export const PASSWORD = "correct horse";

/** The whole application on a separate port, with a separate database, and its log. */
export async function openApp({ env = {}, waitMs = 30_000 }: { env?: Record<string, string>; waitMs?: number } = {}) {
  const { url, drop } = await createTestDatabase();
  const settings = readSettings({ NODE_ENV: "test", DATABASE_URL: url, SECRET_KEY, ...env });
  const { log, lines } = openTestLog();
  const accesses: string[] = [];
  const app = createApp(log, { access: accessLog({ write: (line) => void accesses.push(line) }) });
  const overrides = app.dependencyOverrides;
  overrides.set(getSettings, async () => settings);
  overrides.set(openLog, async () => log);
  overrides.set(createPasswords, async () => new Passwords(CHEAP));
  overrides.set(openDatabase, async function* openTestDatabase() {
    const db = await connect(settings.databaseUrl, { waitMs });
    yield db;
    await db.$disconnect();
  });
  const { trustedProxies, clientAddressHeader } = settings;
  const client = await TestClient.open(app, { trustedProxies, clientAddressHeader });
  // Not the client's own agent, which keeps cookies: these tests say which cookie they send.
  const request = supertest(client.url);
  const db = await connect(settings.databaseUrl, { waitMs: 1_000 });
  return {
    db,
    /** Another process's, on the same database. */
    accounts: new Accounts(db, new Passwords(CHEAP), new LoginThrottle()),
    lines,
    /** Lines of the access log. */
    accesses,
    request,
    routes: app.routes,
    url: client.url,
    databaseUrl: settings.databaseUrl,
    websocket: client.websocket.bind(client),
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

/** The cookie of a response, as a browser sends it back. */
export function refreshCookieOf(response: supertest.Response): string {
  return (response.get("Set-Cookie") ?? []).join().replace(/;.*$/, "");
}

/** Lets the event loop turn until a condition is true. A test's time limit ends it. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) {
    await loopTurn();
  }
}
