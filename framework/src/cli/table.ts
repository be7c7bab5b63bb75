/** Text in columns. @module */

/** Rows below a head, each column as wide as its widest cell. Control characters of names are shown, not obeyed. */
export function toTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((cells) => cells.map((cell) => visible(cell)));
  const widths = head.map((_, column) => Math.max(...lines.map((cells) => (cells[column] ?? "").length)));
  const [first, ...others] = lines.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  const rule = widths.map((width) => "─".repeat(width)).join("  ");
  return [first, rule, ...others].join("\n");
}

/** A name in the terminal must not move the cursor. */
function visible(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, (char) => JSON.stringify(char).slice(1, -1));
}
