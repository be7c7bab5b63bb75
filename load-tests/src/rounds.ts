/** Lets contenders take turns. @module */
import type { WorkerReport } from "./report.js";
import { summarize, type Summary } from "./statistics.js";

/** The figures of a row by name, such as `perSecond`. */
export type Figures = Readonly<Record<string, Summary>>;

/** The result of one contender over all rounds. */
export interface Result {
  readonly contender: string;
  /** Each row's figures: `rows["GET /health"].perSecond`. Empty if a response was wrong. */
  readonly rows: Readonly<Record<string, Figures>>;
  /** Each wrong response in one line, each once. */
  readonly faults: readonly string[];
}

/**
 * Measures every contender once a round. Each round begins with another one, so that no framework always runs when the
 * machine is coolest.
 *
 * @param run - Measures one framework once, in a separate process. If it fails, its error is recorded.
 */
export async function takeTurns(
  contenders: readonly string[],
  rounds: number,
  run: (contender: string, round: number) => Promise<WorkerReport>,
): Promise<Result[]> {
  const reports = new Map<string, WorkerReport[]>(contenders.map((contender) => [contender, []]));
  for (let round = 0; round < rounds; round++) {
    for (const contender of rotate(contenders, round)) {
      reports.get(contender)?.push(await run(contender, round).catch(asFault));
    }
  }
  return [...reports].map(([contender, list]) => collect(contender, list));
}

/** Each wrong response with the name of its framework: if there is one, the run has failed. */
export function faultsOf(results: readonly Result[]): string[] {
  return results.flatMap(({ contender, faults }) => faults.map((fault) => `${contender}: ${fault}`));
}

/** The names of all rows, each once. */
export function rowsOf(results: readonly Result[]): string[] {
  return [...new Set(results.flatMap(({ rows }) => Object.keys(rows)))];
}

function rotate<T>(items: readonly T[], by: number): T[] {
  const start = by % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}

function asFault(error: unknown): WorkerReport {
  return { rows: [], faults: [error instanceof Error ? error.message : String(error)] };
}

/**
 * Turns the reports of one contender into one result. A framework with an error has no rows: its results are discarded.
 */
function collect(contender: string, reports: readonly WorkerReport[]): Result {
  const faults = [...new Set(reports.flatMap((report) => report.faults))];
  const runs: Record<string, Record<string, number[]>> = {};
  for (const row of faults.length === 0 ? reports.flatMap((report) => report.rows) : []) {
    const figures = (runs[row.name] ??= {});
    for (const [name, figure] of Object.entries(row.figures)) (figures[name] ??= []).push(figure);
  }
  return { contender, rows: mapValues(runs, (figures) => mapValues(figures, summarize)), faults };
}

/** The same record with other values. */
export function mapValues<V, R>(record: Readonly<Record<string, V>>, map: (value: V) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
