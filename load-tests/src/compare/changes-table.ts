/** The result of a comparison, as text. @module */
import { formatTable } from "../table.js";
import { percent } from "../machine.js";
import type { Change } from "./sections.js";
import type { Verdict } from "./verdict.js";

const VERDICTS: readonly Verdict[] = ["improved", "noise", "to be investigated", "unclear", "too few launches"];

/** A sentence with the result, and a line for each row, the worst change first. */
export function changesTable(changes: readonly Change[]): string {
  const rows = changes.map(({ name, ratio, low, high, verdict, ratios }) => [
    name,
    percent(ratio - 1),
    `${percent(low - 1)} to ${percent(high - 1)}`,
    String(ratios.length),
    verdict === "unclear" && high - low > 0.04 ? "unclear: too wide" : verdict,
  ]);
  const counts = VERDICTS.map((verdict) => [verdict, changes.filter((change) => change.verdict === verdict).length])
    .filter(([, count]) => count !== 0)
    .map(([verdict, count]) => `${count} ${verdict}`);
  return [
    `${counts.join(", ")}.`,
    "",
    formatTable(["per second of processor time", "change", "95 % interval", "launches", ""], rows),
    "",
    "A verdict applies to the whole interval: above +2 % improved, below −5 % to be investigated, noise between.",
  ].join("\n");
}
