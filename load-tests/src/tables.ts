/** The tables of a run, as text. @module */
import { compare, extremes, missed, ratioOf, type Comparison } from "./comparison.js";
import type { Result } from "./rounds.js";
import type { Settings } from "./settings.js";
import { BARE, IMPORT, REGISTER } from "./startup.js";
import type { Summary } from "./statistics.js";
import { formatMs, formatRate, formatRatio, formatSpread, formatTable } from "./table.js";

/** From this share of one core on, the client may be what limits the rate. */
const BUSY_CLIENT = 0.9;

/** Direct calls: at least 0.75 of what hand-written code does, and ahead of every framework. */
export function directTable(results: readonly Result[], settings: Settings): string {
  return [
    `Direct calls, requests a second: ${settings.warmUp} untimed, ${formatRate(settings.requests)} measured, ${fresh(settings.rounds)}`,
    ratesTable(results),
    verdict(compare(results, (contender) => (contender === "hand-written ASGI" ? 0.75 : 1))),
  ].join("\n");
}

/** Routing: ahead of every other router. */
export function routingTable(results: readonly Result[], settings: Settings): string {
  return [
    `Routing, look-ups a second: 100 routes, ${formatRate(settings.lookups)} look-ups of each path, ${fresh(settings.rounds)}`,
    ratesTable(results),
    verdict(compare(results, () => 1)),
  ].join("\n");
}

/** Over HTTP: rates, and the slowest hundredth. Nothing is wanted here yet. */
export function httpTable(results: readonly Result[], settings: Settings): string {
  const busy = results.filter(({ rows }) =>
    Object.values(rows).some((figures) => (figures["clientLoad"]?.median ?? 0) >= BUSY_CLIENT),
  );
  return [
    `Over HTTP, requests a second: autocannon, 10 connections, ${formatRate(settings.httpRequests)} measured, ${fresh(settings.httpRounds)}`,
    ratesTable(results, ({ p99Ms }) => (p99Ms === undefined ? "" : `p99 ${p99Ms.median} ms`)),
    ...(busy.length === 0
      ? []
      : [
          `The client used over ${BUSY_CLIENT * 100} % of a core beside ${busy.map(nameOf).join(", ")}: it may be the limit.`,
        ]),
  ].join("\n");
}

/** Start-up: at most 1.3 times bare Node and 60 ms more; registration: under 150 ms. */
export function startupTable(results: readonly Result[], settings: Settings): string {
  const bare = find(results, BARE)?.["process"]?.["ms"];
  const limit = bare === undefined ? undefined : bare.median * 1.3 + 60;
  const registration = find(results, REGISTER);
  return [
    `Start-up: median of ${settings.starts} processes; registration: ${fresh(settings.rounds)}`,
    formatTable(
      ["", "median", "spread", "wanted", ""],
      [
        msRow(BARE, bare),
        msRow(IMPORT, find(results, IMPORT)?.["process"]?.["ms"], limit),
        msRow(REGISTER, registration?.["registered"]?.["ms"], 150),
        msRow("… and the first answer", registration?.["first answer"]?.["ms"]),
      ],
    ),
  ].join("\n");
}

function fresh(rounds: number): string {
  return rounds === 1 ? "one process each, so rough" : `median of ${rounds} fresh processes ± half the spread`;
}

function nameOf({ contender }: Result): string {
  return contender;
}

function find(results: readonly Result[], contender: string): Result["rows"] | undefined {
  return results.find((result) => result.contender === contender)?.rows;
}

function msRow(name: string, summary: Summary | undefined, limit?: number): string[] {
  if (summary === undefined) {
    return [name, "–"];
  }
  const verdictCells = limit === undefined ? [] : [`≤ ${formatMs(limit)}`, summary.median <= limit ? "met" : "missed"];
  return [name, formatMs(summary.median), formatSpread(summary.spread), ...verdictCells];
}

type Figures = Result["rows"][string];

/** One line a contender, and for each row its rate, a detail of it, and how many times as fast ours is. */
function ratesTable(results: readonly Result[], detail: (figures: Figures) => string = spreadOf): string {
  const [ours] = results;
  const rows = [...new Set(results.flatMap((result) => Object.keys(result.rows)))];
  return formatTable(
    ["", ...rows.flatMap((row) => [row, "", "tsgi is"])],
    results.map((result) => [
      result.faults.length === 0 ? result.contender : `${result.contender} (wrong)`,
      ...rows.flatMap((row) => rateCells(result.rows[row], ours?.rows[row], detail)),
    ]),
  );
}

function rateCells(
  theirs: Figures | undefined,
  ours: Figures | undefined,
  detail: (figures: Figures) => string,
): string[] {
  const rate = theirs?.["perSecond"];
  if (theirs === undefined || rate === undefined) {
    return ["–", "", ""];
  }
  const our = ours === theirs ? undefined : ours?.["perSecond"];
  return [formatRate(rate.median), detail(theirs), our === undefined ? "" : formatRatio(ratioOf(our, rate))];
}

function spreadOf({ perSecond }: Figures): string {
  return perSecond === undefined ? "" : formatSpread(perSecond.spread);
}

function verdict(comparisons: readonly Comparison[]): string {
  const ends = extremes(comparisons);
  if (ends === null) {
    return "No peers measured: `make bench PEERS=1` installs and measures them.";
  }
  const short = missed(comparisons);
  return [
    `Worst: ${describe(ends.worst)}. Best: ${describe(ends.best)}.`,
    short.length === 0
      ? "Wanted: met in every row."
      : `Wanted: missed in ${short.length} of ${comparisons.length} rows:`,
    ...short.map((comparison) => `  ${describe(comparison)}, wanted ${formatRatio(comparison.wanted)}`),
  ].join("\n");
}

function describe({ ratio, contender, row }: Comparison): string {
  return `${formatRatio(ratio)} of ${contender} in ${row}`;
}
