/** Tells figures of the client from those of the server. @module */
import type { Figures, Result } from "./rounds.js";

/** From this share of a core on, a process has no time left. */
const BUSY = 0.95;

/** Marks a rate that is the client's. */
const MARK = "*";

/** The meaning of the mark. */
export const MARK_NOTE = `${MARK} Limited by the load generator: its core was fully used, the server's was not.`;

/** True where the client used its core whole and the server did not: the answers a second are then those of the client. */
function isClientLimited({ clientLoad, serverLoad }: Figures): boolean {
  return (clientLoad?.median ?? 0) >= BUSY && (serverLoad?.median ?? 0) < BUSY;
}

/** The mark of a rate, and nothing for another figure. */
export function markOf(figures: Figures, figure: string): string {
  return figure === "perSecond" && isClientLimited(figures) ? MARK : "";
}

/** A line with the shares of a core that a section's client and servers used; none where that is unknown. */
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
