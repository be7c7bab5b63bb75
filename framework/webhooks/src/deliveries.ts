/** The deliveries that are kept for 30 days, in the database of the jobs or in memory. @module */
import type { JobsDatabase, SQLClient } from "@tsgi/jobs";
import { whenEnded } from "tsgi/internals";

/** A delivery, as `deliveries()` lists it. */
export interface Delivery {
  /** Also the header `webhook-id` of each attempt. */
  readonly id: string;
  readonly event: string;
  /** The id of the endpoint. */
  readonly endpoint: string;
  /** `refused`: the endpoint must not be reached. `gone`: it was removed, or responds with 410. */
  readonly state: "pending" | "delivered" | "failed" | "gone" | "refused";
  readonly attempts: number;
  /** The status of the last response; `null` without one. */
  readonly status: number | null;
  /** The error of the last attempt; `null` without one. */
  readonly reason: string | null;
  /** ISO 8601. */
  readonly createdAt: string;
}

/** A delivery with its message. */
export interface Row extends Delivery {
  readonly owner: string;
  readonly body: string;
  /** The number of times that it was sent again. The jobs of earlier rounds have no effect. */
  readonly round: number;
}

/** A delivery that was not tried yet. */
export type NewRow = Pick<Row, "id" | "owner" | "event" | "endpoint" | "body">;

/** The result of an attempt. */
type Change = Pick<Row, "state" | "status" | "reason">;

/** Writes the job of a delivery, in the transaction of its row. */
export type Enqueue = (row: { readonly id: string; readonly round?: number }, tx?: object) => Promise<unknown>;

/** Keeps deliveries. */
export type Deliveries = Omit<DeliveriesInPostgreSQL, "removeOld">;

const PAGE_LENGTH = 100;

/** In memory, older deliveries are removed. */
const MAX_IN_MEMORY = 10_000;

/** In memory, for inline jobs. */
export class DeliveriesInMemory implements Deliveries {
  readonly #rows = new Map<string, Row>();

