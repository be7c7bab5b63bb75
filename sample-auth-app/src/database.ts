import { Depends, withParams } from "tsgi";
import { Passwords } from "@tsgi/passwords";
import { openPrisma, type Transactional, transactionOf } from "@tsgi/prisma";

import { readProvider, settings } from "./config.js";
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
    sqlite: () => import("./generated/sqlite/client.js"),
    postgresql: () => import("./generated/postgresql/client.js"),
    migrations: new URL("../prisma/migrations/", import.meta.url),
  });
}

/** argon2id with the cost that `@tsgi/passwords` has by default, or more. */
export const createPasswords = async () => new Passwords();
export const passwords = Depends(createPasswords, { scope: "app" });

export const openDatabase = withParams({ settings, passwords }, async function* openDatabase({ settings, passwords }) {
  const db = await connect(settings.databaseUrl, { poolSize: settings.databasePoolSize });
  try {
    if (settings.nodeEnv === "development" && readProvider() === null) {
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
