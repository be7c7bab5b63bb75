/** The results in the documentation: those of one run, as they are committed. @module */
import { readFile, writeFile } from "node:fs/promises";
import { PUBLISHED } from "./paths.js";
import { faultsOf, mapValues, type Result } from "./rounds.js";
import type { Report } from "./run.js";
import { SECTIONS } from "./settings.js";
import { summarize, type Summary } from "./statistics.js";

/** A run, with the day of its start as text: the output of `make bench`, and the committed file. */
export type Published = Omit<Report, "started"> & {
  /** ISO 8601. */
  readonly started: string;
};

/**
 * Reads the results of `make bench`, with four figures of each number: more are noise, and make changes of the committed file long.
 *
 * @throws Error if the file is missing, if a section or the peers are missing, or if a response was wrong.
 */
export async function readRun(file: URL): Promise<Published> {
  const text = await readFile(file, "utf8").catch(() => {
    throw new Error(`There is no ${file.pathname}. Measure first: make bench PEERS=1`);
  });
  const run = JSON.parse(text) as Published;
  const missing = SECTIONS.filter((section) => run.sections[section] === undefined);
  if (missing.length > 0 || !run.settings.peers) {
    throw new Error(
      `Expected a run of every section with the peers, but it has no ${missing.join(", ") || "peers"}: make bench PEERS=1`,
    );
  }
  const faults = Object.values(run.sections).flatMap(faultsOf);
  if (faults.length > 0)
    throw new Error(`Results of a run with wrong responses are not published: ${faults.join("; ")}`);
  const sections = SECTIONS.map((section) => [section, (run.sections[section] ?? []).map(shorten)] as const);
  return { ...run, settings: { ...run.settings, output: null }, sections: Object.fromEntries(sections) };
}

/** The committed figures. */
export async function readPublished(): Promise<Published> {
  return JSON.parse(await readFile(PUBLISHED, "utf8")) as Published;
}

/** Writes the figures to be committed. */
export async function writePublished(published: Published): Promise<void> {
  await writeFile(PUBLISHED, `${JSON.stringify(published, null, 1)}\n`);
}

function shorten({ contender, rows, faults }: Result): Result {
  return { contender, rows: mapValues(rows, (figures) => mapValues(figures, toFourFigures)), faults };
}

function toFourFigures({ runs }: Summary): Summary {
  const short = (figure: number): number => Number(figure.toPrecision(4));
  const { median, min, max, spread, runs: kept } = summarize(runs.map(short));
  return { median: short(median), min, max, spread: short(spread), runs: kept };
}
