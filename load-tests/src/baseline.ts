/** The ratios to the peers, and the file of those that are committed. @module */
import { writeFile } from "node:fs/promises";
import { oursFor, ratioOf } from "./ratios.js";
import type { Result } from "./rounds.js";
import type { Section } from "./settings.js";

/** Ours divided by theirs, by `section / contender / row`. Above 1 ours is faster. */
export type Ratios = Readonly<Record<string, number>>;

/** Ratios, with the machine on which they were measured. */
export interface Baseline {
  /** ISO 8601, the day. */
  readonly date: string;
  readonly node: string;
  readonly cpu: string;
  readonly cores: number;
  /** The versions of the peers. */
  readonly peers: Readonly<Record<string, string>>;
  readonly ratios: Ratios;
}

/** The figure to compare in each section. */
const FIGURES: Partial<Readonly<Record<Section, string>>> = {
  direct: "perSecond",
  routing: "perSecond",
  http: "perCPUSecond",
};

/** The ratios of a run. */
export function ratiosOf(sections: Partial<Record<Section, readonly Result[]>>): Ratios {
  const entries = Object.entries(FIGURES).flatMap(([section, figure]) => {
    const results = sections[section as Section] ?? [];
    return results.flatMap(({ contender, rows }) =>
      Object.entries(rows).flatMap(([row, figures]): [string, number][] => {
        const our = oursFor(results, contender)?.rows[row]?.[figure];
        const their = figures[figure];
        return our && their ? [[`${section} / ${contender} / ${row}`, round(ratioOf(our, their))]] : [];
      }),
    );
  });
  return Object.fromEntries(entries);
}

function round(ratio: number): number {
  return Number(ratio.toPrecision(4));
}

/** Writes a baseline, its ratios in a fixed order so that changes show in a review. */
export async function writeBaseline(baseline: Baseline, file: URL): Promise<void> {
  const ratios = Object.fromEntries(
    Object.entries(baseline.ratios).toSorted(([left], [right]) => (left < right ? -1 : 1)),
  );
  await writeFile(file, `${JSON.stringify({ ...baseline, ratios }, null, 2)}\n`);
}
