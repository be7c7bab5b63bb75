/** Charts as SVG text. Colours come by class from the style sheet below. @module */

/** A bar's class: tsgi, a framework, or a program without one. It decides fill and hatching. */
export type Kind = "ours" | "theirs" | "bare";

/** One bar, with the spread of its figure. */
export interface Bar {
  readonly label: string;
  readonly kind: Kind;
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** Bars that belong together, such as the bars of one route. */
export interface Group {
  readonly title: string;
  readonly bars: readonly Bar[];
}

/** The colours, light and dark. Ours is far darker than the rest, or far lighter in the dark. */
const COLOURS = `
  :root { color-scheme: light dark; --ink: #1b1f24; --soft: #5b6470; --paper: #fff; --line: #d8dde3; --ours: #1d4ed8; --theirs: #a9b4c2; --hatch: #7b8794 }
  @media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #a3adba; --paper: #14171b; --line: #333a44; --ours: #8ab4ff; --theirs: #566170; --hatch: #77828f } }
`;

/** Colours of the elements of a chart, by class. */
const CHART_STYLE = `
  svg text { fill: var(--ink) } svg .soft { fill: var(--soft) }
  svg .ours { fill: var(--ours) } svg .theirs { fill: var(--theirs) } svg .bare { fill: url(#hatch); stroke: var(--hatch) } svg .spread { stroke: var(--ink); stroke-width: 1.5 } svg .axis { stroke: var(--line) }
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

function escapeHTML(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** A single round has no spread. */
function hasSpread({ min, max }: Bar): boolean {
  return max > min;
}

/**
 * Groups of bars on one scale as a self-contained SVG file: it contains its colors and a background, so that it is
 * readable on a light page and on a dark one.
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

/** Three figures are enough: `1234567` reads `1.23M`. */
function formatFigure(value: number): string {
  if (value >= 999_500) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (value >= 9_995) return `${Number((value / 1e3).toPrecision(3))}k`;
  return String(Number(value.toPrecision(3)));
}

/** Below this share of the longest bar a bar on a linear scale can hardly be seen. */
const VANISHING = 1 / 30;

/** Places figures between 0 and 1. */
export interface Scale {
  readonly place: (value: number) => number;
  /** The figures that an axis names. */
  readonly ticks: readonly number[];
  /** The scale in words, for the reader. */
  readonly name: string;
}

/** From zero where every bar can be seen, else logarithmic from the power of ten below the least figure. */
export function scaleFor(figures: readonly number[]): Scale {
  const largest = Math.max(...figures);
  const least = Math.min(...figures.filter((figure) => figure > 0));
  return least / largest < VANISHING ? logarithmic(least, largest) : linear(largest);
}

function linear(largest: number): Scale {
  const step = niceStep(largest / 3);
  const ticks = Array.from({ length: Math.floor(largest / step) + 1 }, (_, index) => index * step);
  return { place: (value) => value / largest, ticks, name: "linear scale from 0" };
}

function logarithmic(least: number, largest: number): Scale {
  const low = Math.floor(Math.log10(least) - 0.1);
  const high = Math.log10(largest);
  const ticks = Array.from({ length: Math.floor(high) - low + 1 }, (_, index) => 10 ** (low + index));
  const place = (value: number): number => Math.max((Math.log10(value) - low) / (high - low), 0);
  return { place, ticks, name: "logarithmic scale: each line is ten times the one before" };
}

/** 1, 2 or 5 times a power of ten, at least the figure. */
function niceStep(figure: number): number {
  const power = 10 ** Math.floor(Math.log10(figure));
  return ([1, 2, 5].find((factor) => factor * power >= figure) ?? 10) * power;
}
