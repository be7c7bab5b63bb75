/** Charts as SVG text. Colours come by class from the style sheet below. @module */

/** One bar, with the spread of its figure. */
export interface Bar {
  readonly label: string;
  readonly isOurs: boolean;
  readonly median: number;
  readonly min: number;
  readonly max: number;
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

/** The colours of a page or a figure, light and dark. */
export const COLOURS = `
  :root { color-scheme: light dark; --ink: #1b1f24; --soft: #5b6470; --paper: #fff; --line: #d8dde3; --ours: #2563eb; --theirs: #a3b1c2; }
  @media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #98a2b0; --paper: #14171b; --line: #333a44; --ours: #6ea0ff; --theirs: #55606e; } }
`;

/** Colours of the elements of a chart, by class. */
export const CHART_STYLE = `
  svg text { fill: var(--ink) } svg .soft { fill: var(--soft) }
  svg .ours { fill: var(--ours) } svg .theirs { fill: var(--theirs) } svg .spread { stroke: var(--ink); stroke-width: 1.5 } svg .axis { stroke: var(--line) }
`;

/** The width of a chart of bars, and the parts of it for labels and figures, in pixels. */
interface Frame {
  readonly width: number;
  readonly labels: number;
  readonly figures: number;
}

const ON_PAGE: Frame = { width: 900, labels: 250, figures: 90 };
const IN_FIGURE: Frame = { width: 640, labels: 238, figures: 64 };
/** For a figure with short labels: readable when it is shown at half its size. */
export const NARROW: Frame = { width: 420, labels: 84, figures: 60 };
const WIDTH = ON_PAGE.width;
const LABELS = ON_PAGE.labels;
const BAR = 22;
const STEP = BAR + 6;

export function escapeHTML(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** Horizontal bars from zero, each with a line from its lowest to its highest figure. */
export function barChart(bars: readonly Bar[]): string {
  return `<svg viewBox="0 0 ${WIDTH} ${bars.length * STEP}" role="img">${drawBars(bars, largestOf(bars), ON_PAGE)}</svg>`;
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
  const largest = largestOf(groups.flatMap(({ bars }) => bars));
  let top = margin + 62;
  const drawn = groups.map(({ title: name, bars }) => {
    const group =
      `<text class="name" x="${margin}" y="${top}">${escapeHTML(name)}</text>` +
      `<g transform="translate(${margin} ${top + 10})">${drawBars(bars, largest, frame)}</g>`;
    top += 10 + bars.length * STEP + 26;
    return group;
  });
  const width = frame.width + 2 * margin;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top - 20}" width="${width}" role="img" aria-label="${escapeHTML(`${title}, ${unit}`)}">
<style>${COLOURS}${CHART_STYLE}  svg { font: 13px system-ui, sans-serif } .title { font-size: 17px; font-weight: 600 } .name { font-weight: 600 }
</style>
<rect width="100%" height="100%" rx="8" style="fill:var(--paper)"/>
<text class="title" x="${margin}" y="${margin + 12}">${escapeHTML(title)}</text>
<text class="soft" x="${margin}" y="${margin + 31}">${escapeHTML(unit)}</text>
${drawn.join("\n")}
</svg>
`;
}

function largestOf(bars: readonly Bar[]): number {
  return Math.max(...bars.map(({ max }) => max));
}

function drawBars(bars: readonly Bar[], largest: number, { width, labels, figures }: Frame): string {
  const scale = (value: number): number => labels + (value / largest) * (width - labels - figures);
  return bars
    .map(({ label, isOurs, median, min, max }, index) => {
      const top = index * STEP;
      const middle = top + BAR / 2;
      return [
        `<text x="${labels - 8}" y="${middle + 4}" text-anchor="end">${escapeHTML(label)}</text>`,
        `<rect class="${isOurs ? "ours" : "theirs"}" x="${labels}" y="${top}" width="${(scale(median) - labels).toFixed(1)}" height="${BAR}" rx="3"/>`,
        `<line class="spread" x1="${scale(min).toFixed(1)}" x2="${scale(max).toFixed(1)}" y1="${middle}" y2="${middle}"/>`,
        `<text class="soft" x="${(scale(max) + 8).toFixed(1)}" y="${middle + 4}">${formatFigure(median)}</text>`,
      ].join("");
    })
    .join("");
}

const HEIGHT = 260;
const MARGIN = 30;

/** Lines over labels, on a logarithmic scale: ratios and latencies differ by orders of magnitude. */
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
  return `<svg viewBox="0 0 ${WIDTH} ${Math.max(HEIGHT, lines.length * 18 + 10)}" role="img">${grid.join("")}${names.join("")}${lines
    .map((line, index) => drawLine(line, index, lines.length, x, y))
    .join("")}</svg>`;
}

function drawLine(
  { label, isOurs, values }: Line,
  index: number,
  count: number,
  x: (index: number) => number,
  y: (value: number) => number,
): string {
  const points = values.flatMap((value, at) => (value > 0 ? [`${x(at).toFixed(1)},${y(value).toFixed(1)}`] : []));
  const colour = isOurs ? "var(--ours)" : `hsl(${Math.round((index * 360) / count)} 45% 55%)`;
  return (
    `<polyline points="${points.join(" ")}" fill="none" stroke="${colour}" stroke-width="${isOurs ? 3 : 1.5}"/>` +
    `<circle cx="${WIDTH - LABELS + 8}" cy="${14 + index * 18}" r="5" style="fill:${colour}"/>` +
    `<text x="${WIDTH - LABELS + 20}" y="${18 + index * 18}">${escapeHTML(label)}</text>`
  );
}

/** Three figures are enough: `1234567` reads `1.23M`. */
function formatFigure(value: number): string {
  if (value >= 999_500) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (value >= 9_995) return `${Number((value / 1e3).toPrecision(3))}k`;
  return String(Number(value.toPrecision(3)));
}
