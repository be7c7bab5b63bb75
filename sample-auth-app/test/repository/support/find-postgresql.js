import { Client } from "pg";

/** The default addresses of PostgreSQL for tests; the database and its schema `public` are not changed. */
export const POSTGRESQL_URL = process.env.TEST_POSTGRESQL_URL ?? "postgresql://postgres@127.0.0.1:5432/postgres";

/**
 * Returns the URL of a PostgreSQL in which tests may create schemas.
 *
 * @returns {Promise<string | null>} `null` if there is none
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
