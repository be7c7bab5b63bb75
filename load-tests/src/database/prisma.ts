/** The client of Prisma. @module */
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { PEERS, REPOSITORY } from "../paths.js";

/** Generates the client next to the peers, and compiles it to JavaScript, which the peers use. */
export async function generateClient(): Promise<void> {
  const folder = fileURLToPath(new URL("database/", PEERS));
  const sample = createRequire(new URL("sample-auth-app/package.json", REPOSITORY));
  const command = join(sample.resolve("prisma/package.json"), "../build/index.js");
  // Only `generate` works without the engine, but it still looks for it on the network.
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
