/**
 * Runs the tests with the slow ones, and then on the newest LTS of Node what depends on Node. With arguments, which go to
 * jest, only the first.
 */
import { spawnSync } from "node:child_process";

const args = process.argv.slice(2);

/** Returns the status. */
function run(command, env = {}) {
  return spawnSync("npm", command, { stdio: "inherit", env: { ...process.env, ...env } }).status ?? 1;
}

const status = run(["test", "--silent", "--", ...args], { TSGI_SLOW: "1" });
process.exitCode = args.length > 0 ? status : Math.max(status, run(["run", "--silent", "test-lts"]));
