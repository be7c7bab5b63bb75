/**
 * Checks that the migrations of a database create the tables of prisma/schema.prisma: it applies them to the empty
 * database in DATABASE_URL, and asks Prisma's engine for the difference. Prints that as SQL; ends with status 1 when
 * there is something.
 *
 * The engine is the one that Prisma compiles to WebAssembly: one package without dependencies, fetched the first time.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

import { bindMigrationAwareSqlAdapterFactory } from "@prisma/driver-adapter-utils";

import { connect } from "../dist/database.js";

const ENGINE = "@prisma/schema-engine-wasm@7.10.0-4.0edf323efd1d98336f3f0a68684b56f689b900d3";
const project = path.dirname(import.meta.dirname);
const cache = path.join(project, "node_modules/.cache/schema-engine");
const folder = path.join(cache, "node_modules/@prisma/schema-engine-wasm");

async function loadEngine() {
  if (!existsSync(folder)) {
    mkdirSync(cache, { recursive: true });
    const flags = ["--prefix", cache, "--no-save", "--no-package-lock", "--ignore-scripts"];
    // On Windows, npm is a batch file, which needs a shell.
    execFileSync("npm", ["install", ...flags, ENGINE], { stdio: "ignore", shell: process.platform === "win32" });
  }
  const engine = await import(pathToFileURL(path.join(folder, "schema_engine_bg.js")).href);
  const bytes = readFileSync(path.join(folder, "schema_engine_bg.wasm"));
  const { instance } = await WebAssembly.instantiate(bytes, { "./schema_engine_bg.js": engine });
  engine["__wbg_set_wasm"](instance.exports);
  instance.exports["__wbindgen_start"]();
  return engine;
}

/** @returns Prisma's own way to the database at a URL */
async function createAdapter(url) {
  if (url.startsWith("file:")) {
    const { PrismaLibSql } = await import("@prisma/adapter-libsql");
    return new PrismaLibSql({ url });
  }
  const { PrismaPg } = await import("@prisma/adapter-pg");
  const adapter = new PrismaPg(
    { connectionString: url },
    { schema: new URL(url).searchParams.get("schema") ?? "public" },
  );
  const open = adapter.connect.bind(adapter);
  return Object.assign(adapter, { connect: async () => readingChars(await open()) });
}

/** The adapter does not know the types "char" and "char"[] (OIDs 18 and 1002), which PostgreSQL's own catalogue has. */
function readingChars(connection) {
  const performIO = connection.performIO.bind(connection);
  const known = new Map([
    [18, 25],
    [1002, 1009],
  ]);
  return Object.assign(connection, {
    performIO: async (query) => {
      const result = await performIO(query);
      for (const field of result.fields ?? []) {
        field.dataTypeID = known.get(field.dataTypeID) ?? field.dataTypeID;
      }
      return result;
    },
  });
}

const url = process.env.DATABASE_URL;
if (url === undefined) {
  throw new Error("DATABASE_URL: expected an empty database, but it is not set");
}
const db = await connect(url);
await db.$disconnect();
const schema = path.join(project, url.startsWith("file:") ? "prisma/schema.prisma" : "src/generated/postgresql.prisma");
const files = [{ path: schema, content: readFileSync(schema, "utf8") }];
const { SchemaEngine } = await loadEngine();
const factory = bindMigrationAwareSqlAdapterFactory(await createAdapter(url));
const engine = await SchemaEngine.new(
  { datamodels: files.map(({ path: name, content }) => [name, content]) },
  () => {},
  factory,
);
const { stdout, exitCode } = await engine.diff({
  from: { tag: "schemaDatasource", files, configDir: project },
  to: { tag: "schemaDatamodel", files },
  script: true,
  exitCode: true,
  shadowDatabaseUrl: null,
  filters: { externalTables: [], externalEnums: [] },
});
process.stdout.write(exitCode === 0 ? "The migrations and the schema agree.\n" : String(stdout));
process.exit(exitCode === 0 ? 0 : 1);
