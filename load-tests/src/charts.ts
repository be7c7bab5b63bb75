/** Charts as SVG and HTML text. Colours come by class from the style sheet below. @module */
import { scaleFor, type Scale } from "./scale.js";

/** A bar's class: tsgi, a framework, or a program without one. It decides fill and hatching. */
export type Kind = "ours" | "theirs" | "bare";

/** One bar, with the spread of its figure. */
export interface Bar {
  readonly label: string;
  readonly kind: Kind;
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** Text behind the figure, such as a ratio. */
  readonly note?: string;
}

/** One line over the labels of a chart; `NaN` where it has no value. */
export interface Line {
  readonly label: string;
  readonly isOurs: boolean;
  readonly values: readonly number[];
}

/** Bars that belong together, such as those of one route. */
export interface Group {
  readonly title: string;
  readonly bars: readonly Bar[];
}

/** Ratios from the lowest to the highest, and the names of both ends. */
export interface Range {
  readonly label: string;
  readonly kind: Kind;
  readonly low: number;
  readonly high: number;
  readonly note: string;
}

/** The colours of a page or a figure, light and dark. Ours is far darker than the rest, or far lighter in the dark. */
export const COLOURS = `
  :root { color-scheme: light dark; --ink: #1b1f24; --soft: #5b6470; --paper: #fff; --line: #d8dde3; --ours: #1d4ed8; --theirs: #a9b4c2; --hatch: #7b8794; --alarm: #8a4b00 }
  @media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #a3adba; --paper: #14171b; --line: #333a44; --ours: #8ab4ff; --theirs: #566170; --hatch: #77828f; --alarm: #ffc27a } }
`;

/** Colours of the elements of a chart, by class. */
export const CHART_STYLE = `
  svg text { fill: var(--ink) } svg .soft { fill: var(--soft) }
  svg .ours { fill: var(--ours) } svg .theirs { fill: var(--theirs) } svg .bare { fill: url(#hatch); stroke: var(--hatch) } svg .spread { stroke: var(--ink); stroke-width: 1.5 } svg .axis { stroke: var(--line) }
`;

/** The charts of a page: text keeps its size on a narrow screen, where each label is above its bar. */
export const PAGE_CHART_STYLE = `
  .chart { display: grid; grid-template-columns: minmax(0, 15rem) 1fr; gap: .25rem .6rem; align-items: center; margin: .4rem 0 1rem }
  .chart .label { text-align: right } .track { position: relative; height: 1.5rem; margin-right: 8.5rem }
  .track > * { position: absolute } .track i { top: 0; height: 1.15rem; border-radius: 2px; box-sizing: border-box; min-width: 2px }
  .track .ours { background: var(--ours) } .track .theirs { background: var(--theirs) }
  .track .bare { background: repeating-linear-gradient(45deg, var(--hatch) 0 2px, transparent 2px 6px); border: 1px solid var(--hatch) }
  .track b { bottom: 0; height: 2px; background: var(--ink); min-width: 2px } .track span { padding-left: .4rem; white-space: nowrap; color: var(--soft) }
  .track u { top: -.15rem; bottom: -.1rem; width: 1px; background: var(--line) } .track u.one { background: var(--ink); width: 2px }
  .axis-row span { transform: translateX(-50%); padding: 0; font-size: .8rem } .axis-row span:first-child { transform: none }
  .ranges .track { margin-right: 0 } .ranges .axis-row span:first-child { transform: translateX(-50%) } .ranges small { color: var(--soft) } .scroll { overflow-x: auto }
  @media (max-width: 40rem) { .chart { grid-template-columns: 1fr; gap: 0 } .chart .label { text-align: left; margin-top: .3rem } .chart .blank { display: none } .track { margin-right: 8rem } }
`;

/** The width of a chart of bars, and the parts of it for labels and figures, in pixels. */
interface Frame {
  readonly width: number;
  readonly labels: number;
  readonly figures: number;
}

const IN_FIGURE: Frame = { width: 640, labels: 238, figures: 64 };
/** For a figure with short labels: readable when it is shown at half its size. */
export const NARROW: Frame = { width: 420, labels: 84, figures: 60 };
const BAR = 22;
const STEP = BAR + 6;
const HATCH = `<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="2" height="6" style="fill:var(--hatch)"/></pattern></defs>`;

