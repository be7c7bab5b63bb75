/**
 * `make bench-baseline`: measures everything together with the peers and writes the ratios to
 * `load-tests/baseline.json`, with the machine. Commit it only from an otherwise idle machine. `RUN=file.json` takes
 * them from a run that there was.
 *
 * @module
 */
import path from "node:path";
import { pathToFileURL } from "node:url";
import { type Baseline, ratiosOf, writeBaseline } from "./baseline.js";
import { BASELINE } from "./paths.js";
import { readRun } from "./published.js";
import { measureAll, reportFaults } from "./run.js";
import { readSettings } from "./settings.js";

const run = process.env["RUN"];
const report = run
  ? await readRun(pathToFileURL(path.resolve(process.env["INIT_CWD"] ?? "", run)))
  : await measureAll(readSettings({ ...process.env, PEERS: "1", ONLY: "direct,routing,http" }));
process.exitCode = reportFaults(report);
if (process.exitCode === 0) {
  const { started, machine, peers } = report;
  const { cpu, cores, node } = machine;
  const baseline: Baseline = {
    date: new Date(started).toISOString().slice(0, 10),
    node,
    cpu,
    cores,
    peers,
    ratios: ratiosOf(report.sections),
  };
  await writeBaseline(baseline, BASELINE);
  process.stdout.write("\nWrote load-tests/baseline.json. Commit it with the change that it belongs to.\n");
}
