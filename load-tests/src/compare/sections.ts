/** The sections of a comparison. @module */
import type { Builds } from "./builds.js";
import type { Measure } from "./pairs.js";
import { measureInSlices } from "./slices.js";

/** The comparable rows of each section, imported only in its process. */
export const ROWS = {
  direct: () => import("./direct-rows.js"),
  routing: () => import("./routing-rows.js"),
  http: () => import("./http-rows.js"),
};

/** A section that can be compared. */
export type ComparedSection = keyof typeof ROWS;

const SECTIONS = Object.keys(ROWS) as ComparedSection[];

/** The settings of a comparison. */
export interface CompareSettings {
  /** A commit or tag, or `release` for the last one; `null` by default. */
  readonly base: string | null;
  readonly seconds: number;
  readonly sections: readonly ComparedSection[];
}

/** Reads `BASE`, `TIME` (seconds) and `ONLY`. @throws TypeError for an invalid value. */
export function readCompareSettings(environment: Readonly<Record<string, string | undefined>>): CompareSettings {
  const { BASE, TIME, ONLY } = environment;
  const seconds = Number(TIME || 600);
  if (!(seconds > 0 && seconds <= 86_400)) {
    throw new TypeError(`Expected TIME to be seconds from 1 to 86400, not ${JSON.stringify(TIME)}.`);
  }
  const names = ONLY ? ONLY.split(",").map((name) => name.trim()) : SECTIONS;
  return { base: BASE || null, seconds, sections: names.map(toSection) };
}

/** Reads the name of a section. @throws TypeError for an unknown name. */
export function toSection(name: string): ComparedSection {
  const section = SECTIONS.find((known) => known === name);
  if (section !== undefined) return section;
  throw new TypeError(`Expected ONLY to name ${SECTIONS.join(", ")}, not ${JSON.stringify(name)}.`);
}

/** The measurements of two builds. */
export function measuresOf(sections: readonly ComparedSection[], builds: Builds): Record<string, Measure> {
  return Object.fromEntries(
    sections.map((section): [string, Measure] => [section, (pair) => measureInSlices(builds, section, pair)]),
  );
}
