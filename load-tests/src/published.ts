/** The results in the documentation, as they are committed. @module */
import { readFile, writeFile } from "node:fs/promises";
import { intervalOf } from "./pairs/interval.js";
import type { Comparison } from "./pairs/measure.js";
import { PUBLISHED } from "./paths.js";
import type { Paired, Report } from "./run.js";
import { PAIRED_SECTIONS, type PairedSection } from "./settings.js";
import { median } from "./statistics.js";

/** The results of one or more runs. */
export type Published = Pick<Report, "machine" | "peers" | "sections">;

/**
 * Reads a file of `make bench PEERS=1`.
 *
 * @throws Error if it is missing, if the run was a quick one or without peers, or if a response was wrong.
 */
export async function readRun(file: URL): Promise<Published> {
  const text = await readFile(file, "utf8").catch(() => {
    throw new Error(`There is no ${file.pathname}. Measure first: make bench PEERS=1`);
  });
  const { machine, quick, peers, sections } = JSON.parse(text) as Report;
  if (quick || Object.keys(peers).length === 0) {
    throw new Error("Expected a whole run with the peers: make bench PEERS=1");
  }
  const faults = Object.values(sections).flatMap((section) => section.faults);
  if (faults.length > 0) throw new Error(`Results with wrong responses are not published: ${faults.join("; ")}`);
  return { machine, peers, sections };
}

/** The launches of several runs on one machine together. @throws Error for another machine. */
export function pool(runs: readonly Published[]): Published {
  return runs.reduce((all, run) => {
    assertSameMachine(all, run);
    const sections: Partial<Record<PairedSection, Paired>> = { ...all.sections };
    for (const [name, paired] of entriesOf(run)) {
      const before = sections[name];
      sections[name] = before === undefined ? paired : poolSections(before, paired);
    }
    return { ...run, sections };
  });
}

function poolSections(left: Paired, right: Paired): Paired {
  const isSame = (one: Comparison) => (other: Comparison) =>
    one.row === other.row && one.ours === other.ours && one.theirs === other.theirs;
  const both = left.comparisons.map((one) => {
    const other = right.comparisons.find(isSame(one));
    if (other === undefined) return one;
    const ratios = [...one.ratios, ...other.ratios];
    const cost = {
      ours: median([one.cost.ours, other.cost.ours]),
      theirs: median([one.cost.theirs, other.cost.theirs]),
    };
    return { ...one, ...intervalOf(ratios), ratios, cost };
  });
  const rest = right.comparisons.filter((one) => !left.comparisons.some(isSame(one)));
  return { runs: [...left.runs, ...right.runs], comparisons: [...both, ...rest], faults: [] };
}

/** The sections of a run in place of the committed ones. @throws Error for some sections of another machine. */
export function replaceSections(committed: Published, run: Published): Published {
  if (PAIRED_SECTIONS.every((section) => run.sections[section] !== undefined)) return run;
  assertSameMachine(committed, run);
  return { ...run, sections: { ...committed.sections, ...run.sections } };
}

function assertSameMachine(one: Published, other: Published): void {
  const [left, right] = [one, other].map(({ machine }) => `${machine.cores} × ${machine.cpu}, Node ${machine.node}`);
  if (left !== right) throw new Error(`The results are of different machines: ${left} and ${right}.`);
}

/** The sections of a run with their names. */
export function entriesOf({ sections }: Published): [PairedSection, Paired][] {
  return Object.entries(sections) as [PairedSection, Paired][];
}

/** The committed figures. */
export async function readPublished(): Promise<Published> {
  return JSON.parse(await readFile(PUBLISHED, "utf8")) as Published;
}

/** Writes the figures to be committed: four digits of each, because more are noise and make changes of the file long. */
export async function writePublished({ machine, peers, sections }: Published): Promise<void> {
  const short = (_key: string, value: unknown): unknown =>
    typeof value === "number" ? Number(value.toPrecision(4)) : value;
  const text = JSON.stringify({ machine, peers, sections }, short, 1);
  // A list of ratios in one line.
  await writeFile(PUBLISHED, `${text.replaceAll(/\[([\s\d.,]+)\]/g, (list) => list.replaceAll(/\s+/g, ""))}\n`);
}
