import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { jest } from "@jest/globals";
import supertest from "supertest";
import { TestClient } from "tsgi/testing";

import { createApp } from "../src/app.js";
import { loadConfig, type Config } from "../src/config.js";
import { openDatabase, type Database } from "../src/database.js";
import { createLog } from "../src/logging.js";
import { migrate } from "../src/migrations.js";

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

/** The password of every user that a test registers. */
export const PASSWORD = "correct horse";

/** The whole application on a port of its own, with a database file of its own, and what it logs. */
export async function openApp(changes: Partial<Config> = {}) {
  const folder = await temporaryFolder();
  const config = { ...configIn(folder.path), ...changes };
  await migrate(config.databaseUrl, config.databaseBusyMs);
  const lines: string[] = [];
  const app = createApp(
    config,
    createLog((line) => lines.push(line)),
  );
  const client = await TestClient.open(app);
  // Not the client's own agent, which keeps cookies: these tests say which cookie they send.
  const request = supertest(client.url);
  const db = openDatabase(config.databaseUrl, config.databaseBusyMs);
  return {
    config,
    db,
    lines,
    request,
    routes: app.routes,
    url: client.url,
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
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** The cookie that an answer sets, as a browser sends it back. */
export function refreshCookieOf(response: supertest.Response): string {
  return (response.get("Set-Cookie") ?? []).join().replace(/;.*$/, "");
}
