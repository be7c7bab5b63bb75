import { readFileSync } from "node:fs";
import path from "node:path";
import Sequencer from "@jest/test-sequencer";

/** The test files that need most processor time, in this order. */
const LONGEST = JSON.parse(readFileSync(path.join(import.meta.dirname, "longest-tests.json"), "utf8"));

/**
 * Starts the longest test files first, so that no worker is left with one while the others have ended. Jest knows the
 * times of earlier runs; a clean clone has none, and Jest would sort by the size of the files.
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
