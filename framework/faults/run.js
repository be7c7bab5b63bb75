// Runs the fault injections that a server must withstand, one at a time and for real, and prints a row for each.
//   make faults                   all of them, some minutes
//   make faults ARGS="sigterm"    those whose names contain the word
// Each file in this folder is one fault: { fault, pass, run(), limitMs }. `run` returns the result, throws a Failed with the
// result if it exceeds the limit, and a Skipped with the reason if this machine cannot show it.
import { readdirSync } from "node:fs";
import { Failed, Skipped } from "./lib/outcome.js";

const LIMIT_MS = 180_000;

const words = process.argv.slice(2);
const files = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith(".js") && name !== "run.js")
  .filter((name) => words.length === 0 || words.some((word) => name.includes(word)));
if (files.length === 0) {
  process.stderr.write(`No fault is called ${words.join(" or ")}.\n`);
  process.exit(2);
}

const rows = [];
for (const [index, file] of files.entries()) {
  const { fault, pass, run, limitMs = LIMIT_MS } = await import(`./${file}`);
  process.stderr.write(`[${index + 1}/${files.length}] ${fault} …\n`);
  const startedAt = performance.now();
  const { outcome, figure } = await outcomeOf(run, limitMs);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  process.stderr.write(`      ${outcome}: ${figure} (${seconds} s)\n`);
  rows.push({ outcome, fault, figure, pass });
}

process.stdout.write(`\n${table(rows)}\n`);
const failed = rows.filter(({ outcome }) => outcome === "FAIL").length;
const skipped = rows.filter(({ outcome }) => outcome === "skip").length;
process.stdout.write(`${rows.length - failed - skipped} passed, ${failed} failed, ${skipped} skipped\n`);
process.exit(failed > 0 ? 1 : 0);

async function outcomeOf(run, limitMs) {
  let timer;
  const limit = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Failed(`not over after ${limitMs / 1000} s`)), limitMs);
  });
  try {
    return { outcome: "pass", figure: await Promise.race([run(), limit]) };
  } catch (error) {
    if (error instanceof Skipped) return { outcome: "skip", figure: error.message };
    return { outcome: "FAIL", figure: error instanceof Failed ? error.message : String(error?.stack ?? error) };
  } finally {
    clearTimeout(timer);
  }
}

function table(all) {
  const columns = ["outcome", "fault", "figure", "pass"];
  const head = { outcome: "", fault: "Fault", figure: "Figure", pass: "Passes with" };
  const lines = [head, ...all].map((row) => ({ ...row, figure: row.figure.split("\n")[0] }));
  const widths = columns.map((column) => Math.max(...lines.map((row) => row[column].length)));
  return lines
    .map((row) =>
      columns
        .map((column, index) => row[column].padEnd(widths[index]))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
