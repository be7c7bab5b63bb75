/** pg-boss's table of jobs, as the commands read and change it. @module */
import type { Db, PgBoss } from "pg-boss";
import { HTTPException } from "tsgi";
import { describeError } from "tsgi/internals";
import type { JobRecord, JobState } from "./control.js";
import type { Envelope } from "./definition.js";
import { DEFAULT_RULES } from "./options.js";
import { type Connection, inTransaction, sendOptions } from "./store.js";

/** PostgreSQL manual, appendix A. */
const UNIQUE_VIOLATION = "23505";

/** The most jobs that a list has. */
const MAX_LISTED = 1_000;

/** The state of a row, from the state of pg-boss. */
const STATE = `CASE state WHEN 'active' THEN 'running' WHEN 'completed' THEN 'done' WHEN 'cancelled' THEN 'cancelled'
WHEN 'failed' THEN 'dead' ELSE CASE WHEN start_after > now() THEN 'delayed' ELSE 'waiting' END END`;

/** A row of pg-boss's table of jobs. */
interface Row {
  readonly id: string;
  readonly name: string;
  readonly state: JobState;
  readonly data: Partial<Envelope> | null;
  readonly output: { readonly message?: unknown } | null;
  readonly retry_count: number;
  readonly created_on: Date;
}

/** Reads and changes jobs in the database. */
export class JobTable {
  readonly #boss: PgBoss;
  readonly #db: Db;
  readonly #table: string;

  /** @param schema - A name that pg-boss has accepted. */
  constructor({ boss, db }: Connection, schema: string) {
    this.#boss = boss;
    this.#db = db;
    this.#table = `${schema}.job`;
  }

  async #rows(condition: string, values: unknown[]): Promise<readonly Row[]> {
    const { rows } = await this.#db.executeSql(
      `SELECT id, name, ${STATE} AS state, data, output, retry_count, created_on
       FROM ${this.#table} WHERE ${condition} ORDER BY created_on DESC, id LIMIT ${MAX_LISTED}`,
      values,
    );
    return rows as Row[];
  }

  async list(names: readonly string[], state: JobState | null = null): Promise<readonly JobRecord[]> {
    const condition = `name = ANY($1::text[]) AND ($2::text IS NULL OR ${STATE} = $2)`;
    return (await this.#rows(condition, [[...names], state])).map(recordOf);
  }

  async #find(id: string): Promise<Row | null> {
    return (await this.#rows("id::text = lower($1) AND name NOT LIKE '\\_\\_pgboss\\_\\_%'", [id]))[0] ?? null;
  }

  async show(id: string): Promise<JobRecord | null> {
    const row = await this.#find(id);
    return row && recordOf(row);
  }

  async retry(id: string): Promise<JobState | null> {
    const row = await this.#find(id);
    if (row === null) return null;
    const { name, data, state } = row;
    if (state !== "dead") return state;
    const rules = { ...DEFAULT_RULES, ...data };
    const retryLimit = row.retry_count + (sendOptions(rules, {}).retryLimit ?? 0);
    try {
      await inTransaction(this.#db, async (db) => {
        await this.#boss.retry(name, row.id, { db });
        await this.#boss.update(name, { ...data, failures: 0 }, { id: row.id, retryLimit, startAfter: 0, db });
      });
      return state;
    } catch (error) {
      if (describeError(error).code !== UNIQUE_VIOLATION) throw error;
      throw new HTTPException(409, `Another job ${name} with the same key is waiting or running.`, { cause: error });
    }
  }

  async cancel(id: string): Promise<JobState | null> {
    const row = await this.#find(id);
    if (row === null) return null;
    const { state } = row;
    if (state === "waiting" || state === "delayed" || state === "running") await this.#boss.cancel(row.name, row.id);
    return state;
  }

  /** Counts the jobs that wait, by name. */
  async waiting(names: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const { rows } = await this.#db.executeSql(
      `SELECT name, count(*)::int AS count FROM ${this.#table}
       WHERE name = ANY($1::text[]) AND state < 'active' GROUP BY name`,
      [names],
    );
    const counts = new Map(names.map((name) => [name, 0]));
    for (const { name, count } of rows as { name: string; count: number }[]) counts.set(name, count);
    return counts;
  }
}

function recordOf(row: Row): JobRecord {
  const { id, name, state, data, output, created_on: createdOn } = row;
  const reason = state === "done" ? undefined : output?.message;
  return {
    id,
    name,
    state,
    attempt: (data?.failures ?? 0) + 1,
    payload: data?.payload ?? null,
    ...(typeof reason === "string" ? { reason } : {}),
    createdAt: createdOn.toISOString(),
  };
}
