/** Runs the steps that make the arguments of a handler or a dependency. @module */
import { RequestValidationError, type Fault } from "../../common/exceptions.js";
import { type Observed, stepped } from "../../middleware/observation/observed.js";
import { INVALID, SourceMarker } from "../source.js";
import type { Call, FaultOrder } from "./call.js";
import {
  type Arguments,
  type CallablePlan,
  type FindOverride,
  type Named,
  nameOf,
  type Step,
  type DependencyStep,
  type ParamSpec,
} from "./plan.js";

/** The arguments, or `INVALID` if the call has errors. */
type Made = Arguments | typeof INVALID;

/** Steps that are under way for one callable. */
interface Progress {
  readonly steps: readonly Step[];
  /** The number of steps that have begun. */
  readonly begun: number;
  /** The argument that the last of them creates, or `null`. */
  readonly name: string | null;
  /** The callable whose reads are told to observers, or `null`. */
  readonly told: Named | null;
  readonly call: Call;
  readonly args: Arguments;
  readonly find: FindOverride | null;
  /** `false` after a step with errors. */
  readonly isValid: boolean;
}

/**
 * Creates the arguments of a callable, without a promise if no step returns one.
 *
 * Arguments have no prototype if one has the name of an inherited member: `__proto__` would set the prototype.
 */
export function makeArguments(plan: CallablePlan, call: Call, find: FindOverride | null): Promise<Made> | Made {
  const { steps } = plan;
  const args = plan.needsNullPrototype ? (Object.create(null) as Arguments) : {};
  for (const name of plan.pathTexts) args[name] = call.scope.path_params?.[name];
  if (steps.length === 0) return args;
  const told = call.observed !== null && plan.tellsReads ? plan : null;
  return goOn({ steps, begun: 0, name: null, told, call, args, find, isValid: true }, undefined);
}

/**
 * Stores the result of the last started step, and runs the next ones; continues after a promise if a step returns one.
 *
 * @param result - Of the last step; `undefined` if no step has started.
 */
function goOn(progress: Progress, result: unknown): Promise<Made> | Made {
  const { steps, told, call, args, find } = progress;
  let { begun, name, isValid } = progress;
  let last = result;
  for (;;) {
    if (last === INVALID) isValid = false;
    else if (name !== null) args[name] = last;
    const step = steps[begun];
    if (step === undefined) return isValid ? args : INVALID;
    if (told !== null && step.reads !== null) {
      const group = readsAt(steps, begun);
      begun += group.length;
      name = null;
      last = tell(told, group, progress);
    } else {
      begun++;
      name = step.name;
      last = step.run(call, last, args, find);
    }
    if (last instanceof Promise) {
      const rest = { steps, begun, name, told, call, args, find, isValid };
      return last.then((settled: unknown) => goOn(rest, settled));
    }
  }
}

/** A promise of the platform's own for anything else that has a `then`. */
export function adopt(value: unknown): unknown {
  if (typeof value !== "object" || value === null || value instanceof Promise) return value;
  return typeof (value as { then?: unknown }).then === "function" ? Promise.resolve(value) : value;
}

/** The error with all validation errors of the request so far. */
export function validationError(call: Call): RequestValidationError {
  return new RequestValidationError(sortFaults(call.faults.forClient(), call.settings.faultOrder));
}

/** The adjacent steps from this one on that read the same part of the request. */
function readsAt(steps: readonly Step[], begin: number): readonly Step[] {
  let end = begin + 1;
  while (steps[end]?.reads === steps[begin]?.reads) end++;
  return steps.slice(begin, end);
}

/** Runs steps that read parameters, as one step of an observed request. */
function tell(of: Named, steps: readonly Step[], { call, args, find }: Progress): unknown {
  return stepped(
    call.observed as Observed,
    "validation",
    nameOf(of),
    () => goOn({ steps, begun: 0, name: null, told: null, call, args, find, isValid: true }, undefined),
    (made) => (made === INVALID ? validationError(call) : undefined),
  );
}

/** Continues only without errors. @throws RequestValidationError */
export const assertValid: Step = {
  name: null,
  reads: null,
  run: (call) => {
    if (call.hasFaults) throw validationError(call);
  },
};

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
function sortFaults(faults: readonly Fault[], order: FaultOrder): Fault[] {
  const rankOf = ({ loc: [source, name] }: Fault) =>
    order.get(placeOf(source, name)) ?? order.get(String(source)) ?? Infinity;
  const ranked = faults.map((fault) => ({ fault, rank: rankOf(fault) }));
  return ranked
    .toSorted((left, right) => (left.rank < right.rank ? -1 : Number(left.rank > right.rank)))
    .map(({ fault }) => fault);
}