export function escapeHTML(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** Bars on one scale, which an axis shows and a line names. A figure of several rounds has a line for its spread. */
export function barChart(bars: readonly Bar[]): string {
  const scale = scaleFor(bars.flatMap(({ median, max }) => [median, max]));
  const grid = scale.ticks.map((tick) => `<u style="left:${percent(scale.place(tick))}"></u>`).join("");
  const lines = bars.map((bar) => {
    const end = percent(scale.place(bar.median));
    const spread = hasSpread(bar)
      ? `<b style="left:${percent(scale.place(bar.min))};width:${percent(scale.place(bar.max) - scale.place(bar.min))}"></b>`
      : "";
    const note = bar.note === undefined ? "" : ` · ${escapeHTML(bar.note)}`;
    return (
      `<div class="label">${escapeHTML(bar.label)}</div><div class="track">${grid}<i class="${bar.kind}" style="width:${end}"></i>${spread}` +
      `<span style="left:${end}">${formatFigure(bar.median)}${note}</span></div>`
    );
  });
  return `<div class="chart">${lines.join("")}${axisRow(scale.ticks.map((tick) => [scale.place(tick), formatFigure(tick)]))}<div class="blank"></div><small class="about">${scale.name}</small></div>`;
}

function axisRow(ticks: readonly (readonly [place: number, text: string])[]): string {
  const names = ticks.map(([place, text]) => `<span style="left:${percent(place)}">${text}</span>`);
  return `<div class="blank"></div><div class="track axis-row">${names.join("")}</div>`;
}

/** Ranges of ratios on a logarithmic scale with a line at 1: to its right ours is faster. */
export function rangeChart(ranges: readonly Range[]): string {
  const low = Math.min(0.5, ...ranges.map((range) => range.low));
  const high = Math.max(2, ...ranges.map((range) => range.high));
  const place = (ratio: number): number => Math.log(ratio / low) / Math.log(high / low);
  const ticks = [0.1, 0.25, 0.5, 1, 2, 5, 10, 25, 50, 100].filter((tick) => tick >= low && tick <= high);
  const grid = ticks.map((tick) => `<u${tick === 1 ? ' class="one"' : ""} style="left:${percent(place(tick))}"></u>`);
  const lines = ranges.map(
    (range) =>
      `<div class="label">${escapeHTML(range.label)}</div><div><div class="track">${grid.join("")}<i class="${range.kind}" style="left:${percent(place(range.low))};width:${percent(place(range.high) - place(range.low))}"></i></div><small>${escapeHTML(range.note)}</small></div>`,
  );
  const axis = axisRow(ticks.map((tick) => [place(tick), `${tick}×`]));
  return `<div class="chart ranges">${lines.join("")}${axis}</div>`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)}%`;
}

/** A single round has none. */
function hasSpread({ min, max }: Bar): boolean {
  return max > min;
}

/**
 * Groups of bars on one scale as an SVG file that needs nothing else: it brings its colours and a background of its own,
 * so that it can be read on a light page and on a dark one.
 *
 * @param title - First line of the figure, and with the unit its text for screen readers.
 * @param unit - Unit of the numbers, and the better direction.
 */
export function barFigure(title: string, unit: string, groups: readonly Group[], frame = IN_FIGURE): string {
  const margin = 20;
  const scale = scaleFor(groups.flatMap(({ bars }) => bars.flatMap(({ median, max }) => [median, max])));
  let top = margin + 80;
  const drawn = groups.map(({ title: name, bars }) => {
    const group =
      `<text class="name" x="${margin}" y="${top}">${escapeHTML(name)}</text>` +
      `<g transform="translate(${margin} ${top + 10})">${drawBars(bars, scale, frame)}</g>`;
    top += 10 + bars.length * STEP + 40;
    return group;
  });
  const width = frame.width + 2 * margin;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top - 20}" width="${width}" role="img" aria-label="${escapeHTML(`${title}, ${unit}`)}">
<style>${COLOURS}${CHART_STYLE}  svg { font: 13px system-ui, sans-serif } .title { font-size: 17px; font-weight: 600 } .name { font-weight: 600 }
</style>
${HATCH}
<rect width="100%" height="100%" rx="8" style="fill:var(--paper)"/>
<text class="title" x="${margin}" y="${margin + 12}">${escapeHTML(title)}</text>
<text class="soft" x="${margin}" y="${margin + 31}">${escapeHTML(unit)}</text>
<text class="soft" x="${margin}" y="${margin + 49}">${scale.name}</text>
${drawn.join("\n")}
</svg>
`;
}

