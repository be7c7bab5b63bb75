/** Detects results that the client limits. @module */
import type { Figures, Result } from "./rounds.js";

/** From this share of a core on, a process has no time left. */
const BUSY = 0.95;

/** Marks a rate that is the client's. */
const MARK = "*";

/** The meaning of the mark. */
export const MARK_NOTE = `${MARK} Limited by the load generator: its core was fully used, the server's was not.`;

/** True if the client used its core fully and the server did not: the rate is then the client's. */
function isClientLimited({ clientLoad, serverLoad }: Figures): boolean {
  return (clientLoad?.median ?? 0) >= BUSY && (serverLoad?.median ?? 0) < BUSY;
}

/** The mark of a rate; empty for another number. */
export function markOf(figures: Figures, figure: string): string {
  return figure === "perSecond" && isClientLimited(figures) ? MARK : "";
}

/** A line with the shares of a core that a section's client and servers used; empty if unknown. */
export function clientLines(results: readonly Result[]): string[] {
  const rows = results.flatMap((result) => Object.values(result.rows));
  const client = rangeOf(rows, "clientLoad");
  const server = rangeOf(rows, "serverLoad");
  return client === null
    ? []
    : [`Of a core the client used ${client}${server === null ? "" : `, the server ${server}`}.`];
}

function rangeOf(rows: readonly Figures[], figure: string): string | null {
  const shares = rows.flatMap((figures) => figures[figure]?.median ?? []).map((share) => Math.round(share * 100));
  return shares.length === 0 ? null : `${Math.min(...shares)} to ${Math.max(...shares)} %`;
}
