/** The figures of a run as one page that needs nothing else. @module */
import { barChart, CHART_STYLE, COLOURS, escapeHTML, formatFigure, lineChart, PAGE_CHART_STYLE } from "./charts.js";
import { clientNotes, markOf, MARK_NOTE } from "./client-limit.js";
import { compare, kindOf, oursFor, ratioOf, worstFirst } from "./ratios.js";
import type { Past, Report } from "./history.js";
import { noiseLines } from "./machine.js";
import { drawSummary, type Contest } from "./page-summary.js";
import { type Result, rowsOf } from "./rounds.js";
import type { Section } from "./settings.js";
import { formatRatio } from "./table.js";

/** The chart of each section: the figure, its title, and the better direction. */
const DRAWN: readonly Contest[] = [
  rate("http", "Over HTTP, by the server's processor time", "perCPUSecond"),
  rate("database", "With a database, by the server's processor time", "perCPUSecond"),
  rate("middleware", "With middleware, by the server's processor time", "perCPUSecond"),
  rate("payloads", "Payloads and HTTPS, by the server's processor time", "perCPUSecond"),
  {
    section: "realtime",
    figure: "perCPUSecond",
    title: "WebSockets and server-sent events, by the server's processor time",
    unit: "messages received a processor second",
    isRate: true,
  },
  cost("realtime", "connectionKiB", "Memory of an open connection", "KiB, garbage collected"),
  cost("realtime", "idleMs", "Processor time of idle connections", "milliseconds a second, all connections together"),
  rate("runtimes", "On other runtimes, by the server's processor time", "perCPUSecond"),
  { section: "http", figure: "perSecond", title: "Over HTTP", unit: "requests a second", isRate: true },
  { section: "direct", figure: "perSecond", title: "Direct calls", unit: "requests a second", isRate: true },
  { section: "routing", figure: "perSecond", title: "Routing", unit: "look-ups a second", isRate: true },
  cost("footprint", "startMs", "First answer", "milliseconds from the start of the process"),
  cost("footprint", "loadedMiB", "Memory after 10,000 requests", "MiB"),
  cost("footprint", "installedMiB", "Packages on disk", "MiB with all that they need"),
  { section: "sample", figure: "perSecond", title: "The sample application", unit: "requests a second", isRate: true },
  cost("startup", "ms", "Start-up", "milliseconds"),
  cost("bundle", "gzipKiB", "Bundle for the web", "KiB with gzip"),
  {
    section: "types",
    figure: "perCPUSecond",
    title: "Type checking",
    unit: "routes a second of the compiler's processor time",
    isRate: true,
  },
  cost("types", "memoryMiB", "Memory of the type checker", "MiB"),
  cost("types", "instantiations", "Instantiations by the type checker", "of one more route, or of a call of it"),
];

function rate(section: Section, title: string, figure: string): Contest {
  return { section, figure, title, unit: "requests a processor second", isRate: true };
}

function cost(section: Section, figure: string, title: string, unit: string): Contest {
  return { section, figure, title, unit: `${unit}, less is better`, isRate: false };
}

const STYLE = `${COLOURS}
  body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem; margin: 1.5rem auto; padding: 0 1rem }
  h1 { font-size: 1.3rem; margin: 0 } h2 { font-size: 1.2rem; margin: 2.5rem 0 0 } h3 { font-size: 1rem; font-weight: 600; margin-bottom: .2rem }
  .about { color: var(--soft) } p { margin: .3rem 0 } .result { font-size: 1.25rem; line-height: 1.35; margin: .6rem 0 } .alarm { color: var(--alarm); border-left: 4px solid; padding-left: .7rem; font-weight: 600 }
  code { font-size: .9em; overflow-wrap: anywhere } table { border-collapse: collapse } td, th { padding: .15rem .6rem; text-align: right; white-space: nowrap } td:first-child, th:first-child { text-align: left; padding-left: 0 }
  @media (max-width: 40rem) { td, th { padding: .15rem .3rem } td:first-child { white-space: normal } }
  ${CHART_STYLE}${PAGE_CHART_STYLE}`;

