import { Depends, withParams } from "tsgi";
import { openPrisma } from "@tsgi/prisma";

import { settings } from "./settings.js";

export type Database = Awaited<ReturnType<typeof connect>>;

/** Opens the database, and applies the migrations that it lacks. */
export async function connect(url: string, options: { poolSize?: number } = {}) {
  return openPrisma({
    url,
    ...options,
    // {{#sqlite}}
    sqlite: () => import("./generated/client.js"),
    // {{/sqlite}}
    // {{#postgresql}}
    postgresql: () => import("./generated/client.js"),
    // {{/postgresql}}
    migrations: new URL("../prisma/migrations/", import.meta.url),
  });
}

export const openDatabase = withParams({ settings }, async function* openDatabase({ settings }) {
  // {{#sqlite}}
  const db = await connect(settings.databaseUrl);
  // {{/sqlite}}
  // {{#postgresql}}
  const db = await connect(settings.databaseUrl, { poolSize: settings.databasePoolSize });
  // {{/postgresql}}
  yield db;
  await db.$disconnect();
});

/** The database of a handler: `params: { db: database }`. */
export const database = Depends(openDatabase, { scope: "app", check: (db) => db.ping() });
