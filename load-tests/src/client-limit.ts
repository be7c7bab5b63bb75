/** Tells figures of the client from those of the server. @module */
import type { Figures, Result } from "./rounds.js";

/** From this share of a core on, a process has no time left. */
const BUSY = 0.95;

/** Marks a rate that is the client's. */
export const MARK = "*";

/** The meaning of {@link MARK}. */
export const MARK_NOTE = `${MARK} The client used its core whole and the server did not: the client is the limit.`;

/** True where the client used its core whole and the server did not: the answers a second are then those of the client. */
function isClientLimited({ clientLoad, serverLoad }: Figures): boolean {
  return (clientLoad?.median ?? 0) >= BUSY && (serverLoad?.median ?? 0) < BUSY;
}

/** The mark of a rate, and nothing for another figure. */
export function markOf(figures: Figures, figure: string): string {
  return figure === "perSecond" && isClientLimited(figures) ? MARK : "";
}

/** True where more than half of a percentile may be the lateness of the client instead of the server's. */
function isClientLate(figures: Figures): boolean {
  const isLate = (latency: string, own: string): boolean =>
    (figures[own]?.median ?? 0) > (figures[latency]?.median ?? 0) / 2;
  return isLate("p99Ms", "lateP99Ms") || isLate("p99_9Ms", "lateP99_9Ms");
}

/** Says of a row in which way its client matters. */
export function clientNotes(figures: Figures): string[] {
  return [
    ...(isClientLate(figures) ? ["the client was late"] : []),
    ...(isClientLimited(figures) ? ["the client is the limit"] : []),
  ];
}

/** Lines about a section's client and servers: their shares of a core, and the meaning of the mark where there is one. */
export function clientLines(results: readonly Result[]): string[] {
  const rows = results.flatMap((result) => Object.values(result.rows));
  const client = rangeOf(rows, "clientLoad");
  const server = rangeOf(rows, "serverLoad");
  return [
    ...(client === null
      ? []
      : [`Of a core the client used ${client}${server === null ? "" : `, the server ${server}`}.`]),
    ...(rows.some(isClientLimited) ? [MARK_NOTE] : []),
  ];
}

function rangeOf(rows: readonly Figures[], figure: string): string | null {
  const shares = rows.flatMap((figures) => figures[figure]?.median ?? []).map((share) => Math.round(share * 100));
  return shares.length === 0 ? null : `${Math.min(...shares)} to ${Math.max(...shares)} %`;
}
