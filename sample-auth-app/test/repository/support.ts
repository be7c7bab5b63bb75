import { setImmediate as loopTurn } from "node:timers/promises";

import supertest from "supertest";
import { TestClient } from "tsgi/testing";
import { accessLog } from "tsgi/middleware";
import { LoginThrottle, Passwords } from "@tsgi/passwords";

import { Accounts } from "../../src/accounts.js";
import { createApp } from "../../src/app.js";
import { getSettings, readSettings } from "../../src/config.js";
import { createPasswords, openDatabase } from "../../src/database.js";
import { createLog, log as programLog, openLog } from "../../src/logging.js";
import { CHEAP, PASSWORD, SECRET_KEY } from "./support/constants.js";
import { closeClients, openClients, takeDatabase } from "./support/databases.js";

// The log of the program, which jobs write to. Each application of a test has a separate one.
programLog.level = "silent";

/** A log that keeps its lines. */
export function openTestLog() {
  const lines: string[] = [];
  return { log: createLog({ write: (line) => void lines.push(line) }), lines };
}

/** The options of `openApp`. */
interface AppOptions {
  /** Settings. A `DATABASE_URL` replaces the database of the test file. */
  env?: Record<string, string>;
  /** Milliseconds that the application waits for its database. */
  waitMs?: number;
}

/** The whole application on a separate port, with empty tables, and its log. */
export async function openApp({ env = {}, waitMs }: AppOptions = {}) {
  const taken = await takeDatabase();
  const isOwn = "DATABASE_URL" in env || waitMs !== undefined;
  const database = isOwn ? await openClients(env["DATABASE_URL"] ?? taken.url, waitMs) : taken;
  const settings = readSettings({ NODE_ENV: "test", DATABASE_URL: database.url, SECRET_KEY, ...env });
  const { log, lines } = openTestLog();
  const accesses: string[] = [];
  const app = createApp(log, accessLog({ write: (line) => void accesses.push(line) }));
  const overrides = app.dependencyOverrides;
  overrides.set(getSettings, async () => settings);
  overrides.set(openLog, async () => log);
  overrides.set(createPasswords, async () => new Passwords(CHEAP));
  overrides.set(openDatabase, async function openTestDatabase() {
    return database.ofApp;
  });
  const { trustedProxies, clientAddressHeader } = settings;
  const client = await TestClient.open(app, { trustedProxies, clientAddressHeader });
  // Not the client's own agent, which keeps cookies: these tests say which cookie they send.
  const request = supertest(client.url);
  const db = database.ofTest;
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
      if (isOwn) {
        await closeClients(database);
      }
      await taken[Symbol.asyncDispose]();
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
