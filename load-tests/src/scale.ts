/** The scale of a chart. @module */

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
