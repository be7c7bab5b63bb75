/** Keys in the table `tsgi_api_keys` of a database that `openPrisma` opens. @module */
import { type App, DependencyOverrides, HTTPException, type Marker } from "tsgi";
import { consoleLogger, isDependency, WorkScope } from "tsgi/internals";
import { apiKeysError } from "./errors.js";
import type { ApiKeyChanges, ApiKeyRecord, ApiKeyStore } from "./store.js";

/** The part of a client of `openPrisma` that is used. */
export interface RawClient {
  $executeRawUnsafe(sql: string, ...values: unknown[]): Promise<number>;
  $queryRawUnsafe(sql: string, ...values: unknown[]): Promise<unknown>;
}

const TEXTS = ["id", "owner", "name", "scopes", "hash", "hint"] as const;
const TIMES = ["createdAt", "expiresAt", "lastUsedAt", "revokedAt"] as const;
const PROPERTIES = [...TEXTS, ...TIMES];
/** The column of a property: `created_at` for `createdAt`. */
const columnOf = (name: string) => `"${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}"`;

/** A row, by the names of the properties. The scopes are a JSON array, and the times milliseconds since 1970. */
type Row = Readonly<Record<(typeof TEXTS)[number], string> & Record<(typeof TIMES)[number], bigint | number | null>>;

/** The same table as in the migration of the guide. */
const COLUMNS = [
  ...TEXTS.map((name) => `${columnOf(name)} TEXT NOT NULL`),
  ...TIMES.map((name) => `${columnOf(name)} BIGINT${name === "createdAt" ? " NOT NULL" : ""}`),
];
const CREATE = [
  `CREATE TABLE IF NOT EXISTS "tsgi_api_keys" (${COLUMNS.join(", ")}, PRIMARY KEY ("id"))`,
  `CREATE INDEX IF NOT EXISTS "tsgi_api_keys_owner_idx" ON "tsgi_api_keys" ("owner")`,
];
/** On PostgreSQL, the schema of the URL may not exist yet. SQLite has no schemas, and rejects the statement. */
const CREATE_SCHEMA = `DO $$ BEGIN IF current_schema() IS NULL THEN
EXECUTE format('CREATE SCHEMA IF NOT EXISTS %I', (parse_ident(current_setting('search_path'), false))[1]);
END IF; END $$`;

const SELECT = `SELECT ${PROPERTIES.map((name) => `${columnOf(name)} AS "${name}"`).join(", ")} FROM "tsgi_api_keys"`;
const INSERT = `INSERT INTO "tsgi_api_keys" (${PROPERTIES.map(columnOf).join(", ")})
VALUES (${PROPERTIES.map((_, index) => `$${index + 1}`).join(", ")})`;

function toColumn(value: ApiKeyRecord[keyof ApiKeyRecord]): string | bigint | null {
  if (value instanceof Date) return BigInt(value.getTime());
  return typeof value === "object" && value !== null ? JSON.stringify(value) : value;
}

/** PostgreSQL returns a BIGINT as a bigint, SQLite as either. */
const toDate = (ms: bigint | number | null) => (ms === null ? null : new Date(Number(ms)));

function toRecord(row: Row): ApiKeyRecord {
  return {
    ...row,
    scopes: JSON.parse(row.scopes) as string[],
    createdAt: new Date(Number(row.createdAt)),
    expiresAt: toDate(row.expiresAt),
    lastUsedAt: toDate(row.lastUsedAt),
    revokedAt: toDate(row.revokedAt),
  };
}

/** Makes the table, if a migration has not made it. */
async function prepare(client: RawClient): Promise<RawClient> {
  const look = () => client.$queryRawUnsafe(`${SELECT} LIMIT 0`);
  try {
    await look();
  } catch (error) {
    // Not first of all: a role that may not create tables can use one that exists. A database that is unavailable is a 503.
    if (error instanceof HTTPException) throw error;
    await client.$executeRawUnsafe(CREATE_SCHEMA).catch(() => {});
    try {
      for (const statement of CREATE) await client.$executeRawUnsafe(statement);
    } catch (cause) {
      // Of two processes that create the table at the same time, one fails (PostgreSQL, even with IF NOT EXISTS).
      await look().catch(() => {
        throw cause;
      });
    }
  }
  return client;
}

