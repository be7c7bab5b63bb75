/** One run: every section measured, printed and written down. @module */
import { mkdir, writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { measureDatabase } from "./database.js";
import { measureDirect } from "./direct.js";
import { measureFootprint } from "./footprint.js";
import { measureHTTP } from "./http.js";
import { measureLatency } from "./latency.js";
import { remember, type Report } from "./history.js";
import { type Disturbance, noiseLines, watchMachine } from "./machine.js";
import { toPage } from "./page.js";
import { REPOSITORY, RESULTS } from "./paths.js";
import { preparePeers } from "./peers.js";
import { Progress, type ProgressOutput } from "./progress.js";
import { faultsOf, type Result } from "./rounds.js";
import { measureRealtime } from "./realtime.js";
import { measureRouting } from "./routing.js";
import { measureRuntimes } from "./runtimes.js";
import type { Section, Settings } from "./settings.js";
import { measureMiddleware } from "./middleware.js";
import { measurePayloads } from "./payloads.js";
import { measureSample } from "./sample.js";
import { measureStartup } from "./startup.js";
import { measureTypes } from "./types.js";
import { measureWebBundle } from "./web-bundle.js";
import {
  bundleTable,
  databaseTable,
  directTable,
  footprintTable,
  httpTable,
  latencyTable,
  middlewareTable,
  payloadsTable,
  realtimeTable,
  routingTable,
  runtimesTable,
  sampleTable,
  startupTable,
  typesTable,
} from "./tables.js";

/** The measurement and the tables of one section. */
export interface Part {
  readonly measure: (settings: Settings, progress: Progress) => Promise<Result[]>;
  readonly table: (results: readonly Result[], settings: Settings) => string;
}

/** The sections of a run. */
export type Parts = Readonly<Record<Section, Part>>;

const PARTS: Parts = {
  direct: { measure: measureDirect, table: directTable },
  routing: { measure: measureRouting, table: routingTable },
  http: { measure: measureHTTP, table: httpTable },
  database: { measure: measureDatabase, table: databaseTable },
  middleware: { measure: measureMiddleware, table: middlewareTable },
  payloads: { measure: measurePayloads, table: payloadsTable },
  realtime: { measure: measureRealtime, table: realtimeTable },
  runtimes: { measure: measureRuntimes, table: runtimesTable },
  latency: { measure: measureLatency, table: latencyTable },
  footprint: { measure: measureFootprint, table: footprintTable },
  sample: { measure: measureSample, table: sampleTable },
  startup: { measure: measureStartup, table: startupTable },
  bundle: { measure: measureWebBundle, table: bundleTable },
  types: { measure: measureTypes, table: typesTable },
};

/** The outputs of a run. */
export interface Streams {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: ProgressOutput;
}

/** The sizes of bundles are the same on any machine. */
const UNDISTURBED: Disturbance = { stolen: 0, others: 0, frequency: 0 };

/** Measures every section that is asked for, and prints a table after each. */
export async function measureAll(
  settings: Settings,
  streams: Streams = process,
  parts: Parts = PARTS,
): Promise<Report> {
  const print = (text: string): void => void streams.stdout.write(`${text}\n`);
  const progress = new Progress(streams.stderr);
  const started = new Date();
  const [load = 0] = loadavg();
  const machine = { cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length, node: process.version, load };
  print(`tsgi benchmark · Node ${machine.node} · ${machine.cores} × ${machine.cpu}`);
  if (load > machine.cores / 2) {
    print(
      `The machine is busy (load ${load.toFixed(1)}): figures will be low, and far apart. Measure again when it is not.`,
    );
  }
  if (settings.quick) {
    print("QUICK: a smoke test of fewer requests and rounds, which judges nothing.");
  }
  if (settings.peers) {
    progress.step("installing the peers into .cache/peers");
  }
  const peers = settings.peers ? await preparePeers() : {};
  const sections: Partial<Record<Section, readonly Result[]>> = {};
  const seconds: Partial<Record<Section, number>> = {};
  const disturbances: Partial<Record<Section, Disturbance>> = {};
  for (const section of settings.sections) {
    const began = performance.now();
    const watched = watchMachine();
    const results = await parts[section].measure(settings, progress);
    const disturbance = section === "bundle" ? UNDISTURBED : (disturbances[section] = watched());
    seconds[section] = Math.round((performance.now() - began) / 1_000);
    sections[section] = results;
    progress.clear();
    print(`\n${[parts[section].table(results, settings), ...noiseLines(disturbance)].join("\n")}`);
  }
  return { started, machine, settings, peers, seconds, disturbances, sections };
}

/** Says each wrong answer. Gives the exit status: 1 when there is one, else 0. */
export function reportFaults({ sections }: Pick<Report, "sections">, streams: Streams = process): number {
  const faults = Object.values(sections).flatMap(faultsOf);
  for (const fault of faults) {
    streams.stderr.write(`wrong answer: ${fault}\n`);
  }
  return faults.length === 0 ? 0 : 1;
}

/**
 * Measures every section that is asked for, prints a table after each, and writes all figures as JSON and as a page.
 *
 * @returns The exit status: 1 when an answer was wrong, else 0.
 */
export async function runBench(settings: Settings, streams: Streams = process, parts: Parts = PARTS): Promise<number> {
  const report = await measureAll(settings, streams, parts);
  const output = settings.output === null ? fileURLToPath(RESULTS) : resolve(settings.output);
  const page = output.replace(/(\.json)?$/, ".html");
  await mkdir(dirname(output), { recursive: true });
  await writeFile(output, `${JSON.stringify(report, null, 2)}\n`);
  const history = await remember(report, join(dirname(output), "history.jsonl"));
  await writeFile(page, toPage(report, history));
  const seconds = (Date.now() - report.started.getTime()) / 1_000;
  const shown = [output, page].map((file) => relative(fileURLToPath(REPOSITORY), file)).join(", charts: ");
  streams.stdout.write(
    `\n${seconds.toFixed(0)} s. Figures: ${shown}. Their limits: load-tests/README.md. None is a promise.\n`,
  );
  return reportFaults(report, streams);
}
