/** One run: every section measured, printed and written down. @module */
import { mkdir, writeFile } from "node:fs/promises";
import { cpus, loadavg } from "node:os";
import { dirname, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { prepareContests, type Prepared } from "./contests.js";
import { measureDirect } from "./direct.js";
import { measureHTTP } from "./http.js";
import { type Disturbance, noiseLines, watchMachine } from "./machine.js";
import { isSettled, LAUNCHES } from "./settled.js";
import { type Comparison, type Contest, measureInPairs } from "./pairs/measure.js";
import { REPOSITORY, RESULTS } from "./paths.js";
import { preparePeers } from "./peers.js";
import { Progress, type ProgressOutput } from "./progress.js";
import { faultsOf, type Result } from "./rounds.js";
import { measureRouting } from "./routing.js";
import type { PairedSection, ProtocolSection, Settings } from "./settings.js";
import { loadTable, ratesTable, ratiosTable } from "./tables.js";

/** The circumstances of a run. */
export interface Circumstances {
  /** ISO 8601. */
  readonly started: string;
  readonly seconds: number;
  /** The load of the machine at the start, and its disturbance until the end of the run. */
  readonly load: number;
  readonly disturbance: Disturbance;
}

/** The results of one section in pairs. */
export interface Paired {
  readonly runs: readonly Circumstances[];
  readonly comparisons: readonly Comparison[];
  /** Each wrong response in one line. */
  readonly faults: readonly string[];
}

/** Everything that one run found. */
export interface Report {
  readonly machine: { readonly cpu: string; readonly cores: number; readonly node: string };
  /** True for a smoke test. */
  readonly quick: boolean;
  /** The versions of the peers. */
  readonly peers: Readonly<Record<string, string>>;
  /** Sections by the reference protocol. */
  readonly protocol: Partial<Record<ProtocolSection, readonly Result[]>>;
  readonly sections: Partial<Record<PairedSection, Paired>>;
}

/** The parts of a run. */
export interface Measures {
  readonly direct: (settings: Settings, progress: Progress) => Promise<Result[]>;
  readonly routing: (settings: Settings, progress: Progress) => Promise<Result[]>;
  readonly http: (settings: Settings, progress: Progress) => Promise<Result[]>;
  readonly contests: (settings: Settings, progress: Progress) => Promise<Prepared>;
}

const MEASURES: Measures = {
  direct: measureDirect,
  routing: measureRouting,
  http: measureHTTP,
  contests: prepareContests,
};

/** The outputs of a run. */
export interface Streams {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: ProgressOutput;
}

/**
 * Measures every section that is asked for, prints its tables, and writes all figures as JSON.
 *
 * @returns The exit status: 1 if a response was wrong, else 0.
 */
export async function runBench(
  settings: Settings,
  streams: Streams = process,
  measures: Measures = MEASURES,
): Promise<number> {
  const print = (text: string): void => void streams.stdout.write(`${text}\n`);
  const progress = new Progress(streams.stderr);
  const started = Date.now();
  const machine = { cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length, node: process.version };
  print(`tsgi benchmark · Node ${machine.node} · ${machine.cores} × ${machine.cpu}`);
  if (settings.quick) print("QUICK: a smoke test with fewer requests and launches. Do not compare its figures.");
  if (settings.peers) progress.step("installing the peers into .cache/peers");
  const peers = settings.peers ? await preparePeers() : {};
  const protocol: Partial<Record<ProtocolSection, readonly Result[]>> = {};
  for (const section of settings.peers ? [] : (["direct", "routing", "http"] as const)) {
    if (!settings.sections.includes(section)) continue;
    const results = await measures[section](settings, progress);
    protocol[section] = results;
    progress.clear();
    print(protocolTable(section, results));
  }
  const sections = await measurePairs(settings, print, progress, measures);
  const report: Report = { machine, quick: settings.quick, peers, protocol, sections };
  const output = settings.output === null ? fileURLToPath(RESULTS) : resolve(settings.output);
  await mkdir(dirname(output), { recursive: true });
  await writeFile(output, `${JSON.stringify(report, null, 1)}\n`);
  const seconds = ((Date.now() - started) / 1_000).toFixed(0);
  print(`\n${seconds} s. Figures: ${relative(fileURLToPath(REPOSITORY), output)}. Their limits: load-tests/README.md.`);
  return reportFaults(report, streams);
}

function protocolTable(section: ProtocolSection, results: readonly Result[]): string {
  return section === "http"
    ? `\nhttp, tsgi serve with autocannon, for orientation\n\n${loadTable(results)}`
    : `\n${section}, per second\n\n${ratesTable(results)}`;
}

async function measurePairs(
  settings: Settings,
  print: (text: string) => void,
  progress: Progress,
  measures: Measures,
): Promise<Report["sections"]> {
  await using prepared = await measures.contests(settings, progress);
  const { contests } = prepared;
  if (contests.length === 0) return {};
  progress.clear();
  const wanted = LAUNCHES * contests.reduce((sum, { seconds }) => sum + seconds, 0);
  const pairs = contests.length === 1 ? "1 pair" : `${contests.length} pairs`;
  print(`${pairs} of programs: about ${minutes(wanted)}, at most ${minutes(settings.seconds)}.`);
  const started = new Date().toISOString();
  const [load = 0] = loadavg();
  const watched = watchMachine();
  const until = Date.now() + settings.seconds * 1e3;
  const onLaunch = ({ section, ours, theirs }: Contest, number: number, open: number): void => {
    const left = minutes((until - Date.now()) / 1e3);
    const settled = `${contests.length - open} of ${contests.length} pairs are settled`;
    progress.step(`${section}, launch ${number + 1}: ${ours} and ${theirs} (${settled}, at most ${left} left)`);
  };
  const onFault = ({ section, theirs }: Contest, fault: string): void =>
    progress.step(`${section}, ${theirs}: wrong response: ${fault}`);
  const outcomes = await measureInPairs(contests, { until, isSettled, onLaunch, onFault });
  const seconds = Math.round((Date.now() - Date.parse(started)) / 1e3);
  const run: Circumstances = { started, seconds, load, disturbance: watched() };
  progress.clear();
  const sections: Partial<Record<PairedSection, Paired>> = {};
  for (const section of settings.sections) {
    const own = outcomes.filter(({ contest }) => contest.section === section);
    if (own.length === 0) continue;
    const comparisons = own.flatMap((outcome) => outcome.comparisons);
    const faults = own.flatMap(({ contest, fault }) => (fault === null ? [] : [`${contest.theirs}: ${fault}`]));
    sections[section] = { runs: [run], comparisons, faults };
    print(`\n${section}: speed of tsgi divided by the speed of the other program\n\n${ratiosTable(comparisons)}`);
  }
  print(noiseLines(run.disturbance).join("\n"));
  return sections;
}

function minutes(seconds: number): string {
  return seconds < 100 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} minutes`;
}

/** Prints each wrong response. Gives the exit status: 1 when there is one, else 0. */
function reportFaults({ protocol, sections }: Report, streams: Streams): number {
  const faults = [
    ...Object.values(protocol).flatMap(faultsOf),
    ...Object.entries(sections).flatMap(([section, paired]) => paired.faults.map((fault) => `${section}, ${fault}`)),
  ];
  for (const fault of faults) streams.stderr.write(`wrong response: ${fault}\n`);
  return faults.length === 0 ? 0 : 1;
}
