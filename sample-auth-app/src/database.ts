import { Prisma } from "./generated/sqlite/client.js";
import type { DatabaseConfig } from "./database/driver.js";
import { loadDriver } from "./database/load-driver.js";
import { whileBusy } from "./database/retry.js";

/** The database of the application: Prisma's client, whose queries bear with a database that is busy or away. */
export type Database = Awaited<ReturnType<typeof openDatabase>>;

/** What the work of a transaction is given: the same models, without the waiting. */
export type Transactional = Prisma.TransactionClient;

/**
 * Opens a database that has been prepared before. No file is touched, and no connection made, until the first query.
 *
 * Every query throws an `UnavailableError` when the database cannot be had in time.
 */
export async function openDatabase(config: DatabaseConfig) {
  const driver = await loadDriver(config.url);
  const prisma = driver.createClient(config);
  const patiently = <T>(work: () => Promise<T>): Promise<T> =>
    whileBusy(work, (error) => driver.judge(error), config.waitMs);
  return prisma.$extends({
    query: { $allOperations: ({ args, query }) => patiently(() => query(args)) },
    client: {
      /**
       * Runs `work` in a transaction: all of it takes effect, or nothing.
       *
       * @throws UnavailableError when the database cannot be had in time; `work` may have run several times, each without
       *   effect
       */
      transaction: <T>(work: (tx: Transactional) => Promise<T>): Promise<T> =>
        patiently(() => prisma.$transaction(work)),
      /** @throws UnavailableError when the database does not answer */
      ping: async (): Promise<void> => {
        await patiently(() => prisma.$queryRaw`SELECT 1`);
      },
    },
  });
}

/** Whether a query failed because it would have made a second row with a unique value. */
export function isUniqueViolation(error: unknown): boolean {
  return error instanceof Prisma.PrismaClientKnownRequestError && error.code === "P2002";
}
