/** The tables of a run, as text. @module */
import { clientLines, clientNotes, markOf } from "./client-limit.js";
import { BARE_NODE, BARE_UWS, compare, extremes, FLOOR, missed, oursFor, ratioOf, type Comparison } from "./ratios.js";
import { isPrismaRow } from "./database/prisma.js";
import { type Figures, type Result, rowsOf } from "./rounds.js";
import type { Settings } from "./settings.js";
import { BARE, IMPORT, PEER_IMPORTS, REGISTER, REGISTRATIONS, SERVER } from "./startup.js";
import type { Summary } from "./statistics.js";
import { formatMs, formatRate, formatRatio, formatSpread, formatTable } from "./table.js";
import { UNTYPED } from "./types.js";
import { TYPES_COLUMNS, typesLines } from "./types/lines.js";
import { BUNDLE_COLUMNS, bundleLines } from "./web-bundle.js";

/** Direct calls: at least 0.75 of what hand-written code does, and ahead of every framework. */
export function directTable(results: readonly Result[], settings: Settings): string {
  return [
    `Direct calls, requests a second: ${settings.warmUp} untimed, ${formatRate(settings.requests)} measured, ${fresh(settings.rounds)}`,
    ratesTable(results),
    verdict(
      compare(results, (contender) => (contender === "hand-written ASGI" ? 0.75 : 1)),
      settings,
    ),
  ].join("\n");
}

/** Routing: ahead of every other router. */
export function routingTable(results: readonly Result[], settings: Settings): string {
  return [
    `Routing, look-ups a second: 100 routes, ${formatRate(settings.lookups)} look-ups of each path, ${fresh(settings.rounds)}`,
    ratesTable(results),
    verdict(
      compare(results, () => 1),
      settings,
    ),
  ].join("\n");
}

/** Over HTTP: ahead of every framework and of bare `node:http`, and not too far behind the floor. */
export function httpTable(results: readonly Result[], settings: Settings): string {
  const { connections, warmUp, requests, slowRequests } = settings.http;
  const short = results.filter(({ rows }) =>
    Object.values(rows).some((figures) => (figures["requests"]?.median ?? requests) < requests),
  );
  return [
    `Over HTTP, requests a second: autocannon, ${connections} connections, ${formatRate(warmUp)} untimed, ${formatRate(requests)} measured, ${fresh(settings.httpRounds)}`,
    ratesTable(results),
    "",
    "The same, requests a second of the server's processor time: what a core could do with nothing else on it",
    ratesTable(results, detailOfCPU, "perCPUSecond"),
    ...(short.length === 0
      ? []
      : [`Measured with ${formatRate(slowRequests)} requests where slow: ${short.map(nameOf).join(", ")}.`]),
    ...clientLines(results),
    verdict(compare(results, wantedOverHTTP, "perCPUSecond"), settings),
  ].join("\n");
}

/** Other runtimes: ahead of the frameworks at home there. */
export function runtimesTable(results: readonly Result[], settings: Settings): string {
  return [
    `On other runtimes, requests a second of the server's processor time: ${fresh(settings.httpRounds)}`,
    ratesTable(results, ({ perCPUSecond }) => spreadOf(perCPUSecond), "perCPUSecond"),
    ...clientLines(results),
    verdict(
      compare(results, () => 1, "perCPUSecond"),
      settings,
    ),
  ].join("\n");
}

/** With a database: ahead of every framework on the same driver. */
export function databaseTable(results: readonly Result[], settings: Settings): string {
  if (settings.peers && results.length === 0) {
    return "With a database: skipped, there is no PostgreSQL. Install one, or name one in DATABASE_URL.";
  }
  const only = (has: (row: string) => boolean): Result[] => results.map((result) => keepRows(result, has));
  return [
    suiteTable(
      "With a database by pg",
      only((row) => !isPrismaRow(row)),
      settings,
    ),
    suiteTable("With a database by Prisma", only(isPrismaRow), settings),
  ].join("\n\n");
}

/** With middleware: ahead of every framework with its own. */
export function middlewareTable(results: readonly Result[], settings: Settings): string {
  return suiteTable("With CORS, security headers, request id, access log and tracing", results, settings);
}

/** Larger answers, an upload, HTTPS: ahead of every framework and of bare `node:http`. */
export function payloadsTable(results: readonly Result[], settings: Settings): string {
  return suiteTable("Payloads and HTTPS", results, settings);
}

function suiteTable(title: string, results: readonly Result[], settings: Settings): string {
  const { http, suites } = settings;
  return [
    `${title}, requests a second: ${http.connections} connections, ${fresh(suites.rounds)}`,
    ratesTable(results),
    "",
    "The same, requests a second of the server's processor time",
    ratesTable(results, detailOfCPU, "perCPUSecond"),
    ...clientLines(results),
    verdict(
      compare(results, () => 1, "perCPUSecond"),
      settings,
    ),
  ].join("\n");
}

