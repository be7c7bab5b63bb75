/** The client of Prisma, and its rows. @module */
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { PEERS, REPOSITORY } from "../paths.js";
import type { Case } from "../suite/case.js";
import { LOGIN } from "./accounts.js";

/** A query on Prisma is several times the work of one on `pg`. */
const SHARE = 0.1;
/** So many requests are saturation, and few beside those that are measured. */
const CONNECTIONS = 8;

const SUFFIX = ", Prisma";

/** The same case with fewer requests. The work of a login is its hash, whatever the driver. */
export function onPrisma(one: Case): Case {
  const load = one.path === LOGIN.path ? {} : { share: one.share * SHARE, connections: CONNECTIONS };
  return { ...one, name: one.name + SUFFIX, ...load };
}

/** True for a row that was measured on Prisma. */
export function isPrismaRow(row: string): boolean {
  return row.endsWith(SUFFIX);
}

/** Generates the client beside the peers, and makes JavaScript of it, which is what the peers are. */
export async function generateClient(): Promise<void> {
  const folder = fileURLToPath(new URL("database/", PEERS));
  const sample = createRequire(new URL("sample-auth-app/package.json", REPOSITORY));
  const command = join(sample.resolve("prisma/package.json"), "../build/index.js");
  // Only `generate` does without the engine, which it looks for on the network all the same.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: "1" };
  await promisify(execFile)(process.execPath, [command, "generate", "--schema", "schema.prisma"], { cwd: folder, env });
  await build({
    entryPoints: [join(folder, "client/client.ts")],
    outfile: join(folder, "client/client.js"),
    bundle: true,
    packages: "external",
    format: "esm",
    platform: "node",
    logLevel: "error",
  });
}
