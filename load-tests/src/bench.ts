/**
 * `make bench`: measures, prints the tables, and writes the figures to `.cache/bench/latest.json`.
 *
 * Ends with status 1 when an answer was wrong, 2 when the environment asks for something that there is not.
 *
 * @module
 */
import { mkdir, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { dirname, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { measureDirect } from "./direct.js";
import { measureHTTP } from "./http.js";
import { REPOSITORY, RESULTS } from "./paths.js";
import { preparePeers } from "./peers.js";
import { Progress } from "./progress.js";
import { faultsOf, type Result } from "./rounds.js";
import { measureRouting } from "./routing.js";
import { readSettings, type Section, type Settings } from "./settings.js";
import { measureStartup } from "./startup.js";
import { directTable, httpTable, routingTable, startupTable } from "./tables.js";

interface Part {
  readonly measure: (settings: Settings, progress: Progress) => Promise<Result[]>;
  readonly table: (results: readonly Result[], settings: Settings) => string;
}

const PARTS: Readonly<Record<Section, Part>> = {
  direct: { measure: measureDirect, table: directTable },
  routing: { measure: measureRouting, table: routingTable },
  http: { measure: measureHTTP, table: httpTable },
  startup: { measure: measureStartup, table: startupTable },
};

const settings = settingsOrExit();
const progress = new Progress();
const started = new Date();
const machine = { cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length, node: process.version };
print(`tsgi benchmark · Node ${machine.node} · ${machine.cores} × ${machine.cpu}`);
if (settings.quick) {
  print("QUICK: fewer requests and rounds than the reference protocol, figures to try out only.");
}
if (settings.peers) {
  progress.step("installing the peers into .cache/peers");
}
const peers = settings.peers ? await preparePeers() : {};

const sections: Partial<Record<Section, readonly Result[]>> = {};
for (const section of settings.sections) {
  const results = await PARTS[section].measure(settings, progress);
  sections[section] = results;
  progress.clear();
  print(`\n${PARTS[section].table(results, settings)}`);
}

const output = settings.output === null ? fileURLToPath(RESULTS) : resolve(settings.output);
await mkdir(dirname(output), { recursive: true });
await writeFile(output, `${JSON.stringify({ started, machine, settings, peers, sections }, null, 2)}\n`);
const seconds = (Date.now() - started.getTime()) / 1_000;
print(
  `\n${seconds.toFixed(0)} s. Figures: ${relative(fileURLToPath(REPOSITORY), output)}. ` +
    "What they do not show: load-tests/README.md. None is a promise.",
);

const faults = Object.values(sections).flatMap(faultsOf);
for (const fault of faults) {
  process.stderr.write(`wrong answer: ${fault}\n`);
}
process.exitCode = faults.length === 0 ? 0 : 1;

function settingsOrExit(): Settings {
  try {
    return readSettings(process.env);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return process.exit(2);
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
