/**
 * Runs tests on the newest LTS of Node, which npm installs into `.cache`: all of the core, the jobs and the webhooks, and one file of
 * each other workspace. Its last line is `Node 24.1.0: N passed, N failed, N skipped`, which it also writes into the file
 * that TEST_SUMMARY specifies. If this Node is that LTS, `make test` runs all tests on it, and this script does not run them again.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** The newest line of Node with long-term support. */
const LTS = "24";

const ROOT = path.dirname(import.meta.dirname);

/** Begin the paths of the files. */
const TESTS = [
  "framework/core/test/",
  "framework/jobs/test/",
  "framework/webhooks/test/",
  "framework/api-keys/test/api-keys.test.ts",
  "framework/broadcast/test/broadcast.test.ts",
  "framework/cli/test/run.test.ts",
  "framework/client/test/client.test.ts",
  "framework/conformance/test/statements.test.ts",
  "framework/lambda/test/to-lambda-stream.test.ts",
  "framework/login/test/login.test.ts",
  "framework/mcp/test/mcp.test.ts",
  "framework/metrics/test/metrics.test.ts",
  "framework/oauth/test/jwt-bearer.test.ts",
  "framework/openapi-tools/test/client.test.ts",
  "framework/otel/test/otel.test.ts",
  "framework/passwords/test/passwords.test.ts",
  "framework/prisma/test/postgresql.test.ts",
  "framework/redis/test/redis.test.ts",
  "framework/test/docs.test.ts",
  "framework/transactions/test/transaction-of.test.ts",
  "framework/uwebsockets/test/uws.test.ts",
  "framework/webhooks/test/webhooks.test.ts",
  "generators/test/projects.test.ts",
  "load-tests/test/run.test.ts",
  "sample-auth-app/test/repository/server.test.ts",
];

/** The folder of the LTS's program, which is installed if it is missing. */
function install() {
  const home = path.join(ROOT, `.cache/node-${LTS}`);
  const bin = path.join(home, "node_modules/.bin");
  if (!existsSync(path.join(bin, "node"))) {
    // The install script of the package fetches the program for this platform.
    const flags = ["--ignore-scripts=false", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"];
    execFileSync("npm", ["install", "--prefix", home, ...flags, `node@${LTS}`], { stdio: ["ignore", 2, 2] });
  }
  return bin;
}

/** Runs the tests on the LTS, and returns its version with the closing line. */
function runTests() {
  const folder = mkdtempSync(path.join(tmpdir(), "test-lts-"));
  const file = path.join(folder, "summary");
  const PATH = `${install()}${path.delimiter}${process.env.PATH}`;
  const env = { ...process.env, PATH, TEST_SUMMARY: file };
  const version = execFileSync("node", ["-p", "process.versions.node"], { env, encoding: "utf8" }).trim();
  const { status } = spawnSync("npm", ["test", "--silent", "--", ...TESTS], { cwd: ROOT, env, stdio: "inherit" });
  const [line] = existsSync(file) ? readFileSync(file, "utf8").split("\n") : ["0 passed, 1 failed, 0 skipped"];
  rmSync(folder, { recursive: true });
  if (status === 0) return `Node ${version}: ${line}`;
  process.exitCode = 1;
  // Jest may end after it has counted no failure.
  return `Node ${version}: ${line.replace(" 0 failed", " 1 failed")}`;
}

const own = process.versions.node;
const result = own.startsWith(`${LTS}.`) ? `Node ${own} is the newest LTS, and runs all tests.` : runTests();
if (process.env.TEST_SUMMARY) writeFileSync(process.env.TEST_SUMMARY, `${result}\n`);
console.log(result);
