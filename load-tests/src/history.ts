/** The ratios of earlier runs. @module */
import { appendFile, readFile } from "node:fs/promises";
import { type Ratios, ratiosOf } from "./baseline.js";
import type { Disturbance } from "./machine.js";
import type { Result } from "./rounds.js";
import type { Section, Settings } from "./settings.js";

/** Everything that one run found. */
export interface Report {
  readonly started: Date;
  readonly machine: { readonly cpu: string; readonly cores: number; readonly node: string; readonly load: number };
  readonly settings: Settings;
  /** The versions of the peers. */
  readonly peers: Readonly<Record<string, string>>;
  /** The time that each section took, in seconds. */
  readonly seconds?: Partial<Record<Section, number>>;
  /** The disturbance of each section. */
  readonly disturbances?: Partial<Record<Section, Disturbance>>;
  readonly sections: Partial<Record<Section, readonly Result[]>>;
}

/** One earlier run. */
export interface Past {
  /** ISO 8601. */
  readonly date: string;
  readonly ratios: Ratios;
}

/** The number of runs on the page. */
const SHOWN = 50;

/** Adds a run to the history, one line of JSON each, and gives the last ones. A line that is broken is left out. */
export async function remember(report: Report, file: string): Promise<Past[]> {
  const ratios = ratiosOf(report.sections);
  if (Object.keys(ratios).length > 0 && !report.settings.quick) {
    const run: Past = { date: report.started.toISOString(), ratios };
    await appendFile(file, `${JSON.stringify(run)}\n`);
  }
  const text = await readFile(file, "utf8").catch(() => "");
  return text
    .split("\n")
    .flatMap((line) => parse(line) ?? [])
    .slice(-SHOWN);
}

function parse(line: string): Past | null {
  try {
    return JSON.parse(line) as Past;
  } catch {
    return null;
  }
}
