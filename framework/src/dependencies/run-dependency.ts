import { configurationError } from "../exceptions.js";
import { stepped } from "../observation.js";
import { INVALID } from "../params.js";
import type { Call } from "./call.js";
import type { Exit } from "./exits.js";
import { adopt, makeArguments } from "./arguments.js";
import {
  type Arguments,
  type DependencyPlan,
  type DependencyStep,
  EMPTY,
  type FindOverride,
  nameOf,
  planFor,
  type Step,
} from "./plan.js";

/** A step that makes one argument of a dependency's result. */
export function dependencyStep(dependency: DependencyStep): Step {
  return { name: dependency.name, run: (call, _args, find) => runDependency(dependency, call, find) };
}

/**
 * A step that runs dependencies which do not need each other side by side. All that were started are awaited before an
 * error goes on, the first in the order of the params.
 */
export function parallelStep(dependencies: readonly DependencyStep[]): Step {
  return {
    name: null,
    run: async (call, args, find) => {
      // An override may be a generator, and generators are entered in a fixed order.
      const outcomes = find
        ? await runInTurn(dependencies, call, find)
        : await Promise.allSettled(start(dependencies, call));
      let isValid = true;
      for (const [index, outcome] of outcomes.entries()) {
        if (outcome.status === "rejected") throw outcome.reason;
        if (outcome.value === INVALID) isValid = false;
        else args[(dependencies[index] as DependencyStep).name] = outcome.value;
      }
      return isValid ? undefined : INVALID;
    },
  };
}

/** Starts dependencies, up to one that fails at once. */
function start(dependencies: readonly DependencyStep[], call: Call): unknown[] {
  const started: unknown[] = [];
  for (const dependency of dependencies) {
    try {
      started.push(runDependency(dependency, call, null));
    } catch (error) {
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- what an application throws, as it is
      started.push(Promise.reject(error));
      break;
    }
  }
  return started;
}

async function runInTurn(dependencies: readonly DependencyStep[], call: Call, findOverride: FindOverride) {
  const outcomes: PromiseSettledResult<unknown>[] = [];
  for (const dependency of dependencies) {
    outcomes.push({ status: "fulfilled", value: await runDependency(dependency, call, findOverride) });
  }
  return outcomes;
}

/** Gives a dependency's result, from the cache where it may. Several who ask at the same time share one call. */
export function runDependency(step: DependencyStep, call: Call, findOverride: FindOverride | null): unknown {
  const { slot } = step;
  if (slot !== null) {
    const isFilled = findOverride === null && slot.value !== EMPTY;
    return isFilled ? slot.value : step.application?.read(step, call, findOverride);
  }
  if (!step.useCache) return startDependency(step, call, findOverride);
  const cache = (call.cache ??= new Map());
  if (cache.has(step.cacheKey)) return cache.get(step.cacheKey);
  const result = startDependency(step, call, findOverride);
  cache.set(step.cacheKey, result);
  if (result instanceof Promise) {
    result.then(
      (value) => cache.set(step.cacheKey, value),
      () => {
        // The callers that await the shared promise get the error.
      },
    );
  }
  return result;
}

function startDependency(step: DependencyStep, call: Call, findOverride: FindOverride | null): unknown {
  const plan = planFor(step, findOverride);
  const made = makeArguments(plan, call, findOverride);
  return made instanceof Promise ? made.then((args) => invoke(plan, step, args, call)) : invoke(plan, step, made, call);
}

function invoke(plan: DependencyPlan, step: DependencyStep, args: Arguments | typeof INVALID, call: Call): unknown {
  if (args === INVALID) return INVALID;
  if (call.observed === null) return callDependency(plan, step, args, call);
  return stepped(call.observed, "dependency", nameOf(plan), () => callDependency(plan, step, args, call));
}

function callDependency(plan: DependencyPlan, step: DependencyStep, args: Arguments, call: Call): unknown {
  const { callable } = plan;
  switch (plan.shape) {
    case "class":
      return Reflect.construct(callable, [args]);
    case "generator":
      return enter((callable as (args: object) => Exit["generator"])(args), plan, step, call);
    default:
      return adopt((callable as (args: object) => unknown)(args));
  }
}

function enter(generator: Exit["generator"], plan: DependencyPlan, step: DependencyStep, call: Call): unknown {
  const yielded = (result: IteratorResult<unknown, unknown>): unknown => {
    if (result.done) {
      throw configurationError("TSGI_DEPENDENCY_WITHOUT_YIELD", nameOf(plan));
    }
    (call.exits ??= []).push({ generator, scope: step.scope, name: nameOf(plan) });
    return result.value;
  };
  const first = generator.next();
  return first instanceof Promise ? first.then(yielded) : yielded(first);
}
