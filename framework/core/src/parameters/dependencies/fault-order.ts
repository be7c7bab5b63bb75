/** The order of the validation errors in a 422. @module */
import type { Fault } from "../../common/exceptions.js";
import { SourceMarker } from "../source.js";
import type { FaultOrder } from "./call.js";
import type { CallablePlan, DependencyStep, ParamSpec } from "./plan.js";

const placeOf = (source: string | number | undefined, name: string | number | undefined) => `${source}\n${name}`;

/** The names under which the errors of a parameter can be: its own, and those of the members of an object. */
function namesOf({ name }: ParamSpec, marker: SourceMarker): readonly string[] {
  const { properties = {} } = (marker.schema ?? {}) as { properties?: object };
  const members = Object.keys(properties).map((key) => marker.source.wireName(key));
  return [marker.wireName(name), ...members];
}

/** Adds the parameters of a plan in the order in which they are read without asynchronous schemas. */
function addPlan(ranks: Map<string, number>, { specs, dependencies }: CallablePlan): void {
  const add = (isBody: boolean) => {
    for (const spec of specs) {
      if (!(spec.marker instanceof SourceMarker)) continue;
      const { loc, body, isInPattern } = spec.marker.source;
      // A handler has each name of its pattern, declared or not; as a string it is always valid.
      if ((body !== null) !== isBody || (isInPattern && spec.marker.schema === null)) continue;
      const rank = ranks.size;
      for (const place of [...namesOf(spec, spec.marker).map((name) => placeOf(loc, name)), loc]) {
        if (!ranks.has(place)) ranks.set(place, rank);
      }
    }
  };
  add(false);
  for (const { plan } of dependencies) addPlan(ranks, plan);
  add(true);
}

/** The order of a route's parameters: guards first, then the head, the dependencies, and the body. */
export function faultOrderOf(guards: readonly DependencyStep[], handler: CallablePlan): FaultOrder {
  const ranks = new Map<string, number>();
  for (const { plan } of guards) addPlan(ranks, plan);
  addPlan(ranks, handler);
  return ranks;
}

/**
 * The errors in the order of the parameters, regardless of the order in which asynchronous schemas settle. The order
 * within one parameter does not change, and errors of an override's own parameters are last.
 */
export function sortFaults(faults: readonly Fault[], order: FaultOrder): Fault[] {
  const rankOf = ({ loc: [source, name] }: Fault) =>
    order.get(placeOf(source, name)) ?? order.get(String(source)) ?? Infinity;
  const ranked = faults.map((fault) => ({ fault, rank: rankOf(fault) }));
  return ranked
    .toSorted((left, right) => (left.rank < right.rank ? -1 : Number(left.rank > right.rank)))
    .map(({ fault }) => fault);
}