  async add(rows: readonly NewRow[], tx: object | undefined, enqueue: Enqueue): Promise<void> {
    const fresh = { state: "pending", attempts: 0, round: 0, status: null, reason: null } as const;
    const createdAt = new Date().toISOString();
    const insert = () => {
      for (const row of rows) this.#rows.set(row.id, { ...fresh, ...row, createdAt });
      for (const id of this.#rows.keys()) if (this.#rows.size > MAX_IN_MEMORY) this.#rows.delete(id);
    };
    // Jobs reject a transaction that cannot be observed.
    if (tx === undefined) insert();
    else whenEnded(tx, (hasCommitted) => hasCommitted && insert());
    for (const row of rows) await enqueue(row, tx);
  }

  async find(id: string): Promise<Row | null> {
    return this.#rows.get(id) ?? null;
  }

  async record({ id, round }: Row, change: Change): Promise<void> {
    const row = this.#rows.get(id);
    if (row?.round === round) this.#rows.set(id, { ...row, ...change, attempts: row.attempts + 1 });
  }

  async list(owner: string, after: string | null): Promise<readonly Delivery[]> {
    const rows = [...this.#rows.values()].filter((row) => row.owner === owner).toReversed();
    const start = after === null ? 0 : rows.findIndex(({ id }) => id === after) + 1 || rows.length;
    return rows.slice(start, start + PAGE_LENGTH).map(({ owner: _owner, body: _body, round: _round, ...row }) => row);
  }

  async repeat(id: string, owner: string, enqueue: Enqueue): Promise<boolean> {
    const row = this.#rows.get(id);
    if (row?.owner !== owner) return false;
    this.#rows.set(id, { ...row, state: "pending", round: row.round + 1 });
    await enqueue({ id, round: row.round + 1 });
    return true;
  }
}

/** The lock is for two programs that start at the same time, and would both create the table. */
const CREATE = `SELECT pg_advisory_xact_lock(hashtext('tsgi_webhook_deliveries'));
CREATE TABLE IF NOT EXISTS tsgi_webhook_deliveries (
  id text PRIMARY KEY, owner text NOT NULL, event text NOT NULL, endpoint text NOT NULL, body text NOT NULL,
  state text NOT NULL DEFAULT 'pending', attempts integer NOT NULL DEFAULT 0, round integer NOT NULL DEFAULT 0,
  status integer, reason text, created_at timestamptz NOT NULL DEFAULT clock_timestamp());
CREATE INDEX IF NOT EXISTS tsgi_webhook_deliveries_owner ON tsgi_webhook_deliveries (owner, created_at, id)`;

/** Its name with its schema: a transaction of the application may look for tables in other schemas. */
export const FIND = `SELECT format('%I.%I', nspname, relname) AS name FROM pg_class JOIN pg_namespace s ON s.oid = relnamespace
WHERE pg_class.oid = to_regclass('tsgi_webhook_deliveries')`;

const COLUMNS = `id, event, endpoint, state, attempts, status, reason,
to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "createdAt"`;

/** In PostgreSQL, over the connection of the jobs. In its statements, `@` is the table. */
export class DeliveriesInPostgreSQL {
  readonly #db: JobsDatabase;
  #table: string | null = null;

  constructor(db: JobsDatabase) {
    this.#db = db;
  }

  /** The table of a migration, or a new one. */
  async #open(): Promise<string> {
    const find = async () => ((await this.#db.query(FIND)).rows as readonly { name: string }[])[0]?.name;
    this.#table ??= (await find()) ?? null;
    if (this.#table === null) await this.#db.query(CREATE);
    return (this.#table ??= (await find()) ?? "tsgi_webhook_deliveries");
  }

  async #rows<T>(client: Pick<SQLClient, "query">, text: string, values: readonly unknown[]): Promise<readonly T[]> {
    const { rows } = await client.query(text.replaceAll("@", await this.#open()), values);
    return rows as readonly T[];
  }

  async add(rows: readonly NewRow[], tx: object | undefined, enqueue: Enqueue): Promise<void> {
    await this.#open(); // the transaction below must not wait for another connection
    const insert = `INSERT INTO @ (id, owner, event, endpoint, body) SELECT * FROM
      json_to_recordset($1::json) AS given (id text, owner text, event text, endpoint text, body text)`;
    await this.#db.transaction(tx, async (client) => {
      await this.#rows(client, insert, [JSON.stringify(rows)]);
      for (const row of rows) await enqueue(row, client);
    });
  }

  async find(id: string): Promise<Row | null> {
    const rows = await this.#rows<Row>(this.#db, `SELECT ${COLUMNS}, owner, body, round FROM @ WHERE id = $1`, [id]);
    return rows[0] ?? null;
  }

  async record({ id, round }: Row, { state, status, reason }: Change): Promise<void> {
    const set = `UPDATE @ SET state = $3, status = $4, reason = $5, attempts = attempts + 1 WHERE id = $1 AND round = $2`;
    await this.#rows(this.#db, set, [id, round, state, status, reason]);
  }

  list(owner: string, after: string | null): Promise<readonly Delivery[]> {
    const text = `SELECT ${COLUMNS} FROM @ WHERE owner = $1 AND ($2::text IS NULL OR
      (created_at, id) < (SELECT created_at, id FROM @ WHERE id = $2 AND owner = $1))
      ORDER BY created_at DESC, id DESC LIMIT ${PAGE_LENGTH}`;
    return this.#rows<Delivery>(this.#db, text, [owner, after]);
  }

  /** Begins another round. @returns `false` for the delivery of another owner. */
  async repeat(id: string, owner: string, enqueue: Enqueue): Promise<boolean> {
    await this.#open();
    const text = `UPDATE @ SET state = 'pending', round = round + 1 WHERE id = $1 AND owner = $2 RETURNING id, round`;
    return this.#db.transaction(undefined, async (client) => {
      const rows = await this.#rows<Row>(client, text, [id, owner]);
      for (const row of rows) await enqueue(row, client);
      return rows.length > 0;
    });
  }

  async removeOld(): Promise<void> {
    await this.#rows(this.#db, "DELETE FROM @ WHERE created_at < now() - interval '30 days'", []);
  }
}
