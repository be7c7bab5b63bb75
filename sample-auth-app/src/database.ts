import { Depends, withParams } from "tsgi";
import { Passwords } from "@tsgi/passwords";
import { openPrisma, type Transactional, transactionOf } from "@tsgi/prisma";

import { settings } from "./config.js";
import { readProvider } from "./extras/oidc/settings.js"; // with oidc
import type { PrismaClient } from "./generated/sqlite/client.js";
import { seed } from "./seed.js";

export type Database = Awaited<ReturnType<typeof connect>>;
/** The client inside a transaction. */
export type Transaction = Transactional<PrismaClient>;

/** Opens the database, and applies the migrations that it lacks. */
export async function connect(url: string, options: { poolSize?: number; waitMs?: number } = {}) {
  return openPrisma({
    url,
    ...options,
    sqlite: () => import("./generated/sqlite/client.js"), // with sqlite
    postgresql: () => import("./generated/postgresql/client.js"), // with postgresql
    migrations: new URL("../prisma/migrations/", import.meta.url),
  });
}

/** argon2id with the cost that `@tsgi/passwords` has by default, or more. */
export const createPasswords = async () => new Passwords();
export const passwords = Depends(createPasswords, { scope: "app" });

export const openDatabase = withParams({ settings, passwords }, async function* openDatabase({ settings, passwords }) {
  const db = await connect(settings.databaseUrl, { poolSize: settings.databasePoolSize }); // with postgresql
  // without postgresql: const db = await connect(settings.databaseUrl);
  const hasPasswords = readProvider() === null; // with oidc
  // without oidc: const hasPasswords = true;
  try {
    if (settings.nodeEnv === "development" && hasPasswords) {
      await seed(db, passwords);
    }
    yield db;
  } finally {
    await db.$disconnect();
  }
});

export const database = Depends(openDatabase, { scope: "app", check: (db) => db.ping() });

/** The transaction of a request: it commits before the response is sent, and rolls back on any error. */
export const transaction = Depends(transactionOf(database));
