/** One run: every section measured, printed and written down. @module */
import { mkdir, writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { dirname, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { clientLines } from "./client-limit.js";
import { measureDatabase } from "./database.js";
import { measureDirect } from "./direct.js";
import { measureFootprint } from "./footprint.js";
import { measureHTTP } from "./http.js";
import { type Disturbance, noiseLines, watchMachine } from "./machine.js";
import { REPOSITORY, RESULTS } from "./paths.js";
import { preparePeers } from "./peers.js";
import { Progress, type ProgressOutput } from "./progress.js";
import { faultsOf, type Result } from "./rounds.js";
import { measureRouting } from "./routing.js";
import { measureRuntimes } from "./runtimes.js";
import type { Section, Settings } from "./settings.js";
import { TABLES } from "./tables.js";

/** Everything that one run found. */
export interface Report {
  readonly started: Date;
  readonly machine: { readonly cpu: string; readonly cores: number; readonly node: string; readonly load: number };
  readonly settings: Settings;
  /** The versions of the peers. */
  readonly peers: Readonly<Record<string, string>>;
  /** The disturbance of each section. */
  readonly disturbances: Partial<Record<Section, Disturbance>>;
  readonly sections: Partial<Record<Section, readonly Result[]>>;
}

/** Measures one section. */
export type Measure = (settings: Settings, progress: Progress) => Promise<Result[]>;

const MEASURES: Readonly<Record<Section, Measure>> = {
  direct: measureDirect,
  routing: measureRouting,
  http: measureHTTP,
  database: measureDatabase,
  runtimes: measureRuntimes,
  footprint: measureFootprint,
};

/** The outputs of a run. */
export interface Streams {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: ProgressOutput;
}

/** Measures every section that is asked for, and prints its tables. */
export async function measureAll(
  settings: Settings,
  streams: Streams = process,
  measures: Readonly<Record<Section, Measure>> = MEASURES,
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
  if (settings.quick) print("QUICK: a smoke test with fewer requests and rounds. Do not compare its figures.");
  if (settings.peers) progress.step("installing the peers into .cache/peers");
  const peers = settings.peers ? await preparePeers() : {};
  const sections: Partial<Record<Section, readonly Result[]>> = {};
  const disturbances: Partial<Record<Section, Disturbance>> = {};
  for (const section of settings.sections) {
    const watched = watchMachine();
    const results = await measures[section](settings, progress);
    const disturbance = watched();
    disturbances[section] = disturbance;
    sections[section] = results;
    progress.clear();
    print([...tablesOf(section, results), ...clientLines(results), ...noiseLines(disturbance)].join("\n"));
  }
  return { started, machine, settings, peers, disturbances, sections };
}

function tablesOf(section: Section, results: readonly Result[]): string[] {
  if (results.length === 0) return [`\n${section}: not measured (see load-tests/README.md for the requirements)`];
  return TABLES.filter((table) => table.section === section).map(
    ({ name, unit, draw }) => `\n${[name, ...(unit === undefined ? [] : [unit])].join(": ")}\n\n${draw(results)}`,
  );
}

/** Prints each wrong response. Gives the exit status: 1 when there is one, else 0. */
export function reportFaults({ sections }: Pick<Report, "sections">, streams: Streams = process): number {
  const faults = Object.values(sections).flatMap(faultsOf);
  for (const fault of faults) streams.stderr.write(`wrong response: ${fault}\n`);
  return faults.length === 0 ? 0 : 1;
}

/**
 * Measures every section that is asked for, prints its tables, and writes all figures as JSON.
 *
 * @returns The exit status: 1 if a response was wrong, else 0.
 */
export async function runBench(
  settings: Settings,
  streams: Streams = process,
  measures: Readonly<Record<Section, Measure>> = MEASURES,
): Promise<number> {
  const report = await measureAll(settings, streams, measures);
  const output = settings.output === null ? fileURLToPath(RESULTS) : resolve(settings.output);
  await mkdir(dirname(output), { recursive: true });
  await writeFile(output, `${JSON.stringify(report, null, 2)}\n`);
  const seconds = (Date.now() - report.started.getTime()) / 1_000;
  const shown = relative(fileURLToPath(REPOSITORY), output);
  streams.stdout.write(`\n${seconds.toFixed(0)} s. Figures: ${shown}. Their limits: load-tests/README.md.\n`);
  return reportFaults(report, streams);
}
