/** Copies of a database of PostgreSQL. @module */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import { setTimeout as delay } from "node:timers/promises";
import { Client, type ClientConfig, escapeIdentifier, escapeLiteral } from "pg";
import { describeError } from "tsgi/internals";
import { transactionError } from "../errors.js";
import { CREATE_JOBS } from "./jobs.js";

/** A database that is copied. */
export interface Original {
  /** The configuration of a connection to a database of its server. @param name - `null` for the configured one. */
  configOf(name: string | null): ClientConfig;
  /** The schema of the tables. */
  readonly schema: string;
  /** The tables of tsgi that a template needs. */
  readonly tables: readonly string[];
  /** Identifies the content of the template: it is made again when a migration changes. */
  readonly fingerprint: string;
  /** Applies the migrations to an empty database. */
  migrate(name: string): Promise<void>;
  /** Makes the error for a server that a client could not connect to. */
  errorOf(client: Client, cause: unknown): unknown;
}

/** A copy of a database. */
export interface Copy {
  readonly name: string;
  /** Removes it. */
  drop(): Promise<void>;
}

/** Begins the comment of a template: a database without it is not changed. */
const MARK = "tsgi template ";

/** Processes that start at the same time make the template one after the other. */
const LOCK = "SELECT pg_advisory_lock(hashtextextended('tsgi sandbox', 0))";
const LOCK_MS = 120_000;

/** Copies that belong to no process: the one that made them was killed. Each process keeps a connection to its copy. */
const LEFT = `SELECT datname AS name FROM pg_database d WHERE starts_with(datname, $1)
AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.datid = d.oid)`;

const TEMPLATE = `SELECT shobj_description(oid, 'pg_database') AS comment FROM pg_database WHERE datname = $1`;

/** Makes a copy of the template next to the configured database, and the template if it is missing or stale. */
export async function copyPostgreSQL(original: Original): Promise<Copy> {
  const admin = await connect(original, null);
  try {
    await admin.query(`SET lock_timeout = ${LOCK_MS}`);
    await admin.query(LOCK);
    const { rows } = await admin.query<{ name: string }>("SELECT current_database() AS name");
    const name = rows[0]?.name ?? "";
    const prefix = extend(name, "_sandbox_", 8);
    await dropLeft(admin, prefix);
    const template = extend(name, "_template");
    await makeTemplate(admin, template, original);
    const copy = `${prefix}${randomBytes(4).toString("hex")}`;
    await create(admin, copy, template);
    // The connection shows other processes that this copy is in use. It ends with the process, which it does not keep alive.
    const keeper = await connect(original, copy);
    unref(keeper);
    return copyOf(original, copy, keeper);
  } finally {
    await admin.end();
  }
}

async function connect(original: Original, name: string | null): Promise<Client> {
  const client = new Client({
    ...original.configOf(name),
    connectionTimeoutMillis: 5_000,
    application_name: "tsgi-sandbox",
  });
  client.on("error", () => {}); // a lost connection would end the process
  await client.connect().catch((error: unknown) => {
    throw original.errorOf(client, error);
  });
  return client;
}

/** The types of `pg` lack it. */
function unref(client: Client & { unref?: () => void }): void {
  client.unref?.();
}

/** The URL of another database of a server. */
export function urlOf(url: string, database: string): string {
  const copy = new URL(url);
  copy.pathname = `/${encodeURIComponent(database)}`;
  return copy.href;
}

/** Adds to a name, which PostgreSQL limits to 63 bytes. @param room - Bytes that are added later. */
function extend(name: string, ending: string, room = 0): string {
  const bytes = Buffer.from(name).subarray(0, 63 - ending.length - room);
  return bytes.toString().replace(/\uFFFD+$/, "") + ending;
}

async function dropLeft(admin: Client, prefix: string): Promise<void> {
  const { rows } = await admin.query<{ name: string }>(LEFT, [prefix]);
  // Without FORCE: it fails if a process has connected meanwhile.
  for (const { name } of rows) await admin.query(`DROP DATABASE ${escapeIdentifier(name)}`).catch(() => {});
}

