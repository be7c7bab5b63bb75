/**
 * `make bench-compare`: measures beside the peers and compares the ratios with `load-tests/baseline.json`.
 *
 * Ends with status 1 when one is more than 5 % below it, in the median of three measurements, or when an answer was
 * wrong.
 *
 * @module
 */
import { compareWithBaseline, type Ratios, ratiosOf, readBaseline, regressedSections } from "./baseline.js";
import { changesTable } from "./changes-table.js";
import { measureAll, reportFaults } from "./run.js";
import { readSettings, type Section, type Settings } from "./settings.js";
import { median } from "./statistics.js";

/** A regression counts only when it is there in the median of so many measurements. */
const MEASUREMENTS = 3;

const baseline = await readBaseline();
const settings = readSettings({ ONLY: "direct,routing,http", ...process.env, PEERS: "1" });
const runs: Ratios[] = [await measure(settings)];
let changes = compareWithBaseline(runs[0] ?? {}, baseline.ratios);
for (let sections = regressedSections(changes); sections.length > 0 && runs.length < MEASUREMENTS;) {
  process.stdout.write(`\nSomething is more than 5 % lower: measuring ${sections.join(", ")} again.\n`);
  runs.push(await measure({ ...settings, sections }));
  if (runs.length === MEASUREMENTS) {
    changes = compareWithBaseline(mediansOf(runs), baseline.ratios);
    sections = regressedSections(changes);
  }
}
process.stdout.write(`\n${changesTable(changes, baseline)}\n`);
if (regressedSections(changes).length > 0) {
  process.exitCode = 1;
}

async function measure(of: Settings & { readonly sections: readonly Section[] }): Promise<Ratios> {
  const report = await measureAll(of);
  if (reportFaults(report) !== 0) {
    process.exit(1);
  }
  return ratiosOf(report.sections);
}

/** The first run, with each ratio as the median of the runs that measured it. */
function mediansOf(all: readonly Ratios[]): Ratios {
  return Object.fromEntries(
    Object.keys(all[0] ?? {}).map((name) => [name, median(all.flatMap((ratios) => ratios[name] ?? []))]),
  );
}