/** Makes the page. */
export function toPage(report: Report, history: readonly Past[]): string {
  const { started, machine, peers, sections } = report;
  const charts = DRAWN.map((contest) => drawSection(contest, report));
  const versions = Object.entries(peers).map(([name, version]) => `${name} ${version}`);
  const about = `${started.toISOString().slice(0, 16).replace("T", " ")} UTC, Node ${machine.node}, ${machine.cores} × ${machine.cpu}, load ${machine.load.toFixed(1)} at the start. Bars are medians, the line below a bar is the spread of its rounds where there were several. Ours are blue, programs without a framework hatched. No figure is a promise to anyone who calls the framework.`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>tsgi benchmark</title><style>${STYLE}</style></head><body>
<h1>tsgi benchmark</h1>
${drawSummary(report, DRAWN)}
<p class="about">${escapeHTML(about)}</p>
<p class="about">${escapeHTML(versions.length === 0 ? "No peers were measured: make bench PEERS=1." : `Peers: ${versions.join(", ")}.`)}</p>
${charts.join("\n")}
${drawLatencies("Latency at 50 and 80 % of each server's own saturation", sections.latency ?? [], repeat(report, "latency"))}
${drawLatencies("Latency under full load", sections.http ?? [], repeat(report, "http"))}
${drawHistory(history)}
</body></html>
`;
}

/** The rows of a section, that with our lowest ratio first. */
function drawSection({ section, figure, title, unit, isRate }: Contest, report: Report): string {
  const results = report.sections[section] ?? [];
  const isJudged = isRate && !report.settings.quick;
  const comparisons = isJudged ? compare(results, () => 1, figure) : [];
  const charts = worstFirst(rowsOf(results), comparisons)
    .map((row) => drawRow(results, row, figure, isJudged))
    .filter((chart) => chart !== "");
  if (charts.length === 0) return "";
  const isMarked = results.some((result) =>
    Object.values(result.rows).some((figures) => markOf(figures, figure) !== ""),
  );
  const lead = isJudged ? "Where tsgi is slowest comes first; × is how many times as fast tsgi is." : "";
  return `<h2>${escapeHTML(title)}</h2><p class="about">${escapeHTML([`${unit}.`, lead, isMarked ? MARK_NOTE : ""].join(" "))} ${repeat(report, section)}</p>${charts.join("")}`;
}

function drawRow(results: readonly Result[], row: string, figure: string, isJudged: boolean): string {
  const bars = results.flatMap(({ contender, rows }) => {
    const summary = rows[row]?.[figure];
    if (summary === undefined) return [];
    const our = oursFor(results, contender)?.rows[row]?.[figure];
    const ratio = our === undefined || !isJudged ? null : ratioOf(our, summary);
    const note = ratio === null ? {} : { note: formatRatio(ratio) };
    const label = `${contender}${markOf(rows[row] ?? {}, figure)}`;
    return [{ label, kind: kindOf(results, contender), ...summary, ...note, order: ratio ?? 0 }];
  });
  if (bars.length === 0) return "";
  return `<h3>${escapeHTML(row)}</h3>${barChart(bars.toSorted((left, right) => left.order - right.order))}`;
}

/** The noise of a section, the command that measures it again, and the time that it took. */
function repeat({ settings, seconds, disturbances }: Report, section: Section): string {
  const disturbance = disturbances?.[section];
  const noise =
    disturbance === undefined
      ? ""
      : noiseLines(disturbance)
          .map((line) => `${escapeHTML(line)} `)
          .join("");
  const variables = [settings.peers ? " PEERS=1" : "", settings.quick ? " QUICK=1" : "", ` ONLY=${section}`].join("");
  const took = seconds?.[section];
  return `${noise}Again: <code>make bench${variables}</code>${took === undefined ? "" : `, ${formatSeconds(took)}`}.`;
}

function formatSeconds(seconds: number): string {
  return seconds < 100 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
}

/** The columns of the tables of latencies. A server under full load has no rate of its own. */
const PERCENTILES = [
  ["p50", "p50Ms"],
  ["p99", "p99Ms"],
  ["p99.9", "p99_9Ms"],
] as const;

/** One table for each route: text can be read on every screen. */
function drawLatencies(title: string, results: readonly Result[], again: string): string {
  const rows = rowsOf(results);
  const hasRates = results.some((result) => Object.values(result.rows).some(({ ratePerSecond }) => ratePerSecond));
  const columns = hasRates ? ([["per s", "ratePerSecond"], ...PERCENTILES] as const) : PERCENTILES;
  const head = columns.map(([label]) => `<th>${label}</th>`).join("");
  const tables = rows.flatMap((row) => {
    const lines = results.flatMap(({ contender, rows: own }) => {
      const { [row]: figures = {} } = own;
      const values = columns.map(([, name]) => figures[name]?.median);
      const notes = clientNotes(figures)
        .map((note) => ` <small class="about">${note}</small>`)
        .join("");
      const cells = values.map((value) => `<td>${value === undefined ? "–" : formatFigure(value)}</td>`);
      return values.every((value) => value === undefined)
        ? []
        : [`<tr><td>${escapeHTML(contender)}${notes}</td>${cells.join("")}</tr>`];
    });
    return lines.length === 0
      ? []
      : [
          `<h3>${escapeHTML(row)}</h3><div class="scroll"><table><tr><th></th>${head}</tr>${lines.join("")}</table></div>`,
        ];
  });
  if (tables.length === 0) return "";
  return `<h2>${title}</h2><p class="about">milliseconds, less is better. ${again}</p>${tables.join("")}`;
}

function drawHistory(history: readonly Past[]): string {
  if (history.length < 2) return "";
  const names = Object.keys(history.at(-1)?.ratios ?? {}).filter((name) => name.startsWith("direct / "));
  const lines = names.map((name) => ({
    label: name.slice("direct / ".length),
    isOurs: name.includes("hand-written"),
    values: history.map(({ ratios }) => ratios[name] ?? Number.NaN),
  }));
  const labels = history.map(({ date }) => date.slice(5, 10));
  return `<h2>History of the ratios, direct calls</h2><p class="about">ours divided by theirs, on this machine; logarithmic scale</p><div class="scroll">${lineChart(lines, labels, "×")}</div>`;
}
