import { configurationError, RequestValidationError } from "../exceptions.js";
import { type Callable, paramsOf } from "../params.js";
import type { Call } from "./call.js";
import type { Exit } from "./exits.js";
import { sortFaults } from "./fault-order.js";
import type { CallablePlan, DependencyPlan, DependencyStep, ReadStep, RoutePlan } from "./plan.js";

/** What a callable is called with. */
export type Arguments = Record<string, unknown>;

/** An ordinary object whose map the engine fits to what is stored in it, unlike that of `{}`. */
const ArgumentsObject = function ArgumentsObject() {} as unknown as new () => Arguments;
ArgumentsObject.prototype = Object.prototype as Arguments;

/** Inherit nothing where one is named as what every object inherits: `__proto__` would set the prototype. */
function createArguments({ isBare }: CallablePlan): Arguments {
  return isBare ? (Object.create(null) as Arguments) : new ArgumentsObject();
}

/** Stands for arguments, or for a result, that could not be made because of faults, which the call has. */
export const FAULTY = Symbol("faulty");

/** Arguments, or the sign that they could not be made. */
export type Solved = Arguments | typeof FAULTY;

export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/** Makes the arguments of a route's handler: first the guards, one after the other, then what the handler asks for. */
export function solveRoute(plan: RoutePlan, call: Call): Solved | Promise<Solved> {
  return plan.guards.length > 0 ? solveGuarded(plan, call) : solve(plan.handler, call);
}

async function solveGuarded(plan: RoutePlan, call: Call): Promise<Solved> {
  for (const guard of plan.guards) {
    const result = runDependency(guard, call);
    if ((isPromiseLike(result) ? await result : result) === FAULTY || call.faults.count > 0) return FAULTY;
  }
  return solve(plan.handler, call);
}

/** The arguments, when they could be made. @throws RequestValidationError with every fault of the request. */
export function acceptArguments(solved: Solved, call: Call): Arguments {
  if (solved === FAULTY || call.faults.count > 0) {
    throw new RequestValidationError(sortFaults(call.faults.forClient(), call.settings.faultOrder));
  }
  return solved;
}

/** Makes the arguments of one callable; without a promise where nothing needs one. */
function solve(plan: CallablePlan, call: Call): Solved | Promise<Solved> {
  const args = createArguments(plan);
  const before = call.faults.count;
  let pending: Promise<void>[] | null = null;
  try {
    for (const { name, read } of plan.now) {
      const value = read(call);
      if (value instanceof Promise) (pending ??= []).push(value.then((settled) => void (args[name] = settled)));
      else args[name] = value;
    }
  } catch (error) {
    // What has started is awaited: a rejection that nobody awaits ends the process.
    if (pending) return rethrowAfter(pending, error);
    throw error;
  }
  if (pending === null && plan.dependencies.length === 0 && plan.late.length === 0) {
    return call.faults.count === before ? args : FAULTY;
  }
  return solveRest(plan, call, args, before, pending);
}

/** The arguments that do not wait for the body. A promise where one of their schemas checks asynchronously. */
export function readEarly(plan: CallablePlan, call: Call): Arguments | Promise<Arguments> {
  const args = createArguments(plan);
  const pending = readSteps(plan.now, call, args);
  return pending === null ? args : pending.then(() => args);
}

/** Adds the arguments that are read from the body, once it is loaded. A promise where one of them takes time. */
export function readLate(plan: CallablePlan, call: Call, args: Arguments): Promise<void> | null {
  return readSteps(plan.late, call, args);
}

function readSteps(steps: readonly ReadStep[], call: Call, args: Arguments): Promise<void> | null {
  for (let index = 0; index < steps.length; index++) {
    const { name, read } = steps[index] as ReadStep;
    const value = read(call);
    if (value instanceof Promise) return readStepsAfter(value, steps, index, call, args);
    args[name] = value;
  }
  return null;
}

async function readStepsAfter(
  pending: Promise<unknown>,
  steps: readonly ReadStep[],
  index: number,
  call: Call,
  args: Arguments,
): Promise<void> {
  args[(steps[index] as ReadStep).name] = await pending;
  const rest = readSteps(steps.slice(index + 1), call, args);
  if (rest !== null) await rest;
}

