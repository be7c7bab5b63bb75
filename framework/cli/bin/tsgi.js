#!/usr/bin/env node
/** The `tsgi` command. Lies outside `dist`, so that npm can link it before anything is built. */
import { existsSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";

const program = new URL("../dist/main.js", import.meta.url);

if (existsSync(program)) {
  await import(program.href);
} else {
  // Only in a clone: a published package is built.
  const repository = fileURLToPath(new URL("../../..", import.meta.url));
  process.stderr.write(`tsgi is not built yet. Run: npm --prefix ${repository} run build\n`);
  process.exitCode = 1;
}
