#!/usr/bin/env node
/** The command that `npm create tsgi` runs. */
import { existsSync } from "node:fs";
import path from "node:path";
import process from "node:process";

const packageRoot = path.dirname(import.meta.dirname ?? "");
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);

if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`create-tsgi: Node 20.19 or newer is needed, this is Node ${process.versions.node}\n`);
  process.exitCode = 1;
} else if (await isBuilt()) {
  // `create-tsgi --help | head -1`: without a listener, Node ends the process with EPIPE.
  for (const output of [process.stdout, process.stderr]) {
    output.on("error", () => {});
  }
  const { main } = await import("../dist/bundle/cli.js");
  process.exitCode = await main(process.argv.slice(2), packageRoot);
} else {
  process.exitCode = 1;
}

/** The published package has the bundle only. The repository builds it again after a change of the sources. */
async function isBuilt() {
  const script = path.join(packageRoot, "scripts/bundle.js");
  if (!existsSync(script)) {
    return true;
  }
  try {
    const { bundleWhereNeeded } = await import("../scripts/bundle.js");
    await bundleWhereNeeded(packageRoot);
    return true;
  } catch (error) {
    const reason =
      error.code === "ERR_MODULE_NOT_FOUND" ? "its packages are missing: run npm install first" : String(error);
    process.stderr.write(`create-tsgi: the repository's own generator cannot be built: ${reason}\n`);
    return false;
  }
}
