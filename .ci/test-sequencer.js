import { readFileSync } from "node:fs";
import path from "node:path";
import Sequencer from "@jest/test-sequencer";

/** Test files that take long, in the order of starting. */
const LONGEST = JSON.parse(readFileSync(path.join(import.meta.dirname, "longest-tests.json"), "utf8"));

/**
 * Starts the longest test files first, so that all workers end at about the same time. Jest orders files by the times of
 * earlier runs, and in a clean clone by their size.
 */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    // oxlint-disable-next-line unicorn/no-array-sort -- the method of this class
    const sorted = super.sort(tests);
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted;
    const place = ({ path: file }) => {
      const index = LONGEST.findIndex((name) => file.endsWith(`/${name}`));
      return index < 0 ? LONGEST.length : index;
    };
    return sorted.toSorted((one, other) => place(one) - place(other));
  }
}
