/** Look-ups, in slices. @module */
import { createRouter } from "../routing/contenders/tsgi.js";
import { faultOf, repeat } from "../routing/measure.js";
import { LOOKUPS, ROUTES } from "../routing/routes.js";
import type { SlicedSection } from "./slice-process.js";

/** Checks each look-up. */
export function prepare(): SlicedSection {
  const router = createRouter(ROUTES);
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
