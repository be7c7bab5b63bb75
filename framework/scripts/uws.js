// Installs uWebSockets.js for tests and benchmarks into .cache/uws, on demand: 41 MB that are otherwise not needed. The
// package is not on the registry under its own name; this republished build has a binary for Node 20 and Debian 12.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../../.cache/uws", import.meta.url));
const build = "uWebSockets.js@npm:@trufflesuite/uws-js-unofficial@20.30.0-unofficial.0";

if (!existsSync(`${folder}/node_modules/uWebSockets.js`)) {
  const quiet = ["--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--loglevel=error"];
  execFileSync("npm", ["install", "--prefix", folder, ...quiet, build], { stdio: "inherit" });
}
