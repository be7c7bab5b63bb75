/** Copies of a database of PostgreSQL. @module */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { createRequire } from "node:module";
import { setTimeout as delay } from "node:timers/promises";
import { Client, escapeIdentifier, escapeLiteral } from "pg";
import { describeError } from "tsgi/internals";
import { schemaOf } from "../driver.js";
import { prismaError } from "../errors.js";
import { createTable } from "../idempotency-store.js";
import { applyMigrations } from "../migrations.js";
import { connectErrorOf } from "../postgresql.js";
import { type Copy, CREATE_JOBS, extend, type Original, templateOf } from "./copies.js";

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
export async function copyPostgreSQL(opening: Original): Promise<Copy> {
  const { config } = opening;
  const admin = await connect(config.url);
  try {
    await admin.query(`SET lock_timeout = ${LOCK_MS}`);
    await admin.query(LOCK);
    const { rows } = await admin.query<{ name: string }>("SELECT current_database() AS name");
    const name = rows[0]?.name ?? "";
    const prefix = extend(name, "_sandbox_", 8);
    await dropLeft(admin, prefix);
    const template = extend(name, "_template");
    await makeTemplate(admin, template, opening);
    const copy = `${prefix}${randomBytes(4).toString("hex")}`;
    await create(admin, copy, template);
    // The connection shows other processes that this copy is in use. It ends with the process, which it does not keep alive.
    const keeper = await connect(urlOf(config.url, copy));
    unref(keeper);
    return copyOf(opening, copy, keeper);
  } finally {
    await admin.end();
  }
}

async function connect(url: string): Promise<Client> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    application_name: "tsgi-sandbox",
  });
  client.on("error", () => {}); // a lost connection would end the process
  await client.connect().catch((error: unknown) => {
    throw connectErrorOf(client, error);
  });
  return client;
}

/** The types of `pg` lack it. */
function unref(client: Client & { unref?: () => void }): void {
  client.unref?.();
}

function urlOf(url: string, database: string): string {
  const copy = new URL(url);
  copy.pathname = `/${encodeURIComponent(database)}`;
  return copy.href;
}

async function dropLeft(admin: Client, prefix: string): Promise<void> {
  const { rows } = await admin.query<{ name: string }>(LEFT, [prefix]);
  // Without FORCE: it fails if a process has connected meanwhile.
  for (const { name } of rows) await admin.query(`DROP DATABASE ${escapeIdentifier(name)}`).catch(() => {});
}

async function makeTemplate(admin: Client, template: string, opening: Original): Promise<void> {
  const { driver, config, migrations } = opening;
  const expected = `${MARK}${templateOf(opening)}`;
  const { rows } = await admin.query<{ comment: string | null }>(TEMPLATE, [template]);
  const [found] = rows;
  if (found?.comment === expected) return;
  if (found !== undefined && !found.comment?.startsWith(MARK)) throw prismaError("TSGI_SANDBOX_TEMPLATE", template);
  const name = escapeIdentifier(template);
  if (found !== undefined) await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
  await create(admin, template, "template0");
  await comment(admin, template, `${MARK}in progress`);
  const url = urlOf(config.url, template);
  await applyMigrations(driver, { ...config, url }, migrations);
  await addTables(url);
  await comment(admin, template, expected);
}

const comment = (admin: Client, name: string, text: string) =>
  admin.query(`COMMENT ON DATABASE ${escapeIdentifier(name)} IS ${escapeLiteral(text)}`);

/** The tables of tsgi and of pg-boss. Each role may enqueue jobs, as if it had grants for the tables of pg-boss. */
async function addTables(url: string): Promise<void> {
  const client = await connect(url);
  try {
    const schema = escapeIdentifier(schemaOf(url));
    await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema}; SET search_path TO ${schema}`);
    for (const statement of [...createTable("BYTEA"), CREATE_JOBS]) await client.query(statement);
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
      if (code === FORBIDDEN) throw Object.assign(prismaError("TSGI_SANDBOX_CREATEDB", admin.user), { cause: error });
      if (code !== IN_USE || tries === 20) throw error;
    }
    await delay(100);
  }
}

/** Drops a database, in a separate program: a process cannot wait at its end. */
const DROP = `const { Client } = require(process.env.TSGI_SANDBOX_PG);
const client = new Client({ connectionString: process.env.TSGI_SANDBOX_URL, connectionTimeoutMillis: 5000 });
client.on("error", () => {});
client.connect().then(() => client.query(process.env.TSGI_SANDBOX_SQL)).catch(() => {}).finally(() => client.end());`;

function copyOf({ config }: Original, name: string, keeper: Client): Copy {
  const sql = `DROP DATABASE IF EXISTS ${escapeIdentifier(name)} WITH (FORCE)`;
  const atExit = () => {
    const program = createRequire(import.meta.url).resolve("pg");
    const env = { ...process.env, TSGI_SANDBOX_PG: program, TSGI_SANDBOX_URL: config.url, TSGI_SANDBOX_SQL: sql };
    spawn(process.execPath, ["--input-type=commonjs", "-e", DROP], { detached: true, stdio: "ignore", env }).unref();
  };
  process.once("exit", atExit);
  return {
    config: { ...config, url: urlOf(config.url, name), poolSize: 1, canExit: true },
    drop: async () => {
      process.removeListener("exit", atExit);
      await keeper.end();
      const admin = await connect(config.url);
      try {
        await admin.query(sql);
      } finally {
        await admin.end();
      }
    },
  };
}
