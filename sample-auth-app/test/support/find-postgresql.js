import { Client } from "pg";

/** Where tests look for PostgreSQL; the database and its schema `public` stay as they are. */
export const POSTGRESQL_URL = process.env.TEST_POSTGRESQL_URL ?? "postgresql://postgres@127.0.0.1:5432/postgres";

/**
 * Gives the URL of a PostgreSQL in which tests may make schemas of their own.
 *
 * @returns {Promise<string | null>} `null` where there is none
 */
export async function findPostgreSQL() {
  const client = new Client({ connectionString: POSTGRESQL_URL, connectionTimeoutMillis: 1_000 });
  try {
    await client.connect();
    await client.query("SELECT 1");
    return POSTGRESQL_URL;
  } catch {
    return null;
  } finally {
    await client.end();
  }
}
