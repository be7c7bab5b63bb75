// {{#postgresql}}
import { existsSync } from "node:fs";

// {{/postgresql}}
import { afterAll, jest } from "@jest/globals";
import { closeSandboxes, openSandbox } from "@tsgi/prisma/testing";
import { TestClient } from "tsgi/testing";

import { app } from "../src/app.js";
import { database } from "../src/database.js";

// {{#postgresql}}
if (existsSync(".env")) {
  process.loadEnvFile();
}

// {{/postgresql}}
// The first test of a file compiles the client.
jest.setTimeout(30_000);

/** A copy of the database, for the tests of one file. */
const openOnce = () => openSandbox(database, { app });
let opened: ReturnType<typeof openOnce> | null = null;
afterAll(() => closeSandboxes());

/**
 * The application with an empty database: the rows of a test are rolled back at its end. `request` and `url` reach the
 * application on a free port; `app.fetch` calls it in this process.
 */
export async function openApp() {
  const sandbox = await (opened ??= openOnce());
  const request = await TestClient.open(app);
  return {
    db: sandbox.db,
    request,
    url: request.url,
    websocket: request.websocket.bind(request),
    [Symbol.asyncDispose]: async () => {
      await app.fetch.close();
      await request.close();
      await sandbox.rollback();
    },
  };
}
