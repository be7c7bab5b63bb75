/** Writes the Prisma client into src/generated, when it is missing or the schema has changed since. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const project = path.dirname(import.meta.dirname);
const output = path.join(project, "src/generated/prisma");
const stamp = path.join(output, ".made-from");
const require = createRequire(import.meta.url);

const prisma = require.resolve("prisma/package.json");
const made = createHash("sha256")
  .update(readFileSync(path.join(project, "prisma/schema.prisma")))
  .update(JSON.parse(readFileSync(prisma, "utf8")).version)
  .digest("hex");

/** @returns {string} what the client at hand was made from, or nothing */
function readStamp() {
  try {
    return readFileSync(stamp, "utf8");
  } catch {
    return "";
  }
}

if (readStamp() !== made) {
  rmSync(output, { recursive: true, force: true });
  const run = spawnSync(process.execPath, [path.join(path.dirname(prisma), "build/index.js"), "generate"], {
    cwd: project,
    encoding: "utf8",
    // `generate` never runs the schema engine, but every Prisma command first looks for it on the network, unless it is
    // told of an existing file. Only here: the commands that do need the engine shall get the real one.
    env: {
      ...process.env,
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      PRISMA_HIDE_UPDATE_MESSAGE: "1",
      CHECKPOINT_DISABLE: "1",
    },
  });
  if (run.status !== 0) {
    process.stderr.write(`${run.stdout}${run.stderr}prisma generate failed\n`);
    process.exit(1);
  }
  writeFileSync(stamp, made);
}
