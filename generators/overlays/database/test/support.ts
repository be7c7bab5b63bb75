// {{#sqlite}}
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

// {{/sqlite}}
// {{#postgresql}}
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";

// {{/postgresql}}
import { jest } from "@jest/globals";
import { TestClient } from "tsgi/testing";

import { app } from "../src/app.js";
import { connect, openDatabase } from "../src/database.js";
// {{#postgresql}}
import { readSettings } from "../src/settings.js";

if (existsSync(".env")) {
  process.loadEnvFile();
}
// {{/postgresql}}

// {{#sqlite}}
/** A database in a new file. */
async function openTestDatabase() {
  const folder = await mkdtemp(path.join(tmpdir(), "{{databaseName}}-"));
  const db = await connect(`file:${folder}/test.db`);
  const drop = async () => {
    await db.$disconnect();
    await rm(folder, { recursive: true, force: true });
  };
  return { db, drop };
}
// {{/sqlite}}
// {{#postgresql}}
/** A new schema in the database of `TEST_DATABASE_URL`, or else of `DATABASE_URL`. */
async function openTestDatabase() {
  const url = new URL(process.env["TEST_DATABASE_URL"] ?? readSettings().databaseUrl);
  const schema = `test_${randomUUID().replaceAll("-", "")}`;
  url.searchParams.set("schema", schema);
  const db = await connect(url.href, { poolSize: 2 });
  const drop = async () => {
    await db.$executeRawUnsafe(`DROP SCHEMA "${schema}" CASCADE`);
    await db.$disconnect();
  };
  return { db, drop };
}
// {{/postgresql}}

// The first test of a file compiles the client.
jest.setTimeout(30_000);

/**
 * The application with an empty database. `request` and `url` reach it on a free port; `app.fetch` calls it in this process.
 */
export async function openApp() {
  const { db, drop } = await openTestDatabase();
  app.dependencyOverrides.set(openDatabase, async () => db);
  const request = await TestClient.open(app);
  return {
    db,
    request,
    url: request.url,
    websocket: request.websocket.bind(request),
    [Symbol.asyncDispose]: async () => {
      await app.fetch.close();
      await request.close();
      app.dependencyOverrides.delete(openDatabase);
      await drop();
    },
  };
}
