/**
 * Writes the Prisma clients into src/generated, one for each database, when they are missing or the schema has changed
 * since. A client of Prisma knows one kind of database, so the schema, which names SQLite, is copied for PostgreSQL.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { text } from "node:stream/consumers";

const project = path.dirname(import.meta.dirname);
const generated = path.join(project, "src/generated");
const stamp = path.join(generated, ".made-from");
const require = createRequire(import.meta.url);

const schema = readFileSync(path.join(project, "prisma/schema.prisma"), "utf8");
const prisma = require.resolve("prisma/package.json");
const made = createHash("sha256")
  .update(schema)
  .update(readFileSync(import.meta.filename))
  .update(JSON.parse(readFileSync(prisma, "utf8")).version)
  .digest("hex");

/** @returns {string} the source of the existing clients, or an empty string */
function readStamp() {
  try {
    return readFileSync(stamp, "utf8");
  } catch {
    return "";
  }
}

/** @param {string} schemaFile */
async function generate(schemaFile) {
  const parameters = [path.join(path.dirname(prisma), "build/index.js"), "generate", "--schema", schemaFile];
  const child = spawn(process.execPath, parameters, {
    cwd: project,
    stdio: ["ignore", "pipe", "pipe"],
    // `generate` never runs the schema engine, but every Prisma command first looks for it on the network, unless it is
    // told of an existing file. Only here: the commands that need the engine must get the real one.
    env: {
      ...process.env,
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      PRISMA_HIDE_UPDATE_MESSAGE: "1",
      CHECKPOINT_DISABLE: "1",
    },
  });
  const [output, errors, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  if (status !== 0) {
    throw new Error(`${output}${errors}prisma generate failed for ${schemaFile}`);
  }
}

if (readStamp() !== made) {
  rmSync(generated, { recursive: true, force: true });
  mkdirSync(generated, { recursive: true });
  const postgresql = path.join(generated, "postgresql.prisma");
  writeFileSync(
    postgresql,
    schema.replace('provider = "sqlite"', 'provider = "postgresql"').replace("../src/generated/sqlite", "./postgresql"),
  );
  try {
    await Promise.all([path.join(project, "prisma/schema.prisma"), postgresql].map(generate));
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
  writeFileSync(stamp, made);
}
