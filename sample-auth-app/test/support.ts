import { existsSync } from "node:fs";

import { afterAll, jest } from "@jest/globals";
import supertest from "supertest";
import { accessLog } from "tsgi/middleware";
import { TestClient } from "tsgi/testing";
import { Passwords } from "@tsgi/passwords";
import { closeSandboxes, openSandbox } from "@tsgi/prisma/testing";

import { createApp } from "../src/app.js";
import { getSettings, readSettings, type Settings } from "../src/config.js";
import { createPasswords, database } from "../src/database.js";
import { jobs } from "../src/extras/jobs/index.js"; // with jobs
import { createLog, log as programLog, openLog } from "../src/logging.js";

if (existsSync(".env")) {
  process.loadEnvFile();
}

// The log of the process, which jobs write to.
programLog.level = "silent";

// The first test of a file compiles the database client.
jest.setTimeout(30_000);

/** The password of each user that a test registers. */
export const PASSWORD = "correct horse";

/** A hash in tests takes less than a millisecond. */
const CHEAP = { memoryKiB: 64, passes: 2, lanes: 1 };

async function open() {
  const sandbox = await openSandbox(database);
  sandbox.use(jobs); // with jobs
  return sandbox;
}

/** The copy of the database, for the tests of one file. */
let opened: ReturnType<typeof open> | null = null;
afterAll(() => closeSandboxes());

/**
 * Starts the application on a free port, with an empty database. The rows of a test are rolled back at its end, so do not
 * expect certain ids. Ends at the end of the block: `await using app = await openApp();`
 *
 * @param changed - settings that differ from the environment
 */
export async function openApp(changed: Partial<Settings> = {}) {
  const sandbox = await (opened ??= open());
  const settings = { ...readSettings(), ...changed };
  const lines: string[] = [];
  const accesses: string[] = [];
  const log = createLog({ write: (line) => void lines.push(line) });
  const access = accessLog({ write: (line) => void accesses.push(line) });
  const app = createApp(log, access);
  sandbox.use(app);
  app.dependencyOverrides.set(getSettings, async () => settings);
  app.dependencyOverrides.set(openLog, async () => log);
  app.dependencyOverrides.set(createPasswords, async () => new Passwords(CHEAP));
  const { trustedProxies, clientAddressHeader } = settings;
  const client = await TestClient.open(app, { trustedProxies, clientAddressHeader });
  // The agent of the client would keep cookies: these tests send them explicitly.
  const request = supertest(client.url);
  return {
    db: sandbox.db,
    sandbox,
    /** The log, one line of JSON per entry. */
    lines,
    /** The access log. */
    accesses,
    request,
    routes: app.routes,
    url: client.url,
    websocket: client.websocket.bind(client),
    register: async (username = "alice", password = PASSWORD) => {
      const user = { username, email: `${username}@example.com`, password };
      await request.post("/users").send(user).expect(201);
    },
    login: async (username = "alice", password = PASSWORD) => {
      const response = await request.post("/auth/token").type("form").send({ username, password }).expect(200);
      return { token: String(response.body.access_token), cookie: refreshCookieOf(response) };
    },
    [Symbol.asyncDispose]: async () => {
      await client.close();
      await sandbox.rollback();
    },
  };
}

/** The cookie of a response, as a browser sends it back. */
export function refreshCookieOf(response: supertest.Response): string {
  return (response.get("Set-Cookie") ?? []).join().replace(/;.*$/, "");
}
