/** PostgreSQL, through a pool of connections. @module */
import { PrismaPg } from "@prisma/adapter-pg";
import { Client, type ClientConfig, escapeIdentifier, escapeLiteral, Pool } from "pg";
import {
  ConnectError,
  describeError,
  isConnectionLost,
  isUnavailable,
  postgresqlStart,
  quoteWord,
} from "tsgi/internals";
import {
  codesOf,
  type DatabaseConfig,
  type Driver,
  isOfPrisma,
  type MigrationSession,
  type Queryable,
  schemaOf,
  type Statement,
  type UniqueIndex,
} from "./driver.js";
import { patiently, RolledBackError, UnavailableError, type Verdict } from "@tsgi/transactions/internals";

/** The number of the lock that `prisma migrate` takes, so that it and applications wait for each other. */
const MIGRATION_LOCK = 72_707_369;
/** Milliseconds that one process waits for another that migrates. */
const MIGRATION_LOCK_MS = 60_000;
const LOCKED = new Error(`Another process has been migrating this database for ${MIGRATION_LOCK_MS} ms.`);

export const driver: Driver = {
  name: "postgresql",
  createJournal: `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY NOT NULL,
  "checksum" VARCHAR(64) NOT NULL,
  "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL,
  "logs" TEXT,
  "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
  "applied_steps_count" INTEGER NOT NULL DEFAULT 0
);`,
  toTime: (date) => `'${date.toISOString()}'`,
  createAdapter: (config) => new PostgreSQLAdapter(config),
  judge,
  isOwn: (error) => isOfPrisma(error) || isConnectionLost(error),
  hasIsolation: true,
  keyOf: ({ table, constraint }) => keyOf(String(table), constraint?.index ?? ""),

  async readUniqueIndexes({ url, waitMs }: DatabaseConfig): Promise<readonly UniqueIndex[]> {
    const client = createClient({ connectionString: url, connectionTimeoutMillis: waitMs, query_timeout: waitMs });
    await client.connect();
    try {
      const { rows } = await client.query<IndexRow>(UNIQUE_INDEXES, [schemaOf(url)]);
      return rows.map(({ table, index, columns }) => ({ key: keyOf(table, index), columns }));
    } finally {
      await client.end();
    }
  },

  async openMigration({ url, waitMs }: DatabaseConfig): Promise<MigrationSession> {
    const connect = async (options: ClientConfig = {}) => {
      const client = createClient({ connectionString: url, connectionTimeoutMillis: waitMs, ...options });
      await client.connect().catch((error: unknown) => {
        throw connectErrorOf(client, error);
      });
      return client;
    };
    const client = await connect();
    const run = async (script: string) => void (await client.query(script));
    const schema = schemaOf(url);
    return {
      begin: async () => {
        await patiently(
          () => beginLocked(client),
          (error) => (error === LOCKED ? "busy" : "fault"),
          MIGRATION_LOCK_MS,
        );
        await run(`SET LOCAL lock_timeout = ${MIGRATION_LOCK_MS}`);
        await enterSchema(client, schema);
      },
      query: async (statement) => (await client.query<Record<string, unknown>>(statement)).rows,
      run,
      commit: () => run("COMMIT"),
      rollBack: () =>
        run("ROLLBACK").catch(() => {
          // A lost connection has rolled back too, and its error is the reason.
        }),
      // `active_sql_transaction` (PostgreSQL, appendix A): CREATE INDEX CONCURRENTLY, for example.
      isRefusedInTransaction: (error) => describeError(error).code === "25001",
      outside: async (work) => {
        const other = await connect(schema === "public" ? {} : { options: searchPathOf(schema) });
        try {
          await work(async (script) => void (await other.query(script)));
        } finally {
          await other.end();
        }
      },
      close: () => client.end(),
    };
  },
};

/**
 * Begins a transaction with the lock, or throws. A process that waited in `pg_advisory_lock` would hold a snapshot, and
 * CREATE INDEX CONCURRENTLY waits for all older snapshots. A lock of the session would stay on a connection of PgBouncer.
 */
async function beginLocked(client: Client): Promise<void> {
  await client.query("BEGIN ISOLATION LEVEL READ COMMITTED");
  const { rows } = await client.query<{ isLocked: boolean }>(
    `SELECT pg_try_advisory_xact_lock(${MIGRATION_LOCK}) AS "isLocked"`,
  );
  if (rows[0]?.isLocked) return;
  await client.query("ROLLBACK");
  throw LOCKED;
}

/** A lost connection rejects the query in progress, and also emits an error, which would end the process. */
function createClient(config: ClientConfig): Client {
  const client = new Client(config);
  client.on("error", () => {});
  return client;
}

interface IndexRow {
  readonly table: string;
  readonly index: string;
  readonly columns: string[];
}

/** An error has the names of the table and of the index, which are unique together in a schema. */
const keyOf = (table: string, index: string) => JSON.stringify([table, index]);

/**
 * The unique indexes of all schemas, because a model may be in another one; those of the client's own schema take
 * precedence. An expression has the number 0 in `indkey`, and the columns of `INCLUDE` are after `indnkeyatts`
 * (PostgreSQL, §51.26).
 */
