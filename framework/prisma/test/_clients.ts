/** Clients that Prisma generates for the tests, in a cache by their schema. */
import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { Client as Connection } from "pg";
import { openPrisma, type PrismaModule, type PrismaOptions } from "../src/index.js";

/** The small compiler of queries is loaded in less time than the fast one, and most tests run a few queries. */
const schemaOf = (provider: string) => `generator client {
  provider               = "prisma-client"
  output                 = "./${provider}"
  moduleFormat           = "esm"
  importFileExtension    = "js"
  generatedFileExtension = "ts"
  compilerBuild          = "small"
}
datasource db {
  provider = "${provider}"
}
model User {
  id    Int    @id @default(autoincrement())
  name  String @unique
  email String @default("")
  pens  Pen[]
}
model Pen {
  id      Int    @id @default(autoincrement())
  name    String
  ownerId Int
  owner   User   @relation(fields: [ownerId], references: [id])
}
`;

interface Model<Row> {
  create(query: { data: Partial<Row> & { readonly pens?: object } }): Promise<Row>;
  update(query: { where: { name: string }; data: object }): Promise<Row>;
  updateMany(query: { data: Partial<Row> }): Promise<{ count: number }>;
  deleteMany(): Promise<{ count: number }>;
  count(): Promise<number>;
}

/** The parts of the generated client that the tests use. */
export interface Client {
  readonly user: Model<{ id: number; name: string; email: string }>;
  readonly pen: Model<{ id: number; name: string; ownerId: number }>;
  $disconnect(): Promise<void>;
}

const CACHE = path.resolve(".cache/prisma");
const SCHEMAS = ["sqlite", "postgresql"].map((provider) => [provider, schemaOf(provider)] as const);
const home = path.join(CACHE, createHash("sha256").update(JSON.stringify(SCHEMAS)).digest("hex").slice(0, 16));

/** Generates both if they are missing, each as one file of JavaScript. Every test file may do so at once. */
async function generate(): Promise<void> {
  if (existsSync(home)) return;
  const folder = path.join(CACHE, randomUUID());
  mkdirSync(folder, { recursive: true });
  const manifest = createRequire(import.meta.url).resolve("prisma/package.json");
  const command = path.join(path.dirname(manifest), "build/index.js");
  // Only `generate` works without the engine, but it still looks for it on the network.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: "1" };
  const run = promisify(execFile);
  const { build } = await import("esbuild");
  await Promise.all(
    SCHEMAS.map(async ([provider, schema]) => {
      const file = path.join(folder, `${provider}.prisma`);
      writeFileSync(file, schema);
      await run(process.execPath, [command, "generate", "--schema", file], { cwd: folder, env });
      const [input, outfile] = ["ts", "js"].map((ending) => path.join(folder, provider, `client.${ending}`));
      await build({ entryPoints: [input ?? ""], outfile, bundle: true, packages: "external", format: "esm" });
    }),
  );
  try {
    renameSync(folder, home);
  } catch {
    rmSync(folder, { recursive: true, force: true }); // another was faster
  }
}

/** The file of the generated client of a provider. */
export async function clientFileOf(provider: string): Promise<string> {
  await generate();
  return path.join(home, provider, "client.js");
}

/** Loads the generated client of a provider. */
export async function loadClient(provider: string): Promise<PrismaModule<Client>> {
  return (await import(await clientFileOf(provider))) as PrismaModule<Client>;
}

export const MIGRATIONS = path.join(import.meta.dirname, "fixtures/migrations");

/** A client for a database with the tables of the tests. */
export async function openClient(
  url: string,
  options: Partial<PrismaOptions<Client>> = {},
  { isMigrated = true } = {},
) {
  return openPrisma<Client>({
    url,
    waitMs: 10_000, // of a machine that is busy
    poolSize: 5,
    ...(isMigrated && { migrations: MIGRATIONS }),
    sqlite: () => loadClient("sqlite"),
    postgresql: () => loadClient("postgresql"),
    ...options,
  });
}

/** A folder that is removed at the end of the surrounding block. */
export async function temporaryFolder(): Promise<{ path: string } & AsyncDisposable> {
  const folder = await mkdtemp(path.join(tmpdir(), "tsgi-prisma-"));
  return { path: folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

/** The URL of an SQLite file, in a folder that is removed at the end of the surrounding block. */
export async function createFile(): Promise<{ url: string } & AsyncDisposable> {
  const folder = await temporaryFolder();
  return { url: `file:${folder.path}/test.db`, [Symbol.asyncDispose]: folder[Symbol.asyncDispose] };
}

/** An SQLite file with the tables of the tests, and a client for it. */
export async function openTables() {
  const file = await createFile();
  const db = await openClient(file.url);
  return {
    db,
    url: file.url,
    [Symbol.asyncDispose]: async () => {
      await db.$disconnect();
      await file[Symbol.asyncDispose]();
    },
  };
}

/** The URL of an unused schema in a PostgreSQL. */
export function createSchema(server: string): string {
  const url = new URL(server);
  url.searchParams.set("schema", `test_${randomUUID().replaceAll("-", "")}`);
  return url.href;
}

/** Runs one statement on a separate connection. */
export async function queryPostgreSQL(url: string, sql: string): Promise<unknown[]> {
  const client = new Connection({ connectionString: url, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    return (await client.query<object>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Reads a time, and tells if the time of a parameter arrives as {@link NOON}. */
export const TIMES = `SELECT TIMESTAMPTZ '2026-01-01 12:00+00' AS "read", $1::timestamptz = '2026-01-01 12:00+00' AS "isWritten"`;
export const NOON = new Date("2026-01-01T12:00:00Z");
