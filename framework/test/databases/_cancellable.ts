/** The query of the page on cancellation. `cancellation.test.ts` compares both. @module */
import type { Pool, QueryResultRow } from "pg";

/** Runs a query that PostgreSQL cancels if the signal aborts. */
export async function cancellable<Row extends QueryResultRow>(
  pool: Pool,
  signal: AbortSignal,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = await pool.connect();
  const cancel = () => {
    const process: unknown = Reflect.get(client, "processID"); // pg does not declare it
    pool.query("select pg_cancel_backend($1)", [process]).catch(console.error);
  };
  try {
    signal.throwIfAborted();
    signal.addEventListener("abort", cancel);
    return (await client.query<Row>(text, [...values])).rows;
  } catch (error) {
    signal.throwIfAborted(); // instead of "canceling statement due to user request"
    throw error;
  } finally {
    signal.removeEventListener("abort", cancel);
    client.release(signal.aborted); // so the cancel cannot meet a later query
  }
}
