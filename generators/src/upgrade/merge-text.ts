import { diff3Merge } from "node-diff3";

/** The result of a three-way merge. */
export interface Merged<Value> {
  value: Value;
  /** One line for each conflict; empty after a clean merge. */
  conflicts: string[];
}

/**
 * Merges two versions of a text by lines. A conflict has both, between Git's markers, ours first.
 *
 * @param label the name of theirs after the closing marker
 */
export function mergeText(ours: string, base: string, theirs: string, label: string): Merged<string> {
  const conflicts: string[] = [];
  const lines = (text: string) => text.split("\n");
  const regions = diff3Merge(lines(ours), lines(base), lines(theirs), { excludeFalseConflicts: true });
  const merged = regions.flatMap((region) => {
    if (region.conflict === undefined) {
      return region.ok ?? [];
    }
    const { a, b, aIndex } = region.conflict;
    conflicts.push(`line ${aIndex + 1}`);
    return ["<<<<<<< yours", ...a, "=======", ...b, `>>>>>>> ${label}`];
  });
  return { value: merged.join("\n"), conflicts };
}
