/**
 * Sends mutated requests to `serve` and to `node:http` until the time is up:
 *   npm run fuzz -w framework -- --minutes 60 --seed 1
 * A failure is printed with the seed that repeats it, and the process then ends with status 1.
 */
import { parseArgs } from "node:util";
import { Differential } from "./_http1-differential.js";
import type { Rule } from "./_http1-differences.js";
import { textsOf, tryAll } from "./_http1-trial.js";

const BATCH = 1000;
const REPORT_MS = 10_000;

const { values } = parseArgs({ options: { minutes: { type: "string", default: "1" }, seed: { type: "string" } } });
const first = values.seed === undefined ? Math.trunc(Math.random() * 1_000_000_000) : Number(values.seed);
const deadline = performance.now() + Number(values.minutes) * 60_000;
if (!Number.isSafeInteger(first) || Number.isNaN(deadline)) {
  process.stderr.write("Expected --minutes NUMBER and --seed NUMBER.\n");
  process.exit(2);
}

process.stdout.write(`Fuzzing for ${values.minutes} minutes from seed ${first} on.\n`);
await using both = await Differential.start();
const used = new Map<Rule, number>();
let reportAt = performance.now() + REPORT_MS;
for (let seed = first; performance.now() < deadline; seed++) {
  const failure = await tryAll(both, textsOf(seed, BATCH), used);
  if (failure !== null || both.logged.length > 0) {
    const logged = both.logged.map((line) => `  logged: ${JSON.stringify(line)}\n`).join("");
    process.stdout.write(`FAILED with --seed ${seed}\n`);
    process.stdout.write(`  input: ${JSON.stringify(failure?.text)}\n  ${failure?.reason ?? ""}\n${logged}`);
    process.exitCode = 1;
    break;
  }
  if (performance.now() > reportAt) {
    reportAt += REPORT_MS;
    const mebibytes = Math.round(process.memoryUsage().rss / 1024 / 1024);
    process.stdout.write(`${(seed - first + 1) * BATCH} inputs, ${mebibytes} MiB\n`);
  }
}
const differences = [...used].toSorted(([, a], [, b]) => b - a).map(([{ name }, count]) => `  ${count} ${name}\n`);
process.stdout.write(`Differences from node:http, by rule:\n${differences.join("")}`);
