/** The figures of a run as one page that needs nothing else. @module */
import { barChart, CHART_STYLE, COLOURS, escapeHTML, lineChart } from "./charts.js";
import { isOurs } from "./comparison.js";
import type { Past, Report } from "./history.js";
import type { Result } from "./rounds.js";
import type { Section } from "./settings.js";

/** The chart of each section: the figure, its title, and the better direction. */
const DRAWN: readonly { section: Section; figure: string; title: string; unit: string }[] = [
  { section: "direct", figure: "perSecond", title: "Direct calls", unit: "requests a second" },
  { section: "routing", figure: "perSecond", title: "Routing", unit: "look-ups a second" },
  { section: "http", figure: "perSecond", title: "Over HTTP", unit: "requests a second" },
  {
    section: "http",
    figure: "perCPUSecond",
    title: "Over HTTP, by the server's processor time",
    unit: "requests a processor second",
  },
  {
    section: "database",
    figure: "perCPUSecond",
    title: "With a database, by the server's processor time",
    unit: "requests a processor second",
  },
  {
    section: "middleware",
    figure: "perCPUSecond",
    title: "With middleware, by the server's processor time",
    unit: "requests a processor second",
  },
  {
    section: "payloads",
    figure: "perCPUSecond",
    title: "Payloads and HTTPS, by the server's processor time",
    unit: "requests a processor second",
  },
  {
    section: "runtimes",
    figure: "perCPUSecond",
    title: "On other runtimes, by the server's processor time",
    unit: "requests a processor second",
  },
  {
    section: "footprint",
    figure: "startMs",
    title: "First answer",
    unit: "milliseconds from the start of the process, less is better",
  },
  { section: "footprint", figure: "loadedMiB", title: "Memory after 10,000 requests", unit: "MiB, less is better" },
  {
    section: "footprint",
    figure: "installedMiB",
    title: "Packages on disk",
    unit: "MiB with all that they need, less is better",
  },
  { section: "sample", figure: "perSecond", title: "The sample application", unit: "requests a second" },
  { section: "startup", figure: "ms", title: "Start-up", unit: "milliseconds, less is better" },
  { section: "bundle", figure: "gzipKiB", title: "Bundle for the web", unit: "KiB with gzip, less is better" },
];

const STYLE = `${COLOURS}
  body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
  h1 { font-size: 1.6rem; margin-bottom: 0 } h2 { font-size: 1.2rem; margin-top: 2.5rem } h3 { font-size: 1rem; color: var(--soft); font-weight: 600; margin-bottom: .2rem }
  p.about { color: var(--soft) } svg { width: 100%; height: auto; font: 12px system-ui, sans-serif }
  ${CHART_STYLE}`;

/** Makes the page. */
export function toPage({ started, machine, settings, peers, sections }: Report, history: readonly Past[]): string {
  const charts = DRAWN.flatMap(({ section, figure, title, unit }) => {
    const results = sections[section] ?? [];
    const rows = [...new Set(results.flatMap((result) => Object.keys(result.rows)))];
    const drawn = rows.map((row) => drawRow(results, row, figure)).filter((chart) => chart !== "");
    return drawn.length === 0
      ? []
      : [`<h2>${escapeHTML(title)}</h2><p class="about">${escapeHTML(unit)}</p>`, ...drawn];
  });
  const versions = Object.entries(peers).map(([name, version]) => `${name} ${version}`);
  const about = [
    `${started.toISOString().slice(0, 16).replace("T", " ")} UTC, Node ${machine.node}, ${machine.cores} × ${machine.cpu}, load ${machine.load.toFixed(1)} at the start.`,
    settings.quick ? "Fewer requests and rounds than the reference protocol." : "",
    "Bars are medians, the line on each is the spread of its rounds. No figure is a promise to anyone who calls the framework.",
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>tsgi benchmark</title><style>${STYLE}</style></head><body>
<h1>tsgi benchmark</h1>
<p class="about">${escapeHTML(about.filter(Boolean).join(" "))}</p>
${charts.join("\n")}
${drawLatencies("Latency at a fixed rate", sections.latency ?? [])}
${drawLatencies("Latency under full load", sections.http ?? [])}
${drawHistory(history)}
<p class="about">${escapeHTML(versions.length === 0 ? "No peers were measured: make bench PEERS=1." : `Peers: ${versions.join(", ")}.`)}</p>
</body></html>
`;
}

function drawRow(results: readonly Result[], row: string, figure: string): string {
  const bars = results.flatMap(({ contender, rows }) => {
    const summary = rows[row]?.[figure];
    return summary === undefined ? [] : [{ label: contender, isOurs: isOurs(results, contender), ...summary }];
  });
  return bars.length === 0 ? "" : `<h3>${escapeHTML(row)}</h3>${barChart(bars)}`;
}

/** The percentiles that a client measures, in their order. */
const PERCENTILES = [
  ["p50", "p50Ms"],
  ["p90", "p90Ms"],
  ["p97.5", "p97_5Ms"],
  ["p99", "p99Ms"],
  ["p99.9", "p99_9Ms"],
] as const;

function drawLatencies(title: string, results: readonly Result[]): string {
  const rows = [...new Set(results.flatMap((result) => Object.keys(result.rows)))];
  const charts = rows.flatMap((row) => {
    const lines = results.flatMap(({ contender, rows: own }) => {
      const figures = own[row];
      const values = PERCENTILES.map(([, name]) => figures?.[name]?.median ?? Number.NaN);
      return values.some(Number.isFinite) ? [{ label: contender, isOurs: isOurs(results, contender), values }] : [];
    });
    const labels = PERCENTILES.map(([label]) => label);
    return lines.length === 0 ? [] : [`<h3>${escapeHTML(row)}</h3>${lineChart(lines, labels, " ms")}`];
  });
  return charts.length === 0 ? "" : `<h2>${title}</h2><p class="about">milliseconds</p>${charts.join("")}`;
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
  return `<h2>History of the ratios, direct calls</h2><p class="about">ours divided by theirs, on this machine</p>${lineChart(lines, labels, "×")}`;
}