const UNIQUE_INDEXES = `
WITH unique_index AS (
  SELECT t.relname::text AS "table", i.relname::text AS "index", n.nspname = $1 AS own,
    CASE WHEN 0 = ANY (x.indkey) THEN '{}' ELSE ARRAY(
      SELECT a.attname::text
      FROM unnest(x.indkey) WITH ORDINALITY AS k (number, position)
      JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = k.number
      WHERE k.position <= x.indnkeyatts
      ORDER BY k.position
    ) END AS columns
  FROM pg_index x
  JOIN pg_class i ON i.oid = x.indexrelid
  JOIN pg_class t ON t.oid = x.indrelid
  JOIN pg_namespace n ON n.oid = t.relnamespace
  WHERE x.indisunique AND n.nspname !~ '^pg_'
), candidate AS (
  SELECT "table", "index", columns, own, bool_or(own) OVER (PARTITION BY "table", "index") AS is_own FROM unique_index
)
SELECT "table", "index", CASE count(DISTINCT columns) WHEN 1 THEN min(columns) ELSE '{}' END AS columns
FROM candidate WHERE own = is_own GROUP BY "table", "index"`;

/**
 * Prisma's adapter writes and reads times without the offset of the session, as if it were zero: with another time zone,
 * each `timestamptz` would be wrong by hours.
 */
const USE_UTC = "SET TIME ZONE 'UTC'";

/**
 * Opens a pool whose time limits apply to the wait for a connection and to each statement. The limit of a transaction is
 * Prisma's. Together the limits of one statement are below five seconds by default.
 */
function openPool({ url, waitMs, poolSize, canExit = false }: DatabaseConfig): Pool {
  return new Pool({
    connectionString: url,
    max: poolSize,
    allowExitOnIdle: canExit,
    connectionTimeoutMillis: waitMs,
    // The server's own clock, so that it stops when the client no longer waits.
    statement_timeout: waitMs,
    // The client's clock, for a server that is silent: its connection is closed, which would keep its place indefinitely.
    query_timeout: waitMs + 500,
    options: `${searchPathOf(schemaOf(url))} -c TimeZone=UTC`,
    keepAlive: true,
    application_name: "tsgi",
  });
}

class PostgreSQLAdapter extends PrismaPg {
  readonly #pool: Pool;
  readonly #config: DatabaseConfig;

  constructor(config: DatabaseConfig) {
    const pool = openPool(config);
    super(pool, { schema: schemaOf(config.url), disposeExternalPool: true });
    this.#pool = pool;
    this.#config = config;
  }

