/** Look-ups, in slices. @module */
import { loadRouter } from "../routing/contender.js";
import { faultOf, repeat } from "../routing/measure.js";
import { LOOKUPS, ROUTES } from "../routing/routes.js";
import type { SlicedSection } from "./slice-process.js";

/** Checks each look-up. */
export async function prepare(module: string): Promise<SlicedSection> {
  const router = await loadRouter(module, ROUTES);
  return {
    faults: LOOKUPS.flatMap((wanted) => faultOf(router, wanted) ?? []),
    rows: LOOKUPS.map(({ name, path }) => ({
      name,
      repeat(lookups) {
        const missed = repeat(router.lookup, path, lookups);
        if (missed > 0) throw new Error(`${path}: not found ${missed} times.`);
      },
    })),
  };
}
