import { randomUUID } from "node:crypto";

import { PrismaPg } from "@prisma/adapter-pg";
import { Client, escapeIdentifier, Pool, type PoolClient } from "pg";

import { Prisma, PrismaClient } from "../generated/postgresql/client.js";
import type { PrismaClient as CommonClient } from "../generated/sqlite/client.js";
import { connect } from "./postgresql-connect.js";
import type { DatabaseConfig, Driver, JournalEntry, MigrationSession, Verdict } from "./driver.js";

/** Prisma's own table (schema-engine, `sql_schema_connector`), so that its commands accept what is written here. */
const CREATE_JOURNAL = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY NOT NULL,
  "checksum" VARCHAR(64) NOT NULL,
  "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL,
  "logs" TEXT,
  "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
  "applied_steps_count" INTEGER NOT NULL DEFAULT 0
);`;

/** The number of the lock that `prisma migrate` takes, so that it and this application wait for each other. */
const MIGRATION_LOCK = 72_707_369;
/** How long one process waits for another that migrates. */
const MIGRATION_LOCK_MS = 60_000;

/** PostgreSQL, through a pool of connections. */
export const postgresql: Driver = {
  name: "postgresql",

  createClient({ url, waitMs, poolSize }: DatabaseConfig): CommonClient {
    const pool = openPool(url, waitMs, poolSize);
    const client: unknown = new PrismaClient({
      errorFormat: "minimal", // the other formats print a query with its values
      adapter: new PrismaPg(pool, { schema: schemaOf(url), disposeExternalPool: true }),
      transactionOptions: { maxWait: waitMs, timeout: waitMs },
    });
    // Made from the same models, it takes all that SQLite's client takes, and more filters and levels of isolation besides.
    return client as CommonClient;
  },

  judge,

  async migrate<T>({ url, waitMs }: DatabaseConfig, work: (session: MigrationSession) => Promise<T>): Promise<T> {
    const client = new Client({
      connectionString: url,
      connectionTimeoutMillis: waitMs,
      lock_timeout: MIGRATION_LOCK_MS,
    });
    await connect(client);
    try {
      await client.query("BEGIN");
      await client.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
      await enterSchema(client, schemaOf(url));
      await client.query(CREATE_JOURNAL);
      const result = await work(sessionOf(client));
      await client.query("COMMIT");
      return result;
    } finally {
      await client.end(); // which rolls back what is not committed
    }
  },
};

/**
 * Opens a pool whose connections are given up when they are in use for too long: one that has gone silent would keep its
 * place for ever, and two time-outs together shall stay under five seconds.
 */
function openPool(url: string, waitMs: number, poolSize: number): Pool {
  const pool = new Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: waitMs,
    // The server's own clock, so that it does not go on with what nobody waits for.
    statement_timeout: waitMs,
    idle_in_transaction_session_timeout: 2 * waitMs,
    options: `-c search_path=${schemaOf(url)}`,
    keepAlive: true,
    application_name: "sample-auth-app",
  });
  const deadlines = new Map<PoolClient, NodeJS.Timeout>();
  pool.on("acquire", (client) => {
    const giveUp = (): void => void client.end(); // which cuts the connection while a query is under way
    deadlines.set(client, setTimeout(giveUp, waitMs + 500));
  });
  pool.on("release", (_, client) => {
    clearTimeout(deadlines.get(client));
    deadlines.delete(client);
  });
  return pool;
}

/** As Prisma has it: `?schema=name` in the URL, else `public`. */
function schemaOf(url: string): string {
  return new URL(url).searchParams.get("schema") ?? "public";
}

async function enterSchema(client: Client, name: string): Promise<void> {
  const { rows } = await client.query<{ isThere: boolean }>(`SELECT to_regnamespace($1) IS NOT NULL AS "isThere"`, [
    name,
  ]);
  const schema = escapeIdentifier(name);
  // Not `IF NOT EXISTS`: that asks for the right to make schemas also where there is nothing to make.
  await client.query(
    `${rows[0]?.isThere === true ? "" : `CREATE SCHEMA ${schema};`} SET LOCAL search_path TO ${schema}`,
  );
}

/**
 * Prisma's codes for: server not reached, or not in time; no connection in time, or no more of them; connection closed;
 * the line for a transaction too long.
 */
const UNAVAILABLE = new Set(["P1001", "P1002", "P1008", "P1017", "P2024", "P2028", "P2037"]);
/** A write conflict or a deadlock: the other one has won, and is done by now. */
const CONFLICT = "P2034";
/**
 * Classes of SQLSTATE (PostgreSQL, appendix A): connection exception, insufficient resources, operator intervention
 * (also the server's statement time-out), and the time-out of an idle transaction.
 */
const UNAVAILABLE_STATES = /^(?:08|53|57)|^25P03$/;
/** What the driver says in words only, when it gives up a connection or gets none. */
const LOST = /^(?:Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection)/;

function judge(error: unknown): Verdict {
  if (isConnectionError(error)) {
    return "unavailable";
  }
  if (!(error instanceof Prisma.PrismaClientKnownRequestError)) {
    return "fault";
  }
  if (error.code === CONFLICT) {
    return "busy";
  }
  return UNAVAILABLE.has(error.code) || UNAVAILABLE_STATES.test(stateOf(error)) ? "unavailable" : "fault";
}

/** Whether the driver, or the system below it, says that there is no connection: `ECONNREFUSED`, `EAI_AGAIN` and so on. */
function isConnectionError(error: unknown): boolean {
  const { code = "", message = "" } = (error ?? {}) as { code?: unknown; message?: unknown };
  return /^E[A-Z_]+$/.test(String(code)) || LOST.test(String(message));
}

/** The server's own code of an error, or nothing. */
function stateOf({ meta }: Prisma.PrismaClientKnownRequestError): string {
  const cause = (meta?.["driverAdapterError"] as { cause?: { originalCode?: unknown } } | undefined)?.cause;
  return typeof cause?.originalCode === "string" ? cause.originalCode : "";
}

function sessionOf(client: Client): MigrationSession {
  return {
    async readJournal(): Promise<JournalEntry[]> {
      const { rows } = await client.query<JournalEntry>(
        `SELECT "migration_name" AS "name", "checksum", "finished_at" IS NOT NULL AS "isFinished"
         FROM "_prisma_migrations" WHERE "rolled_back_at" IS NULL`,
      );
      return rows;
    },
    async run(sql) {
      await client.query(sql);
    },
    async record({ name, checksum, startedAt }) {
      await client.query(
        `INSERT INTO "_prisma_migrations"
         ("id", "checksum", "migration_name", "started_at", "finished_at", "applied_steps_count")
         VALUES ($1, $2, $3, $4, clock_timestamp(), 1)`,
        [randomUUID(), checksum, name, startedAt],
      );
    },
  };
}