function drawBars(bars: readonly Bar[], scale: Scale, { width, labels, figures }: Frame): string {
  const x = (value: number): string => (labels + scale.place(value) * (width - labels - figures)).toFixed(1);
  const bottom = bars.length * STEP - 3;
  const axis = scale.ticks.map(
    (tick) =>
      `<line class="axis" x1="${x(tick)}" x2="${x(tick)}" y1="-3" y2="${bottom}"/>` +
      `<text class="soft" x="${x(tick)}" y="${bottom + 13}" text-anchor="middle" font-size="11">${formatFigure(tick)}</text>`,
  );
  const drawn = bars.map((bar, index) => {
    const top = index * STEP;
    return [
      `<text x="${labels - 8}" y="${top + 15}" text-anchor="end">${escapeHTML(bar.label)}</text>`,
      `<rect class="${bar.kind}" x="${labels}" y="${top}" width="${(Number(x(bar.median)) - labels).toFixed(1)}" height="${BAR}" rx="3"/>`,
      hasSpread(bar)
        ? `<line class="spread" x1="${x(bar.min)}" x2="${x(bar.max)}" y1="${top + BAR + 1}" y2="${top + BAR + 1}"/>`
        : "",
      `<text class="soft" x="${Number(x(bar.median)) + 8}" y="${top + 15}">${formatFigure(bar.median)}</text>`,
    ].join("");
  });
  return axis.join("") + drawn.join("");
}

const WIDTH = 900;
const LABELS = 250;
const HEIGHT = 260;
const MARGIN = 30;

/** Lines over labels, on a logarithmic scale: ratios differ by orders of magnitude. */
export function lineChart(lines: readonly Line[], labels: readonly string[], unit: string): string {
  const values = lines.flatMap((line) => line.values).filter((value) => value > 0);
  const low = Math.log10(Math.min(...values));
  const high = Math.max(Math.log10(Math.max(...values)), low + 0.1);
  const right = WIDTH - LABELS;
  const x = (index: number): number => 60 + (index / Math.max(labels.length - 1, 1)) * (right - 80);
  const y = (value: number): number =>
    HEIGHT - MARGIN - ((Math.log10(value) - low) / (high - low)) * (HEIGHT - 2 * MARGIN);
  const ticks = [low, (low + high) / 2, high].map((power) => 10 ** power);
  const grid = ticks.map(
    (value) =>
      `<line class="axis" x1="55" x2="${right - 10}" y1="${y(value).toFixed(1)}" y2="${y(value).toFixed(1)}"/>` +
      `<text class="soft" x="50" y="${(y(value) + 4).toFixed(1)}" text-anchor="end">${formatFigure(value)}${unit}</text>`,
  );
  const step = Math.ceil(labels.length / 10);
  const names = labels.map((label, index) =>
    index % step === 0
      ? `<text class="soft" x="${x(index).toFixed(1)}" y="${HEIGHT - 8}" text-anchor="middle">${escapeHTML(label)}</text>`
      : "",
  );
  const drawn = lines.map((line, index) => drawLine(line, index, x, y));
  return `<svg viewBox="0 0 ${WIDTH} ${Math.max(HEIGHT, lines.length * 18 + 10)}" width="${WIDTH}" role="img">${grid.join("")}${names.join("")}${drawn.join("")}</svg>`;
}

/** Colours that also those tell apart who see no red or no green. @see https://jfly.uni-koeln.de/color/ */
const PALETTE = ["#e69f00", "#56b4e9", "#009e73", "#d55e00", "#cc79a7", "#8a8a8a"] as const;
const DASHES = ["none", "6 3", "2 3"] as const;

function drawLine(
  { label, isOurs, values }: Line,
  index: number,
  x: (index: number) => number,
  y: (value: number) => number,
): string {
  const points = values.flatMap((value, at) => (value > 0 ? [`${x(at).toFixed(1)},${y(value).toFixed(1)}`] : []));
  const colour = isOurs ? "var(--ours)" : PALETTE[index % PALETTE.length];
  const dash = isOurs ? "none" : DASHES[Math.floor(index / PALETTE.length) % DASHES.length];
  const stroke = `fill="none" style="stroke:${colour}" stroke-dasharray="${dash}" stroke-width="${isOurs ? 3 : 1.5}"`;
  const left = WIDTH - LABELS;
  const middle = 14 + index * 18;
  return (
    `<polyline points="${points.join(" ")}" ${stroke}/>` +
    `<line x1="${left - 2}" x2="${left + 16}" y1="${middle}" y2="${middle}" ${stroke}/>` +
    `<text x="${left + 22}" y="${middle + 4}">${escapeHTML(label)}</text>`
  );
}

/** Three figures are enough: `1234567` reads `1.23M`. */
export function formatFigure(value: number): string {
  if (value >= 999_500) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (value >= 9_995) return `${Number((value / 1e3).toPrecision(3))}k`;
  return String(Number(value.toPrecision(3)));
}
