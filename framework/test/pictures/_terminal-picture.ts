/** Pictures of terminals: SVG files without external parts, that look the same with every font. */
import type { Recording } from "./_terminals.js";

/** A terminal is as wide as its longest line, within these limits: the narrower, the larger it is shown. */
const MIN_COLUMNS = 60;
const MAX_COLUMNS = 84;
const CELL = { width: 7.5, height: 18 };
const MARGIN = 16;
const BAR = 32;

const escape = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** Breaks lines where a terminal of the largest width breaks them. */
function wrap(text: string): string[] {
  return text
    .split("\n")
    .flatMap((line) => (line === "" ? [""] : (line.match(new RegExp(`.{1,${MAX_COLUMNS}}`, "gu")) ?? [])));
}

/** Draws a terminal. A line takes one cell for each character in every font. */
export function drawTerminal({ title, text }: Recording): string {
  const lines = wrap(text);
  const columns = Math.max(MIN_COLUMNS, ...lines.map((line) => line.length));
  const width = columns * CELL.width + 2 * MARGIN;
  const height = BAR + lines.length * CELL.height + MARGIN;
  const drawn = lines.flatMap((line, index) => {
    if (line.trim() === "") return [];
    const kind = line.startsWith("$ ") ? ' class="typed"' : line.startsWith("# ") ? ' class="aside"' : "";
    const indent = line.length - line.trimStart().length;
    const shown = line.trim();
    const x = MARGIN + indent * CELL.width;
    const y = BAR + (index + 0.8) * CELL.height;
    return [
      `<text${kind} x="${x}" y="${y.toFixed(1)}" textLength="${shown.length * CELL.width}">${escape(shown)}</text>`,
    ];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img" aria-label="A terminal: ${escape(title)}">
<style>svg { font: 12.5px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace } text { fill: #d7dce3; white-space: pre } .typed { fill: #fff; font-weight: 600 } .aside { fill: #7fb38a; font-style: italic } .title { fill: #98a2b0 }</style>
<rect width="100%" height="100%" rx="8" fill="#161a20"/>
<circle cx="18" cy="16" r="5" fill="#4a525e"/><circle cx="36" cy="16" r="5" fill="#4a525e"/><circle cx="54" cy="16" r="5" fill="#4a525e"/>
<text class="title" x="50%" y="20" text-anchor="middle">${escape(title)}</text>
${drawn.join("\n")}
</svg>
`;
}
