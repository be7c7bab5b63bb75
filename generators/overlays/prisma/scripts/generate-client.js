/**
 * Runs `prisma generate`, which writes the client into src/generated. It never runs the schema engine, but every Prisma command
 * first looks for it on the network, unless it finds an existing file.
 */
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";

const manifest = createRequire(import.meta.url).resolve("prisma/package.json");
const program = path.join(path.dirname(manifest), "build/index.js");
const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: "1" };
const { status, stdout, stderr } = spawnSync(process.execPath, [program, "generate"], { env, encoding: "utf8" });
if (status !== 0) {
  process.stderr.write(`${stdout}${stderr}`);
  process.exitCode = 1;
}
