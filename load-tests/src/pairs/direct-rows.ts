/** Direct calls, in slices. @module */
import { createCaller } from "../direct/caller.js";
import { loadContender } from "../direct/contender.js";
import { proofFaults, warmUp } from "../direct/measure.js";
import { EXAMPLES } from "../examples.js";
import type { SlicedRow, SlicedSection } from "./slice-process.js";

/** Untimed requests, each response checked completely. */
const CHECKED = 500;

/** Checks each route and the validation of bodies. */
export async function prepare(module: string): Promise<SlicedSection> {
  const contender = await loadContender(module);
  const faults = await proofFaults(contender);
  const rows: SlicedRow[] = [];
  for (const example of EXAMPLES) {
    const caller = createCaller(contender, example);
    const right = await warmUp(caller, example, CHECKED);
    if (typeof right === "string") {
      faults.push(right);
      continue;
    }
    const repeat = async (requests: number): Promise<void> => {
      const wrong = await caller.repeat(requests, right);
      if (wrong > 0) throw new Error(`${example.name}: ${wrong} of ${requests} responses were wrong.`);
    };
    rows.push({ name: example.name, repeat });
  }
  return { rows, faults };
}
