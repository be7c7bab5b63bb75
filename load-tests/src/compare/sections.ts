/** The sections of a comparison. @module */
import { isClientLimit } from "../client-limit.js";
import { CLIENT_CORE, SERVER_CORE } from "../cores.js";
import type { Load } from "../http/load.js";
import { startServer } from "../http/server-process.js";
import { runWorker } from "../processes.js";
import type { WorkerReport } from "../report.js";
import type { Build, Builds } from "./builds.js";
import { inTurns, type Measure } from "./pairs.js";
import { measureInSlices } from "./slices.js";

/** The sections that can be compared, and the measurement of each. */
const SECTIONS = {
  direct: (builds: Builds) => (order) => measureInSlices(builds, order),
  routing: (builds: Builds) => inTurns((side) => measureLookups(builds[side])),
  http: (builds: Builds, warnings: Set<string>) => inTurns((side) => measureHTTP(builds[side], warnings)),
} satisfies Record<string, (builds: Builds, warnings: Set<string>) => Measure>;

/** A section that can be compared. */
export type ComparedSection = keyof typeof SECTIONS;

/** The settings of a comparison. */
export interface CompareSettings {
  /** A commit or tag, or `release` for the last one alone; `null` where none is named. */
  readonly base: string | null;
  readonly seconds: number;
  readonly sections: readonly ComparedSection[];
}

const CLIENT = new URL("../http/client.js", import.meta.url);

/** Reads `BASE`, `TIME` (seconds) and `ONLY`. @throws TypeError when a value is none of these. */
export function readCompareSettings(environment: Readonly<Record<string, string | undefined>>): CompareSettings {
  const { BASE, TIME, ONLY } = environment;
  const seconds = Number(TIME || 600);
  if (!(seconds > 0 && seconds <= 86_400)) {
    throw new TypeError(`Expected TIME to be seconds from 1 to 86400, not ${JSON.stringify(TIME)}.`);
  }
  const names = ONLY ? ONLY.split(",").map((name) => name.trim()) : Object.keys(SECTIONS);
  return { base: BASE || null, seconds, sections: names.map(toSection) };
}

function toSection(name: string): ComparedSection {
  if (!Object.hasOwn(SECTIONS, name)) {
    throw new TypeError(`Expected ONLY to name ${Object.keys(SECTIONS).join(", ")}, not ${JSON.stringify(name)}.`);
  }
  return name as ComparedSection;
}

/** The measurements of two builds. @param warnings - Gets a sentence for each thing that limits what figures say. */
export function measuresOf(
  sections: readonly ComparedSection[],
  builds: Builds,
  warnings: Set<string>,
): Record<string, Measure> {
  return Object.fromEntries(
    sections.map((section): [string, Measure] => [section, SECTIONS[section](builds, warnings)]),
  );
}

function measureLookups({ workload }: Build): Promise<WorkerReport> {
  const worker = new URL("routing/worker.js", workload);
  const contender = new URL("routing/contenders/tsgi.js", workload);
  return runWorker(worker, [contender.href, "500000", "500"], [], SERVER_CORE);
}

async function measureHTTP({ workload }: Build, warnings: Set<string>): Promise<WorkerReport> {
  const server = await startServer(new URL("http/servers/tsgi.js", workload));
  const amounts = { connections: 64, pipelining: [1], requests: 20_000, warmUp: 2_000 };
  const load: Load = { url: server.url, serverPid: server.pid, ...amounts };
  try {
    const report = await runWorker(CLIENT, [JSON.stringify(load)], [], CLIENT_CORE);
    if (report.rows.some(({ figures: { clientLoad, serverLoad } }) => isClientLimit({ clientLoad, serverLoad }))) {
      warnings.add("The client was the limit: answers a second would say nothing here, processor time does.");
    }
    return report;
  } finally {
    await server.stop();
  }
}
