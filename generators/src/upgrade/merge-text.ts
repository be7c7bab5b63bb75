import { diff3Merge } from "node-diff3";

/** What came of a merge of three. */
export interface Merged<Value> {
  value: Value;
  /** Where both have changed the same in different ways: one line each, for a person; empty when it went through. */
  conflicts: string[];
}

/**
 * Merges what two sides have made of one text, line by line. Where they disagree both stay, between the marks that Git
 * uses and editors know; ours come first.
 *
 * @param label what theirs is called behind the closing mark
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
