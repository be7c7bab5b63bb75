/** Times look-ups. @module */
import { isDeepStrictEqual } from "node:util";
import type { Row, WorkerReport } from "../report.js";
import type { RoutingContender } from "./contender.js";
import { ROUTES, type Lookup } from "./routes.js";

/** Holds the last result, so that no compiler can leave out the work that makes it. */
const sink: { result: unknown } = { result: null };

/** Looks each path up: once to check the result, `warmUp` times untimed, `count` times timed, once more to check. */
export function measureRouter(
  router: RoutingContender,
  lookups: readonly Lookup[],
  count: number,
  warmUp: number,
): WorkerReport {
  const rows: Row[] = [];
  const faults: string[] = [];
  for (const wanted of lookups) {
    const before = faultOf(router, wanted);
    repeat(router.lookup, wanted.path, warmUp);
    const started = performance.now();
    const missed = repeat(router.lookup, wanted.path, count);
    const seconds = (performance.now() - started) / 1_000;
    const fault = before ?? (missed > 0 ? `${wanted.path}: not found ${missed} times` : faultOf(router, wanted));
    if (fault === null) rows.push({ name: wanted.name, figures: { perSecond: count / seconds } });
    else faults.push(fault);
  }
  return { rows, faults };
}

/** Looks up a path many times and returns the number of misses. */
export function repeat(lookup: RoutingContender["lookup"], path: string, count: number): number {
  let missed = 0;
  for (let index = 0; index < count; index++) {
    const result = lookup("GET", path);
    sink.result = result;
    if (result === null || result === undefined) missed++;
  }
  return missed;
}

/** Returns the error of a lookup, in one line, or `null` if it is right. */
export function faultOf({ lookup, read }: RoutingContender, wanted: Lookup): string | null {
  const result = lookup("GET", wanted.path);
  if (result === null || result === undefined) return `${wanted.path}: not found`;
  const { handler, params } = read(result);
  if (handler !== ROUTES.find(({ path }) => path === wanted.route)?.handler) {
    return `${wanted.path}: expected the route ${wanted.route}, found another`;
  }
  if (!isDeepStrictEqual({ ...params }, wanted.params)) {
    return `${wanted.path}: expected ${JSON.stringify(wanted.params)}, got ${JSON.stringify(params)}`;
  }
  return null;
}