/** WebSockets and server-sent events: ahead of every framework, and 0.75 of `ws` on bare `node:http`. */
export function realtimeTable(results: readonly Result[], settings: Settings): string {
  const { echoing, idle, rounds } = settings.realtime;
  const moving = withFigure(results, "perCPUSecond");
  const open = withFigure(results, "connectionKiB");
  const rows = rowsOf(open);
  return [
    `WebSockets and server-sent events, messages received for each second of the server's processor time: echo on ${echoing} connections, ${fresh(rounds)}`,
    ratesTable(moving, ({ perCPUSecond }) => spreadOf(perCPUSecond), "perCPUSecond"),
    "",
    "The same, messages received a second",
    ratesTable(moving),
    ...clientLines(moving),
    "",
    `Memory of the server for each open connection, and its processor time for ${formatRate(idle)} idle ones in a second`,
    formatTable(
      ["", ...rows.flatMap((row) => [row, ""])],
      open.map(({ contender, rows: own }) => [contender, ...rows.flatMap((row) => openCells(own[row]))]),
    ),
    verdict(
      compare(moving, (contender) => (contender === BARE_NODE ? 0.75 : 1), "perCPUSecond"),
      settings,
    ),
  ].join("\n");
}

function openCells(figures: Figures | undefined): string[] {
  const { connectionKiB, idleMs } = figures ?? {};
  return [
    connectionKiB === undefined ? "–" : `${connectionKiB.median.toFixed(1)} KiB`,
    idleMs === undefined ? "" : formatMs(idleMs.median),
  ];
}

/** The rows that have a figure. */
function withFigure(results: readonly Result[], figure: string): Result[] {
  return results.map((result) => ({
    ...result,
    rows: Object.fromEntries(Object.entries(result.rows).filter(([, figures]) => figures[figure] !== undefined)),
  }));
}

/** The ratios by processor time: for a request without a body, for one parameter, and for a validated body. */
const WANTED_OVER_HTTP: Readonly<Record<string, readonly [plain: number, parameter: number, body: number]>> = {
  Fastify: [1.5, 1.5, 1.8],
  [BARE_NODE]: [1.2, 1.2, 1.5],
  [FLOOR]: [0.8, 0.75, 0.65],
  [BARE_UWS]: [0.7, 0.7, 0.7],
  // The cost of the framework on the same server, where code without a framework is ahead.
  "hand-written ASGI on serve": [0, 0, 0],
};

function wantedOverHTTP(contender: string, row: string): number {
  const [plain, parameter, body] = WANTED_OVER_HTTP[contender] ?? [1, 1, 1];
  if (row.startsWith("POST")) return body;
  return row.includes("{") ? parameter : plain;
}

function detailOfCPU({ p99Ms }: Figures): string {
  return p99Ms === undefined ? "" : `p99 ${p99Ms.median} ms`;
}

/** Latencies at shares of each server's own saturation: medians of the rounds' percentiles. */
export function latencyTable(results: readonly Result[], { http, latency }: Settings): string {
  const columns = [
    ["p50", "p50Ms"],
    ["p99", "p99Ms"],
    ["p99.9", "p99_9Ms"],
    ["max", "maxMs"],
    ["client late, p99.9", "lateP99_9Ms"],
  ] as const;
  const rows = rowsOf(results);
  const lines = rows.flatMap((row) =>
    results.flatMap(({ contender, rows: { [row]: figures } }) => {
      if (figures === undefined) return [];
      const rate = figures["ratePerSecond"]?.median ?? 0;
      const cells = columns.map(([, name]) => formatMs(figures[name]?.median ?? Number.NaN));
      return [[contender, row, `${formatRate(rate)}/s`, ...cells, clientNotes(figures).join(", ")]];
    }),
  );
  return [
    `Latency at 50 and 80 % of each server's own saturation with ${http.connections} connections, from the time that a request was scheduled for: at least ${formatRate(latency.samples)} requests, ${fresh(latency.rounds)}`,
    formatTable(["", "", "rate", ...columns.map(([title]) => title), ""], lines),
    ...clientLines(results),
  ].join("\n");
}

/** Start, memory and packages of each server. */
export function footprintTable(results: readonly Result[], settings: Settings): string {
  const cell = (figures: Figures | undefined, name: string, unit: string): string => {
    const value = figures?.[name]?.median ?? 0;
    return value === 0 ? "–" : `${value.toFixed(value < 10 ? 1 : 0)} ${unit}`;
  };
  return [
    `From the start of the process to its first answer, its memory, its packages with all that they need: ${fresh(settings.footprintRounds)}`,
    formatTable(
      ["", "first answer", "memory", "after 10,000 requests", "on disk"],
      results.map(({ contender, rows }) => [
        contender,
        cell(rows["footprint"], "startMs", "ms"),
        cell(rows["footprint"], "idleMiB", "MiB"),
        cell(rows["footprint"], "loadedMiB", "MiB"),
        cell(rows["footprint"], "installedMiB", "MiB"),
      ]),
    ),
  ].join("\n");
}

