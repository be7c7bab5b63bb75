/** Transactions of each client on a pool of `pg`, and notes that a policy guards. */
import path from "node:path";
import { Kysely, PostgresDialect, sql, type Transaction } from "kysely";
import { Client as Connection, Pool, type PoolClient, type PoolConfig } from "pg";
import { App, Depends, HTTPException, type Marker, Request, withParams } from "tsgi";
import { createTransactionOf, type RequestTransactionOptions, type RunTransaction } from "../src/index.js";
import { KeptLog } from "../../test/support/kept-log.js";
import { installOnDemand, IS_SLOW } from "../../test/support/on-demand.js";

type Rows = readonly Readonly<Record<string, unknown>>[];

/** A client, by the two functions that the tests need. */
export interface Client {
  readonly name: string;
  readonly take: (pool: Marker<Pool>, options?: RequestTransactionOptions) => Marker<object>;
  readonly rows: (tx: object, statement: string) => Promise<Rows>;
  /** Runs work in a savepoint, as the client has it. */
  readonly nest: (tx: object, work: (inner: object) => Promise<void>) => Promise<unknown>;
}

function clientOf<Tx extends object>(
  name: string,
  run: RunTransaction<PoolClient, Tx>,
  rows: (tx: Tx, statement: string) => Promise<{ rows: unknown[] }>,
  nest: (tx: Tx, work: (inner: object) => Promise<void>) => Promise<unknown>,
): Client {
  const transactionOf = createTransactionOf(run);
  return {
    name,
    take: (pool, options = {}) => Depends(transactionOf(pool, options)),
    rows: async (tx, statement) => (await rows(tx as Tx, statement)).rows as Rows,
    nest: (tx, work) => nest(tx as Tx, work),
  };
}

/** The parts of Drizzle that the tests use. npm cannot place it next to the packages that Prisma's tools omit. */
interface DrizzleTransaction {
  execute(query: object): Promise<{ rows: unknown[] }>;
  transaction(work: (tx: DrizzleTransaction) => Promise<void>): Promise<void>;
}
interface DrizzlePackage {
  drizzle: (config: { client: PoolClient }) => Pick<DrizzleTransaction, "transaction">;
  sql: { raw(text: string): object };
}

/** The versions of the page on databases. */
export const DATABASE_PACKAGES = ["kysely@0.28.8", "drizzle-orm@0.45.4"];

async function loadDrizzle(): Promise<Client> {
  const home = path.join(installOnDemand("databases", DATABASE_PACKAGES), "node_modules/drizzle-orm");
  const { drizzle } = (await import(path.join(home, "node-postgres/index.js"))) as DrizzlePackage;
  const { sql: raw } = (await import(path.join(home, "index.js"))) as DrizzlePackage;
  return clientOf<DrizzleTransaction>(
    "Drizzle",
    (client, work) => drizzle({ client }).transaction(work),
    (tx, statement) => tx.execute(raw.raw(statement)),
    (tx, work) => tx.transaction(work),
  );
}

/** A savepoint of a client that only has statements. */
async function savepoint(run: (statement: string) => Promise<unknown>, work: () => Promise<void>): Promise<void> {
  await run("SAVEPOINT own");
  try {
    await work();
    await run("RELEASE SAVEPOINT own");
  } catch (error) {
    await run("ROLLBACK TO SAVEPOINT own");
    throw error;
  }
}

export const CLIENTS: readonly Client[] = [
  ...(IS_SLOW ? [await loadDrizzle()] : []),
  clientOf<Transaction<object>>(
    "Kysely",
    (client, work) =>
      kyselyOf({ connect: async () => client, end: async () => {} })
        .transaction()
        .execute(work),
    (tx, statement) => sql.raw(statement).execute(tx),
    (tx, work) =>
      savepoint(
        (statement) => sql.raw(statement).execute(tx),
        () => work(tx),
      ),
  ),
  clientOf<PoolClient>(
    "pg",
    async (client, work) => {
      await client.query("BEGIN");
      try {
        await work(client);
        await client.query("COMMIT");
      } catch (error) {
        await client.query("ROLLBACK");
        throw error;
      }
    },
    (tx, statement) => tx.query(statement),
    (tx, work) =>
      savepoint(
        (statement) => tx.query(statement),
        () => work(tx),
      ),
  ),
];

function kyselyOf(pool: Pick<Pool, "end"> & { connect(): Promise<PoolClient> }): Kysely<object> {
  return new Kysely<object>({ dialect: new PostgresDialect({ pool }) });
}

/** The tenant of a request, from a header. */
const getLocals = withParams({ request: Request }, async ({ request }) => {
  const tenant = request.headers["x-tenant"];
  if (tenant === undefined) throw new HTTPException(401);
  return { "app.tenant": tenant };
});
export const locals = Depends(getLocals);

export const as = (tenant: string) => ({ headers: [["x-tenant", tenant]] as const });

/** The settings that a later transaction of the same connection sees. */
export const LEFT = `SELECT nullif(current_setting('app.tenant', true), '') AS "tenant", current_user = session_user AS "isUser"`;

const TABLES = (
  role: string,
) => `CREATE TABLE note (id serial PRIMARY KEY, text text NOT NULL UNIQUE DEFERRABLE INITIALLY DEFERRED,
  tenant text NOT NULL DEFAULT nullif(current_setting('app.tenant', true), ''));
ALTER TABLE note ENABLE ROW LEVEL SECURITY;
CREATE POLICY tenant ON note USING (tenant = nullif(current_setting('app.tenant', true), ''));
CREATE ROLE ${role}; GRANT ALL ON note TO ${role}; GRANT USAGE ON SEQUENCE note_id_seq TO ${role}`;

let count = 0;

/** A database with notes, its pool, and an application. */
export async function openNotes(server: string, options: PoolConfig = {}) {
  const name = `notes_${process.pid}_${++count}`;
  const admin = new Connection({ connectionString: server });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const pool = new Pool({ connectionString: url.href, max: 5, ...options });
  pool.on("error", () => {});
  const role = `tenant_of_${name}`;
  await pool.query(TABLES(role));
  const log = new KeptLog();
  const app = new App({ logger: log });
  const database = Depends(async () => pool, { scope: "app" });
  return {
    url: url.href,
    pool,
    role,
    log,
    app,
    database,
    admin,
    texts: async () =>
      (await pool.query<{ text: string }>("SELECT text FROM note ORDER BY id")).rows.map(({ text }) => text),
    async [Symbol.asyncDispose]() {
      await pool.end();
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await admin.query(`DROP ROLE ${role}`);
      await admin.end();
    },
  };
}
