#!/usr/bin/env node
/** The command `tsgi` belongs to `@tsgi/cli`: this starts it if it is installed, or prints how to install it. */
import { createRequire } from "node:module";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

/** The manifest of `@tsgi/cli`, next to the project in which the command was called or next to this package. */
function findManifest() {
  for (const place of [path.join(process.cwd(), "package.json"), import.meta.url]) {
    try {
      return createRequire(place).resolve("@tsgi/cli/package.json");
    } catch {
      // It is not installed there.
    }
  }
  return null;
}

const manifest = findManifest();
if (manifest === null) {
  process.stderr.write("The command tsgi is in a separate package. Run: npm install --save-dev @tsgi/cli\n");
  process.exitCode = 1;
} else {
  await import(pathToFileURL(path.join(path.dirname(manifest), "bin/tsgi.js")).href);
}
