/** Tables of text, for a terminal and for a page. @module */

/**
 * A Markdown table as the formatter lays one out, which a terminal shows as well: the first column to the left, all others to
 * the right.
 *
 * @param header - One title a column.
 * @param rows - Each as long as the header; a shorter one is filled up with empty cells.
 */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) =>
    Math.max(3, title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${widths
      .map((width, column) => {
        const cell = cells[column] ?? "";
        return column === 0 ? cell.padEnd(width) : cell.padStart(width);
      })
      .join(" | ")} |`;
  const rule = widths.map((width, column) => (column === 0 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`));
  return [line(header), line(rule), ...rows.map(line)].join("\n");
}

/** A rate for a reader: three figures are enough, more would be noise. `1234567` reads `1,230,000`. */
export function formatRate(perSecond: number): string {
  return Number(perSecond.toPrecision(3)).toLocaleString("en-US", { maximumFractionDigits: 0 });
}

/** A share as `±3 %`. */
export function formatSpread(spread: number): string {
  return `±${(spread * 100).toFixed(0)} %`;
}

/** A ratio as `0.81×` or `12×`. */
export function formatRatio(ratio: number): string {
  return `${ratio >= 10 ? ratio.toFixed(0) : ratio.toFixed(2)}×`;
}