async function makeTemplate(admin: Client, template: string, original: Original): Promise<void> {
  const expected = `${MARK}${original.fingerprint}`;
  const { rows } = await admin.query<{ comment: string | null }>(TEMPLATE, [template]);
  const [found] = rows;
  if (found?.comment === expected) return;
  if (found !== undefined && !found.comment?.startsWith(MARK))
    throw transactionError("TSGI_SANDBOX_TEMPLATE", template);
  const name = escapeIdentifier(template);
  if (found !== undefined) await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
  await create(admin, template, "template0");
  await comment(admin, template, `${MARK}in progress`);
  await original.migrate(template);
  await addTables(original, template);
  await comment(admin, template, expected);
}

const comment = (admin: Client, name: string, text: string) =>
  admin.query(`COMMENT ON DATABASE ${escapeIdentifier(name)} IS ${escapeLiteral(text)}`);

/** The tables of tsgi and of pg-boss. Each role may enqueue jobs, as if it had grants for the tables of pg-boss. */
async function addTables(original: Original, template: string): Promise<void> {
  const client = await connect(original, template);
  try {
    const schema = escapeIdentifier(original.schema);
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}; SET search_path TO ${schema}`);
    for (const statement of [...original.tables, CREATE_JOBS]) await client.query(statement);
    await client.query(`GRANT USAGE ON SCHEMA ${schema} TO PUBLIC; GRANT ALL ON "tsgi_sandbox_jobs" TO PUBLIC`);
    const boss = await loadPgBoss();
    if (boss !== null) await client.query(boss.getConstructionPlans("pgboss"));
  } finally {
    await client.end();
  }
}

interface PgBoss {
  getConstructionPlans(schema: string): string;
}

/** The package is not installed in most projects, and needs a newer Node.js than tsgi. */
async function loadPgBoss(): Promise<PgBoss | null> {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < 22 || (major === 22 && minor < 12)) return null;
  const name: string = "pg-boss";
  return (await import(name).catch(() => null)) as PgBoss | null;
}

/** `object_in_use`: another program, such as a monitor, is connected to the template for a moment. */
const IN_USE = "55006";
/** `insufficient_privilege`. */
const FORBIDDEN = "42501";

async function create(admin: Client, name: string, template: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await admin.query(`CREATE DATABASE ${escapeIdentifier(name)} TEMPLATE ${escapeIdentifier(template)}`);
      return;
    } catch (error) {
      const { code } = describeError(error);
      if (code === FORBIDDEN)
        throw Object.assign(transactionError("TSGI_SANDBOX_CREATEDB", admin.user), { cause: error });
      if (code !== IN_USE || tries === 20) throw error;
    }
    await delay(100);
  }
}

/** Drops a database, in a separate program: a process cannot wait at its end. */
const DROP = `const { Client } = require(process.env.TSGI_SANDBOX_PG);
const client = new Client({ ...JSON.parse(process.env.TSGI_SANDBOX_CONFIG), connectionTimeoutMillis: 5000 });
client.on("error", () => {});
client.connect().then(() => client.query(process.env.TSGI_SANDBOX_SQL)).catch(() => {}).finally(() => client.end());`;

function copyOf(original: Original, name: string, keeper: Client): Copy {
  const sql = `DROP DATABASE IF EXISTS ${escapeIdentifier(name)} WITH (FORCE)`;
  const atExit = () => {
    const program = createRequire(import.meta.url).resolve("pg");
    const config = JSON.stringify(original.configOf(null));
    const env = { ...process.env, TSGI_SANDBOX_PG: program, TSGI_SANDBOX_CONFIG: config, TSGI_SANDBOX_SQL: sql };
    spawn(process.execPath, ["--input-type=commonjs", "-e", DROP], { detached: true, stdio: "ignore", env }).unref();
  };
  process.once("exit", atExit);
  return {
    name,
    drop: async () => {
      process.removeListener("exit", atExit);
      await keeper.end();
      const admin = await connect(original, null);
      try {
        await admin.query(sql);
      } finally {
        await admin.end();
      }
    },
  };
}