  override async connect() {
    const hasSettings = await acceptsSettings(this.#pool);
    const adapter = await super.connect();
    const start = adapter.startTransaction.bind(adapter);
    adapter.startTransaction = async (isolation) => {
      const transaction = inTurn(await start(isolation));
      if (hasSettings) return transaction;
      try {
        await transaction.executeRaw({ sql: settingsOf(this.#config), args: [], argTypes: [] });
        return transaction;
      } catch (error) {
        closeConnection(transaction);
        await transaction.rollback(); // returns the connection to the pool, without a statement
        throw error;
      }
    };
    return adapter;
  }
}

/**
 * PgBouncer and similar programs refuse startup parameters (`protocol_violation`, `feature_not_supported`), or ignore them
 * (`ignore_startup_parameters`), and `options` in the URL replace them. Then the pool connects without them, and each
 * transaction has the settings.
 */
async function acceptsSettings(pool: Pool): Promise<boolean> {
  const { statement_timeout: expected } = pool.options;
  try {
    const { rows } = await pool.query<{ isSet: boolean }>(
      `SELECT setting = '${expected}' AND current_setting('TimeZone') = 'UTC' AS "isSet"
       FROM pg_settings WHERE name = 'statement_timeout'`,
    );
    if (rows[0]?.isSet) return true;
  } catch (error) {
    if (!/^(?:08P01|0A000)$/.test(describeError(error).code)) throw error;
  }
  delete pool.options.statement_timeout;
  delete pool.options.options;
  // PgBouncer keeps a time zone for each of its clients. The first query is for the connection that is open already.
  pool.options.verify = (client, done) => client.query(USE_UTC, done);
  await pool.query(USE_UTC);
  return false;
}

/** For one transaction: a `SET` would stay on the server's connection, which PgBouncer shares between clients. */
function settingsOf({ url, waitMs }: DatabaseConfig): string {
  const path = escapeLiteral(escapeIdentifier(schemaOf(url)));
  return `SELECT set_config('search_path', ${path}, true), set_config('statement_timeout', '${waitMs}', true),
    set_config('TimeZone', 'UTC', true)`;
}

/**
 * Runs the statements of a transaction one at a time, and rejects statements after its end.
 *
 * Prisma rolls a late transaction back while a query is in progress. The remaining statements of a nested write are then sent
 * after ROLLBACK, and would take effect outside of any transaction.
 */
function inTurn<Transaction extends Queryable>(transaction: Transaction): Transaction {
  let last: Promise<unknown> = Promise.resolve();
  let hasEnded = false;
  /** The last statement that has failed, or `null`. */
  let failure: { readonly error: unknown } | null = null;
  const queued = (run: Queryable["queryRaw"]): Queryable["queryRaw"] => {
    const runNow: Queryable["queryRaw"] = async (statement) => {
      if (hasEnded) throw new UnavailableError(new Error("The transaction has ended."));
      hasEnded = /^(?:COMMIT|ROLLBACK)$/.test(statement.sql);
      // PostgreSQL replies to a COMMIT after a failed statement with ROLLBACK, which neither the adapter nor Prisma
      // reports.
      const isLost = statement.sql === "COMMIT" && failure !== null && !(await isUsable(run, statement));
      const result = await run(statement);
      if (isLost) throw new RolledBackError(failure?.error);
      return result;
    };
    return (statement) => {
      const result = last.then(() => runNow(statement));
      last = result.catch((error: unknown) => {
        failure = { error };
        if (describeError(error).message !== SILENT) return;
        hasEnded = true;
        closeConnection(transaction);
      });
      return result;
    };
  };
  transaction.queryRaw = queued(transaction.queryRaw.bind(transaction));
  transaction.executeRaw = queued(transaction.executeRaw.bind(transaction));
  return transaction;
}

/** Prisma would give it back to the pool, as it does after each rollback. The field is protected in its class. */
function closeConnection(transaction: object): void {
  const connection: unknown = Reflect.get(transaction, "client");
  if (connection instanceof Client) void connection.end();
}

/** Tells if a transaction accepts statements, even after one that has failed: a savepoint may have saved it. */
async function isUsable(run: Queryable["queryRaw"], commit: Statement): Promise<boolean> {
  return run({ ...commit, sql: "SELECT 1" }).then(
    () => true,
    () => false,
  );
}

/** As a start-up parameter. A space would begin another option, and a name without quotes is in lower case. */
function searchPathOf(schema: string): string {
  return `-c search_path=${escapeIdentifier(schema).replaceAll(/[\\ ]/g, "\\$&")}`;
}

async function enterSchema(client: Client, name: string): Promise<void> {
  const { rows } = await client.query<{ found: boolean }>(
    'SELECT to_regnamespace(quote_ident($1)) IS NOT NULL AS "found"',
    [name],
  );
  const schema = escapeIdentifier(name);
  // Not `IF NOT EXISTS`: that requires the permission to create schemas even if the schema exists.
  await client.query(`${rows[0]?.found ? "" : `CREATE SCHEMA ${schema};`} SET LOCAL search_path TO ${schema}`);
}

/**
 * Prisma's codes for: server not reached, or not in time; no connection in time, or no more of them; connection closed;
 * the line for a transaction too long.
 */
const UNAVAILABLE = /^(?:P1001|P1002|P1008|P1017|P2024|P2028|P2037)$/;
/** A write conflict or a deadlock: the other transaction has taken precedence, and has finished by now. */
const CONFLICT = "P2034";
/** The same as SQLSTATE, at a commit: `serialization_failure`, `deadlock_detected`. */
const CONFLICT_STATES = /^40(?:001|P01)$/;
/** The driver's message after `query_timeout`. */
const SILENT = "Query read timeout";
function judge(error: unknown): Verdict {
  if (error instanceof ConnectError || error instanceof RolledBackError) return judge(error.cause);
  if (isUnavailable(error)) return "unavailable";
  const { code, state } = codesOf(error);
  if (code === CONFLICT || CONFLICT_STATES.test(state)) return "busy";
  return UNAVAILABLE.test(code) || isUnavailable({ code: state }) ? "unavailable" : "fault";
}

/** The error for a server that a client could not connect to. */
export function connectErrorOf({ host, port, user = "", database = "" }: Client, cause: unknown): ConnectError {
  const place = `-h ${quoteWord(host)} -p ${port}`;
  const server = {
    name: "PostgreSQL",
    host,
    port,
    startCommand: postgresqlStart(),
    pingCommand: `pg_isready ${place}`,
  };
  // SQLSTATE (PostgreSQL, appendix A): the server's errors for unknown names and passwords.
  const remedies: Readonly<Record<string, string>> = {
    "3D000": `Create the database with createdb ${place} -U ${quoteWord(user)} ${quoteWord(database)}, or correct the URL`,
    "28000": `Create the role with createuser ${place} -U postgres --pwprompt ${quoteWord(user)}, or correct the URL`,
    "28P01": `Set the password with psql ${place} -U postgres -c ${quoteWord(String.raw`\password ${user}`)}, or correct the URL`,
    "53300": `It has no connection left: see who has them with psql ${place} -U postgres -c 'TABLE pg_stat_activity', or take a smaller pool`,
  };
  // 28000 also reports that pg_hba.conf allows no connection from here, which no new role would change.
  const { code, message } = describeError(cause);
  const isKnown = code !== "28000" || message.endsWith(" does not exist");
  return new ConnectError(server, cause, isKnown ? remedies[code] : undefined);
}
