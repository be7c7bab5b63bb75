import { setTimeout as delay } from "node:timers/promises";

import { Prisma, PrismaClient } from "./generated/prisma/client.js";
import { BusyError } from "./limiter.js";
import { isLocked, SQLiteAdapter } from "./sqlite.js";

/** The database of the application: Prisma's client, whose queries wait for a locked SQLite file. */
export type Database = ReturnType<typeof openDatabase>;

/** What the work of a transaction is given: the same models, without the waiting. */
export type Transactional = Prisma.TransactionClient;

/**
 * Opens a database that has been prepared before. No file is touched until the first query.
 *
 * @param busyMs how long a query, or a transaction as a whole, waits for another process that has locked the file
 */
export function openDatabase(url: string, busyMs: number) {
  const prisma = new PrismaClient({
    adapter: new SQLiteAdapter({ url }),
    // Transactions of this process stand in line for its one connection.
    transactionOptions: { maxWait: busyMs, timeout: busyMs },
  });
  return prisma.$extends({
    query: { $allOperations: ({ args, query }) => whileBusy(() => query(args), busyMs) },
    client: {
      /**
       * Runs `work` in a transaction: all of it takes effect, or nothing.
       *
       * @throws BusyError when the database stays locked; `work` may have run several times, each without effect
       */
      transaction: <T>(work: (tx: Transactional) => Promise<T>): Promise<T> =>
        whileBusy(() => prisma.$transaction(work), busyMs),
    },
  });
}

/** Whether a query failed because it would have made a second row with a unique value. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === "P2002";
}

/**
 * Tries again while another process holds SQLite's lock.
 *
 * SQLite's own waiting (`busy_timeout`) would block the event loop, since the driver is synchronous, so the wait is here.
 */
export async function whileBusy<T>(work: () => Promise<T>, busyMs: number): Promise<T> {
  const deadline = Date.now() + busyMs;
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, 100)) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error)) {
        throw error;
      }
      if (Date.now() + pauseMs > deadline) {
        throw new BusyError("the database is locked", { cause: error });
      }
    }
    await delay(pauseMs * (0.5 + Math.random() / 2)); // spread, so that those who wait do not all come back at once
  }
}

/** P1008 is SQLite's lock as Prisma names it; P2028, that the line for the connection was too long. */
function isBusy(error: unknown): boolean {
  const isPrismas = error instanceof Prisma.PrismaClientKnownRequestError;
  return isPrismas ? error.code === "P1008" || error.code === "P2028" : isLocked(error);
}
