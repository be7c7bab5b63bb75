/**
 * Tries generated inputs until the time is up:
 *   `npm run fuzz --prefix framework -- --target websocket --minutes 60 --seed 1`
 * A failure is printed with the seed that repeats it, and the process then ends with status 1.
 */
import { fork } from "node:child_process";
import path from "node:path";
import { parseArgs } from "node:util";
import { targets } from "./_fuzz-targets.js";
import type { FuzzReport } from "./_fuzz-process.js";

/** Milliseconds after which the inputs of one seed hang. A separate process cannot keep this one from noticing. */
const HANG_MS = 600_000;

const { values } = parseArgs({
  options: {
    target: { type: "string", default: "http1" },
    minutes: { type: "string", default: "1" },
    seed: { type: "string" },
  },
});
const { target } = values;
const minutes = Number(values.minutes);
const first = values.seed === undefined ? Math.trunc(Math.random() * 1_000_000_000) : Number(values.seed);
if (!targets.has(target) || !Number.isSafeInteger(first) || Number.isNaN(minutes)) {
  const names = [...targets.keys()].join("|");
  process.stderr.write(`Expected --target ${names}, --minutes NUMBER and --seed NUMBER.\n`);
  process.exit(2);
}

process.stdout.write(`Fuzzing ${target} for ${minutes} minutes from seed ${first} on.\n`);
const child = fork(path.join(import.meta.dirname, "_fuzz-process.ts"), [target, String(minutes), String(first)]);
const watchdog = setTimeout(() => fail("The inputs hang."), HANG_MS);
let seed = first;

function fail(failure: string): never {
  child.kill("SIGKILL");
  process.stdout.write(`FAILED with --target ${target} --seed ${seed}\n${failure.replaceAll(/^/gm, "  ")}\n`);
  process.exit(1);
}

child.on("message", (report: FuzzReport) => {
  watchdog.refresh();
  seed = report.seed;
  if (report.failure !== null) fail(report.failure);
  for (const line of report.lines) process.stdout.write(`${line}\n`);
});
child.on("exit", (code, signal) => {
  if (code !== 0) fail(`The process ended with ${signal ?? code}.`);
  clearTimeout(watchdog);
});
