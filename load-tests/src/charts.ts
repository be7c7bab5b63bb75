/** Charts as SVG text. Colours come from the page's style sheet by class. @module */

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

const WIDTH = 900;
const LABELS = 210;
const FIGURES = 90;
const BAR = 22;

export function escapeHTML(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** Horizontal bars from zero, each with a line from its lowest to its highest figure. */
export function barChart(bars: readonly Bar[]): string {
  const largest = Math.max(...bars.map(({ max }) => max));
  const scale = (value: number): number => LABELS + (value / largest) * (WIDTH - LABELS - FIGURES);
  const drawn = bars.map(({ label, isOurs, median, min, max }, index) => {
    const top = index * (BAR + 6);
    const middle = top + BAR / 2;
    return [
      `<text x="${LABELS - 8}" y="${middle + 4}" text-anchor="end">${escapeHTML(label)}</text>`,
      `<rect class="${isOurs ? "ours" : "theirs"}" x="${LABELS}" y="${top}" width="${(scale(median) - LABELS).toFixed(1)}" height="${BAR}" rx="3"/>`,
      `<line class="spread" x1="${scale(min).toFixed(1)}" x2="${scale(max).toFixed(1)}" y1="${middle}" y2="${middle}"/>`,
      `<text class="soft" x="${(scale(max) + 8).toFixed(1)}" y="${middle + 4}">${formatFigure(median)}</text>`,
    ].join("");
  });
  return `<svg viewBox="0 0 ${WIDTH} ${bars.length * (BAR + 6)}" role="img">${drawn.join("")}</svg>`;
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
