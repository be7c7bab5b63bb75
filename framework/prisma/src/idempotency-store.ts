/** The table of responses that are sent again: `tsgi_idempotency`. @module */
import type { ReadyResponse } from "tsgi/internals";
import type { DatabaseConfig, Driver } from "./driver.js";

/** Makes the table, if a migration has not made it. The migrations of prisma.md make the same. */
export const createTable = (bytes: "BLOB" | "BYTEA") => [
  `CREATE TABLE IF NOT EXISTS "tsgi_idempotency" (
  "key" TEXT NOT NULL PRIMARY KEY,
  "fingerprint" TEXT NOT NULL,
  "status" INTEGER NOT NULL,
  "headers" TEXT NOT NULL,
  "body" ${bytes} NOT NULL,
  "expires_at" BIGINT NOT NULL
)`,
  `CREATE INDEX IF NOT EXISTS "tsgi_idempotency_expires_at_idx" ON "tsgi_idempotency" ("expires_at")`,
];

/** A client or a transaction of Prisma. The values of a statement are its parameters `$1`, `$2`, … on both databases. */
export interface RawClient {
  $executeRawUnsafe(sql: string, ...values: unknown[]): Promise<number>;
  $queryRawUnsafe(sql: string, ...values: unknown[]): Promise<readonly unknown[]>;
}

/** A response that was stored, and the request that it belongs to. */
export interface StoredResponse extends ReadyResponse {
  readonly fingerprint: string;
}

/** A row of the table. */
interface Row {
  readonly fingerprint: string;
  readonly status: number;
  /** A JSON array of names and values in turn. */
  readonly headers: string;
  readonly body: Uint8Array;
}

const SELECT = `SELECT "fingerprint", "status", "headers", "body" FROM "tsgi_idempotency" WHERE "key" = $1 AND "expires_at" > $2`;
const INSERT = `INSERT INTO "tsgi_idempotency" ("key", "fingerprint", "status", "headers", "body", "expires_at")
VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT ("key") DO UPDATE SET "fingerprint" = excluded."fingerprint",
"status" = excluded."status", "headers" = excluded."headers", "body" = excluded."body", "expires_at" = excluded."expires_at"`;
/** `current_schema()` is NULL until the schema of the search path exists. Then the lock would be NULL as well. */
const SCHEMA = "coalesce(current_schema(), (parse_ident(current_setting('search_path'), false))[1])";
const LOCK = `SELECT pg_try_advisory_xact_lock(hashtextextended(${SCHEMA} || '.tsgi_idempotency.' || $1, 0)) AS "free",
to_regclass('tsgi_idempotency') IS NOT NULL AS "exists"`;
const DELETE_EXPIRED = `DELETE FROM "tsgi_idempotency" WHERE "expires_at" <= $1`;

/** Milliseconds between two removals of expired rows by one process. */
const SWEEP_MS = 600_000;

/** The responses that one database has stored. */
export class IdempotencyStore {
  readonly #driver: Driver;
  readonly #config: DatabaseConfig;
  /** The keys that this process works on: SQLite has one writer, so a second transaction could not even look. */
  readonly running = new Set<string>();
  #exists = false;
  #sweptAt = 0;

  constructor(driver: Driver, config: DatabaseConfig) {
    this.#driver = driver;
    this.#config = config;
  }

  /**
   * Locks a key until the transaction ends, and looks for its response.
   *
   * @returns `null` if the key is new, `"running"` if another transaction holds it.
   */
  async find(tx: RawClient, key: string): Promise<StoredResponse | "running" | null> {
    const isFree = this.#driver.name === "sqlite" ? await this.#prepare(tx) : await this.#lock(tx, key);
    if (!isFree) return "running";
    const [row] = (await tx.$queryRawUnsafe(SELECT, key, BigInt(Date.now()))) as Row[];
    if (row === undefined) return null;
    const { fingerprint, status, headers, body } = row;
    return { fingerprint, status, headers: JSON.parse(headers) as string[], body };
  }

  /** On SQLite the transaction has the lock of the whole file. A statement that fails does not end it. */
  async #prepare(tx: RawClient): Promise<true> {
    if (!this.#exists) for (const statement of createTable("BLOB")) await tx.$executeRawUnsafe(statement);
    return true;
  }

  /** The lock ends with the transaction, however that ends. PostgreSQL, §9.28.10. */
  async #lock(tx: RawClient, key: string): Promise<boolean> {
    const [row] = (await tx.$queryRawUnsafe(LOCK, key)) as { free: boolean; exists: boolean }[];
    // Not in the transaction: of two that create the table at the same time, one would fail with all its work.
    if (row?.exists === false) await this.#createTable();
    return row?.free === true;
  }

  async #createTable(): Promise<void> {
    const session = await this.#driver.openMigration(this.#config);
    try {
      await session.begin();
      for (const statement of createTable("BYTEA")) await session.run(statement);
      await session.commit();
    } finally {
      await session.close();
    }
  }

  /** Stores the response in the transaction of the work. */
  async save(tx: RawClient, key: string, response: StoredResponse, ttlSeconds: number): Promise<void> {
    const { fingerprint, status, headers, body } = response;
    const expiresAt = BigInt(Date.now() + ttlSeconds * 1000);
    await tx.$executeRawUnsafe(INSERT, key, fingerprint, status, JSON.stringify(headers), Buffer.from(body), expiresAt);
  }

  /** Tells if expired rows should be removed, and that the caller does it. */
  takeSweep(): boolean {
    this.#exists = true; // a transaction that has used the table has committed
    const now = Date.now();
    if (now - this.#sweptAt < SWEEP_MS) return false;
    this.#sweptAt = now;
    return true;
  }

  async sweep(db: RawClient): Promise<void> {
    await db.$executeRawUnsafe(DELETE_EXPIRED, BigInt(Date.now()));
  }
}