/** The sample application on SQLite. */
export function sampleTable(results: readonly Result[], { sample }: Settings): string {
  const lines = results.flatMap(({ rows }) =>
    Object.entries(rows).map(([row, { perSecond, p99Ms }]) => [
      row,
      perSecond === undefined ? "–" : formatRate(perSecond.median),
      spreadOf(perSecond),
      p99Ms === undefined ? "" : `p99 ${p99Ms.median} ms`,
    ]),
  );
  return [
    `The sample application on SQLite, requests a second: 4 connections, ${formatRate(sample.logins)} logins, ${formatRate(sample.listings)} listings, ${fresh(sample.rounds)}`,
    formatTable(["", "", "", ""], lines),
  ].join("\n");
}

/** Start-up: at most 1.3 times bare Node and 60 ms more; registration: under 150 ms. */
export function startupTable(results: readonly Result[], settings: Settings): string {
  const bare = find(results, BARE)?.["process"]?.["ms"];
  const limit = bare === undefined ? undefined : bare.median * 1.3 + 60;
  return [
    `Start-up: median of ${settings.starts} processes; registration: ${fresh(settings.rounds)}`,
    formatTable(
      ["", "median", "spread", "wanted", ""],
      [
        msRow(BARE, bare),
        msRow(IMPORT, find(results, IMPORT)?.["process"]?.["ms"], limit),
        ...[SERVER, ...Object.keys(PEER_IMPORTS)].flatMap((name) => {
          const own = find(results, name);
          return own === undefined ? [] : [msRow(name, own["process"]?.["ms"])];
        }),
        ...REGISTRATIONS.flatMap((name) => {
          const own = find(results, name);
          if (own === undefined) return [];
          const wanted = name === REGISTER ? 150 : undefined;
          return [
            msRow(name, own["registered"]?.["ms"], wanted),
            msRow("… and the first answer", own["first answer"]?.["ms"]),
          ];
        }),
      ],
    ),
  ].join("\n");
}

/** The download of each framework for a page. */
export function bundleTable(results: readonly Result[]): string {
  return [
    "Everything that the main entry point exports, bundled for the web by esbuild, Node's modules left outside",
    formatTable(BUNDLE_COLUMNS, bundleLines(results)),
  ].join("\n");
}

/** The type checker: ahead of every framework with types. */
export function typesTable(results: readonly Result[], settings: Settings): string {
  return [
    `Type checking of ${settings.types.routes} routes, ${fresh(settings.types.rounds)}; instantiations of one more route, or of a call of it`,
    formatTable(TYPES_COLUMNS, typesLines(results)),
    verdict(
      compare(results, (contender) => (contender === UNTYPED ? 0 : 1), "perCPUSecond"),
      settings,
    ),
  ].join("\n");
}

function fresh(rounds: number): string {
  return rounds === 1 ? "one process each, so rough" : `median of ${rounds} fresh processes ± half the spread`;
}

function keepRows(result: Result, has: (row: string) => boolean): Result {
  return { ...result, rows: Object.fromEntries(Object.entries(result.rows).filter(([row]) => has(row))) };
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
  return [name, formatMs(summary.median), spreadOf(summary), ...verdictCells];
}

/** One line a contender, and for each row its rate, a detail of it, and how many times as fast ours is. */
function ratesTable(
  results: readonly Result[],
  detail: (figures: Figures) => string = ({ perSecond }) => spreadOf(perSecond),
  figure = "perSecond",
): string {
  const rows = rowsOf(results);
  return formatTable(
    ["", ...rows.flatMap((row) => [row, "", "tsgi is"])],
    results.map((result) => [
      result.faults.length === 0 ? result.contender : `${result.contender} (wrong)`,
      ...rows.flatMap((row) =>
        rateCells(result.rows[row], oursFor(results, result.contender)?.rows[row], detail, figure),
      ),
    ]),
  );
}

function rateCells(
  theirs: Figures | undefined,
  ours: Figures | undefined,
  detail: (figures: Figures) => string,
  figure: string,
): string[] {
  const rate = theirs?.[figure];
  if (theirs === undefined || rate === undefined) {
    return ["–", "", ""];
  }
  const our = ours?.[figure];
  return [
    `${formatRate(rate.median)}${markOf(theirs, figure)}`,
    detail(theirs),
    our === undefined ? "" : formatRatio(ratioOf(our, rate)),
  ];
}

/** A figure of a single process has no spread. */
function spreadOf(summary: Summary | undefined): string {
  return summary === undefined || summary.runs.length === 1 ? "" : formatSpread(summary.spread);
}

function verdict(comparisons: readonly Comparison[], { quick }: Settings): string {
  if (quick) return "A smoke test: it judges nothing.";
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
