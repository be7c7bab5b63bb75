import { withoutPassword, type Config } from "./config.js";
import { openDatabase } from "./database.js";
import { migrate } from "./database/migrations.js";
import { seed } from "./seed.js";
import { Passwords } from "./security/passwords.js";

/** The database cannot be used; the message says why on one line. */
export class DatabaseError extends Error {
  override name = "DatabaseError";
}

/**
 * Brings the database to where the application needs it: the file, the tables, and in development the demo user.
 *
 * @throws DatabaseError when it cannot be opened or changed
 */
export async function prepareDatabase(config: Config): Promise<void> {
  try {
    await migrate(config.database);
  } catch (error) {
    const url = withoutPassword(config.database.url);
    const reason = error instanceof Error ? error.message : String(error);
    throw new DatabaseError(`cannot prepare the database ${url}: ${reason}`, { cause: error });
  }
  if (config.environment === "development") {
    const db = await openDatabase(config.database);
    try {
      await seed(db, new Passwords(config.passwordHashCost));
    } finally {
      await db.$disconnect();
    }
  }
}
