/** Text in columns. @module */

/** Columns that a cell keeps when the table does not fit. */
const MIN_WIDTH = 12;

const GAP = "  ";

/**
 * Rows below a head, each column as wide as its widest cell. If that is more than `width`, the widest columns become
 * narrower and their cells take several lines. Control characters of names are shown, not obeyed.
 */
export function toTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => visible(cell)));
  const natural = head.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? "").length)));
  const widths = fit(natural, width - GAP.length * (head.length - 1));
  const [first, ...others] = cells.map((row) => toLines(row, widths));
  const rule = widths.map((columns) => "─".repeat(columns)).join(GAP);
  return [first, rule, ...others].join("\n");
}

/** Takes from the widest column until the sum fits, or no column can give any more. */
function fit(natural: readonly number[], width: number): number[] {
  const widths = [...natural];
  for (let excess = widths.reduce((sum, one) => sum + one, 0) - width; excess > 0; excess -= 1) {
    const widest = Math.max(...widths);
    if (widest <= MIN_WIDTH) break;
    widths[widths.lastIndexOf(widest)] = widest - 1;
  }
  return widths;
}

function toLines(row: readonly string[], widths: readonly number[]): string {
  const columns = row.map((cell, column) => wrap(cell, widths[column] ?? cell.length));
  const height = Math.max(...columns.map(({ length }) => length));
  return Array.from({ length: height }, (_, line) =>
    columns
      .map((lines, column) => (lines[line] ?? "").padEnd(widths[column] ?? 0))
      .join(GAP)
      .trimEnd(),
  ).join("\n");
}

/** Breaks a text at its spaces, and a word that is too long at the end of the line. */
function wrap(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1) ?? "";
    const joined = last === "" ? word : `${last} ${word}`;
    if (joined.length <= width) lines[lines.length - 1] = joined;
    else lines.push(...(word.match(new RegExp(`.{1,${width}}`, "gsu")) ?? []));
  }
  return lines[0] === "" && lines.length > 1 ? lines.slice(1) : lines;
}

/** A name in the terminal must not move the cursor. */
function visible(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, (char) => JSON.stringify(char).slice(1, -1));
}
