/** The changes against the baseline, as text. @module */
import type { Baseline, Change } from "./baseline.js";
import { formatRatio, formatTable } from "./table.js";

/** A line for each ratio, the worst change first, and a sentence that says what they come to. */
export function changesTable(changes: readonly Change[], { date, node, cores, cpu }: Baseline): string {
  const rows = changes.map(({ name, baseline, ratio, change, verdict }) => [
    name,
    formatRatio(baseline),
    formatRatio(ratio),
    `${change >= 0 ? "+" : "−"}${Math.abs(change * 100).toFixed(1)} %`,
    verdict,
  ]);
  const counts = (["improved", "noise", "regressed"] as const).map(
    (verdict) => `${changes.filter((change) => change.verdict === verdict).length} ${verdict}`,
  );
  return [
    `Ratios against the baseline of ${date} (Node ${node}, ${cores} × ${cpu})`,
    formatTable(["", "baseline", "now", "change", ""], rows),
    `${counts.join(", ")}. Above +2 % is improved, below −5 % is to be investigated, noise is between.`,
  ].join("\n");
}
