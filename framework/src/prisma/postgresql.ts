/** PostgreSQL, through a pool of connections. @module */
import { PrismaPg } from "@prisma/adapter-pg";
import { Client, escapeIdentifier, Pool, type PoolClient } from "pg";
import { ConnectError, describeError, quoteWord } from "../connect-error.js";
import { codesOf, type DatabaseConfig, type Driver, type MigrationSession, type Verdict } from "./driver.js";

/** The number of the lock that `prisma migrate` takes, so that it and applications wait for each other. */
const MIGRATION_LOCK = 72_707_369;
/** Milliseconds that one process waits for another that migrates. */
const MIGRATION_LOCK_MS = 60_000;

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
  createAdapter: (config) =>
    new PrismaPg(openPool(config), { schema: schemaOf(config.url), disposeExternalPool: true }),
  judge,

  async openMigration({ url, waitMs }: DatabaseConfig): Promise<MigrationSession> {
    const client = new Client({
      connectionString: url,
      connectionTimeoutMillis: waitMs,
      lock_timeout: MIGRATION_LOCK_MS,
    });
    await client.connect().catch((error: unknown) => {
      throw connectErrorOf(client, error);
    });
    const run = async (script: string) => void (await client.query(script));
    try {
      await run(`BEGIN; SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
      await enterSchema(client, schemaOf(url));
    } catch (error) {
      await client.end();
      throw error;
    }
    return {
      query: async (statement) => (await client.query<Record<string, unknown>>(statement)).rows,
      run,
      commit: () => run("COMMIT"),
      close: () => client.end(),
    };
  },
};

/**
 * Opens a pool whose connections are given up when they are in use for too long: one that has gone silent would keep its
 * place for ever, and two time-outs together shall stay under five seconds.
 */
function openPool({ url, waitMs, poolSize }: DatabaseConfig): Pool {
  const pool = new Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: waitMs,
    // The server's own clock, so that it does not go on with what nobody waits for.
    statement_timeout: waitMs,
    idle_in_transaction_session_timeout: 2 * waitMs,
    options: `-c search_path=${schemaOf(url)}`,
    keepAlive: true,
    application_name: "tsgi",
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
  const { rows } = await client.query<{ found: boolean }>('SELECT to_regnamespace($1) IS NOT NULL AS "found"', [name]);
  const schema = escapeIdentifier(name);
  // Not `IF NOT EXISTS`: that asks for the right to make schemas also where there is nothing to make.
  await client.query(`${rows[0]?.found ? "" : `CREATE SCHEMA ${schema};`} SET LOCAL search_path TO ${schema}`);
}

/**
 * Prisma's codes for: server not reached, or not in time; no connection in time, or no more of them; connection closed;
 * the line for a transaction too long.
 */
const UNAVAILABLE = /^(?:P1001|P1002|P1008|P1017|P2024|P2028|P2037)$/;
/** A write conflict or a deadlock: the other one has won, and is done by now. */
const CONFLICT = "P2034";
/**
 * Classes of SQLSTATE (PostgreSQL, appendix A): connection exception, insufficient resources, operator intervention
 * (also the server's statement time-out), and the time-out of an idle transaction.
 */
const UNAVAILABLE_STATES = /^(?:08|53|57)|^25P03$/;
/** Messages of the driver for a connection that is lost or not made; it has no code for them. */
const LOST =
  /^(?:Connection terminated|timeout e(?:xceeded when trying to connect|xpired)|Client (?:has encountered a connection|was closed))/;

function judge(error: unknown): Verdict {
  if (error instanceof ConnectError) return judge(error.cause);
  const { code: own, message } = describeError(error);
  // Node's codes, such as ECONNREFUSED and EAI_AGAIN, and what the server says to whom it does not let in.
  if (/^E[A-Z_]+$/.test(own) || LOST.test(message) || (own.length === 5 && UNAVAILABLE_STATES.test(own))) {
    return "unavailable";
  }
  const { code, state } = codesOf(error);
  if (code === CONFLICT) return "busy";
  return UNAVAILABLE.test(code) || UNAVAILABLE_STATES.test(state) ? "unavailable" : "fault";
}

/** The error for a server that a client could not connect to. */
export function connectErrorOf({ host, port, user = "", database = "" }: Client, cause: unknown): ConnectError {
  const place = `-h ${quoteWord(host)} -p ${port}`;
  const server = {
    name: "PostgreSQL",
    host,
    port,
    startCommand: process.platform === "darwin" ? "brew services start postgresql" : "sudo systemctl start postgresql",
    pingCommand: `pg_isready ${place}`,
  };
  // SQLSTATE (PostgreSQL, appendix A): what the server says of names and passwords that it does not know.
  const remedies: Readonly<Record<string, string>> = {
    "3D000": `Create the database with createdb ${place} -U ${quoteWord(user)} ${quoteWord(database)}, or correct the URL`,
    "28000": `Create the role with createuser ${place} -U postgres --pwprompt ${quoteWord(user)}, or correct the URL`,
    "28P01": `Set the password with psql ${place} -U postgres -c ${quoteWord(String.raw`\password ${user}`)}, or correct the URL`,
    "53300": `It has no connection left: see who has them with psql ${place} -U postgres -c 'TABLE pg_stat_activity', or take a smaller pool`,
  };
  // 28000 also says that pg_hba.conf lets nobody in from here, which no new role would change.
  const { code, message } = describeError(cause);
  const isKnown = code !== "28000" || message.endsWith(" does not exist");
  return new ConnectError(server, cause, isKnown ? remedies[code] : undefined);
}