const notStarted = async (): Promise<never> => {
  throw apiKeysError("TSGI_API_KEYS_NOT_STARTED");
};

class PrismaKeys implements ApiKeyStore {
  readonly #database: RawClient | Marker<RawClient>;
  #read: () => Promise<RawClient>;
  /** The client, whose database has the table. */
  #prepared: Promise<RawClient> | null = null;

  constructor(database: RawClient | Marker<RawClient>) {
    const isClient = !isDependency(database);
    if (!isClient && (database as { readonly scope?: unknown }).scope !== "app")
      throw apiKeysError("TSGI_API_KEYS_DATABASE");
    this.#database = database;
    this.#read = isClient ? async () => database as RawClient : notStarted;
  }

  attach(app: App): void {
    if (!isDependency(this.#database)) return;
    const scope = new WorkScope(this, new DependencyOverrides(), app.settings.logger ?? consoleLogger);
    const getClient = async ({ client }: { readonly client: RawClient }) => client;
    const work = scope.add(getClient, { client: this.#database as Marker<RawClient> }, "prismaKeys()");
    let running = 0; // a test may start an application twice
    app.onStartup(() => {
      const leave = scope.join(app, async () => {});
      running++;
      this.#read = async () => (await work.run({}, new AbortController().signal)) as RawClient;
      return () => {
        if (--running === 0) this.#read = notStarted;
        this.#prepared = null;
        leave();
      };
    });
  }

  #client(): Promise<RawClient> {
    this.#prepared ??= this.#read()
      .then(prepare)
      .catch((error: unknown) => {
        this.#prepared = null; // the next call tries again
        throw error;
      });
    return this.#prepared;
  }

  async #select(column: "id" | "owner", value: string): Promise<ApiKeyRecord[]> {
    const client = await this.#client();
    const rows = (await client.$queryRawUnsafe(`${SELECT} WHERE "${column}" = $1`, value)) as readonly Row[];
    return rows.map(toRecord);
  }

  async add(record: ApiKeyRecord): Promise<void> {
    const client = await this.#client();
    await client.$executeRawUnsafe(INSERT, ...PROPERTIES.map((name) => toColumn(record[name])));
  }

  async find(id: string): Promise<ApiKeyRecord | null> {
    const [record = null] = await this.#select("id", id);
    return record;
  }

  list(owner: string): Promise<ApiKeyRecord[]> {
    return this.#select("owner", owner);
  }

  async update(id: string, changes: ApiKeyChanges): Promise<void> {
    const values: Partial<ApiKeyRecord> = changes;
    const changed = PROPERTIES.filter((name) => values[name] !== undefined);
    if (changed.length === 0) return;
    const assignments = changed.map((name, index) => `${columnOf(name)} = $${index + 1}`);
    const client = await this.#client();
    // The id is last: SQLite numbers the parameters in the order in which they occur.
    const sql = `UPDATE "tsgi_api_keys" SET ${assignments.join(", ")} WHERE "id" = $${changed.length + 1}`;
    await client.$executeRawUnsafe(sql, ...changed.map((name) => toColumn(values[name] ?? null)), id);
  }
}

/**
 * Keeps keys in the table `tsgi_api_keys`, on SQLite or PostgreSQL. It is created at the first use, unless a migration has
 * created it.
 *
 * @param database - A client of `openPrisma`, or its dependency: then call `keys.attach(app)`, so that the keys can be used from
 * the start of the application.
 * @throws ConfigurationError for a dependency that each request makes.
 * @example
 * ```ts
 * import { App, Depends } from "tsgi";
 * import { ApiKeys, prismaKeys, type RawClient } from "@tsgi/api-keys";
 *
 * // `openDatabase` returns or yields a client of `openPrisma`.
 * export function createApp(openDatabase: () => Promise<RawClient>) {
 *   const keys = new ApiKeys({ store: prismaKeys(Depends(openDatabase, { scope: "app" })) });
 *   const app = new App();
 *   keys.attach(app);
 *   app.get("/me", { params: { key: Depends(keys.scheme) } }, async ({ key }) => ({ owner: key.owner }));
 *   return app;
 * }
 * ```
 */
export function prismaKeys(database: RawClient | Marker<RawClient>): ApiKeyStore {
  return new PrismaKeys(database);
}