async function rethrowAfter(pending: readonly Promise<void>[], error: unknown): Promise<never> {
  await Promise.allSettled(pending);
  throw error;
}

async function solveRest(
  plan: CallablePlan,
  call: Call,
  args: Arguments,
  before: number,
  pending: Promise<void>[] | null,
): Promise<Solved> {
  if (pending) await Promise.all(pending);
  const faulty = plan.dependencies.length > 0 && (await solveDependencies(plan.dependencies, call, args));
  if (plan.lateSource !== null) {
    await call.load(plan.lateSource);
    for (const { name, read } of plan.late) {
      const value = read(call);
      args[name] = value instanceof Promise ? await value : value;
    }
  }
  return faulty || call.faults.count > before ? FAULTY : args;
}

/**
 * Runs dependencies that do not need each other. Those without generators overlap; all that were started are awaited
 * before an error goes on, the first in the order of the params. Gives whether one could not be called for faults.
 */
async function solveDependencies(steps: readonly DependencyStep[], call: Call, args: Arguments): Promise<boolean> {
  const errors: { index: number; error: unknown }[] = [];
  const pending: PromiseLike<void>[] = [];
  let faulty = false;
  const keep = (name: string, value: unknown) => {
    if (value === FAULTY) faulty = true;
    else args[name] = value;
  };
  for (const [index, step] of steps.entries()) {
    if (errors.length > 0) break;
    try {
      const result = runDependency(step, call);
      if (!isPromiseLike(result)) keep(step.name, result);
      else if (step.plan.hasGenerator || call.findOverride) keep(step.name, await result);
      else {
        pending.push(
          result.then(
            (value) => keep(step.name, value),
            (error: unknown) => void errors.push({ index, error }),
          ),
        );
      }
    } catch (error) {
      errors.push({ index, error });
    }
  }
  await Promise.all(pending);
  if (errors.length > 0) throw errors.toSorted((left, right) => left.index - right.index)[0]?.error;
  return faulty;
}

/** Gives a dependency's result, from the cache where it may. Several who ask at the same time share one call. */
function runDependency(step: DependencyStep, call: Call): unknown {
  if (!step.useCache) return startDependency(step, call);
  const cache = (call.cache ??= new Map());
  if (cache.has(step.cacheKey)) return cache.get(step.cacheKey);
  const result = startDependency(step, call);
  cache.set(step.cacheKey, result);
  if (isPromiseLike(result)) {
    result.then(
      (value) => cache.set(step.cacheKey, value),
      () => {
        // Whoever awaits the shared promise gets the error.
      },
    );
  }
  return result;
}

function startDependency(step: DependencyStep, call: Call): unknown {
  const plan = call.findOverride && !step.isOriginal ? call.findOverride(step) : step.plan;
  const solved = solve(plan, call);
  return solved instanceof Promise
    ? solved.then((args) => invoke(plan, step, args, call))
    : invoke(plan, step, solved, call);
}

function invoke(plan: DependencyPlan, step: DependencyStep, args: Solved, call: Call): unknown {
  if (args === FAULTY) return FAULTY;
  const { callable } = plan;
  switch (plan.shape) {
    case "class":
      return Reflect.construct(callable, [args]);
    case "generator":
      return enter((callable as (args: Arguments) => Exit["generator"])(args), plan, step, call);
    default:
      return (callable as (args: Arguments) => unknown)(args);
  }
}

function enter(generator: Exit["generator"], plan: DependencyPlan, step: DependencyStep, call: Call): unknown {
  const yielded = (result: IteratorResult<unknown, unknown>): unknown => {
    if (result.done) {
      throw configurationError("TSGI_DEPENDENCY_WITHOUT_YIELD", plan.name);
    }
    (call.exits ??= []).push({ generator, scope: step.scope, name: plan.name });
    return result.value;
  };
  const first = generator.next();
  return first instanceof Promise ? first.then(yielded) : yielded(first);
}

/** What a callable is called in messages: an arrow function inside `withParams` has no name, but it has params. */
export function nameOf(callable: Callable): string {
  if (callable.name !== "") return callable.name;
  const params = paramsOf(callable);
  return params ? `({ ${Object.keys(params).join(", ")} }) => …` : "(anonymous)";
}
