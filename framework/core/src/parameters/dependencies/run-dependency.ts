/** Runs one dependency of a request: its cache, its scope and its replacement. @module */
import { configurationError } from "../../common/exceptions.js";
import { errorText } from "../../common/logger.js";
import { stepped } from "../../middleware/observation/observed.js";
import { INVALID } from "../source.js";
import { markHandled } from "../../common/promises.js";
import type { Call } from "./call.js";
import type { Exit } from "./exits.js";
import { functionOf, isTransactional } from "../depends.js";
import { type Transaction, TransactionExit } from "./transaction.js";
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
  const run = dependency.schemes === null ? runDependency : runOptional;
  return { name: dependency.name, run: (call, _last, _args, find) => run(dependency, call, find), reads: null };
}

/** A step that begins a transaction, if the request is valid so far. */
export function transactionalStep(dependency: DependencyStep): Step {
  const { name, run } = dependencyStep(dependency);
  return { name, reads: null, run: (call, ...rest) => (call.hasFaults ? INVALID : run(call, ...rest)) };
}

/** Gives `null`, without calling the dependency, if the request has no credentials for any of its schemes. */
async function runOptional(step: DependencyStep, call: Call, find: FindOverride | null): Promise<unknown> {
  if (find !== null && isReplaced(step, find)) return runDependency(step, call, find);
  let isSent = false;
  for (const scheme of step.schemes ?? []) {
    const args = await makeArguments(scheme.plan, call, null);
    if (args === INVALID) return INVALID;
    isSent = scheme.find(args) || isSent;
  }
  return isSent ? runDependency(step, call, find) : null;
}

/**
 * Tells if an override replaces it, or replaces a scheme that it needs: headers then do not show whether there are
 * credentials.
 */
function isReplaced(step: DependencyStep, find: FindOverride): boolean {
  if (planFor(step, find) !== step.plan) return true;
  return step.plan.dependencies.some((inner) => inner.plan.takesCredentials && isReplaced(inner, find));
}

/**
 * A step after authentication. If the parameters of an authentication are invalid, the dependencies after it only report
 * theirs: the caller is not known.
 */
export function authenticatedStep(authentications: readonly DependencyStep[]): Step {
  return {
    name: null,
    reads: null,
    run: (call, _last, args) => {
      if (authentications.some(({ name }) => !(name in args))) call.isUnauthenticated = true;
    },
  };
}

/**
 * A step that runs dependencies which do not need each other side by side. The error of the first one in the order of the
 * params decides: it is thrown when those before it have settled.
 */
export function parallelStep(dependencies: readonly DependencyStep[]): Step {
  return {
    name: null,
    reads: null,
    run: async (call, _last, args, find) => {
      // An override may be a generator, and generators are entered in a fixed order.
      const results = find ? await runInTurn(dependencies, call, find) : start(dependencies, call);
      let isValid = true;
      for (const [index, result] of results.entries()) {
        let value: unknown;
        try {
          value = result instanceof Promise ? await result : result;
        } catch (error) {
          leaveBehind(dependencies.slice(index + 1), results.slice(index + 1), call);
          throw error;
        }
        if (value === INVALID) isValid = false;
        else args[(dependencies[index] as DependencyStep).name] = value;
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
      const result = runDependency(dependency, call, null);
      started.push(result instanceof Promise ? markHandled(result) : result);
    } catch (error) {
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- what an application throws, as it is
      started.push(markHandled(Promise.reject(error)));
      break;
    }
  }
  return started;
}

/** Lets dependencies run to their end that cannot change the response any more. Their errors are logged at `debug`. */
function leaveBehind(dependencies: readonly DependencyStep[], results: readonly unknown[], call: Call): void {
  for (const [index, { plan }] of dependencies.entries()) {
    const result = results[index];
    if (!(result instanceof Promise)) continue;
    const settled = result.catch((error: unknown) => {
      const name = nameOf(plan);
      const message = `The dependency ${name} failed after another one: ${errorText(error)}`;
      call.settings.logger.debug({ err: error, dependency: name }, message);
    });
    (call.late ??= []).push(settled);
  }
}

async function runInTurn(dependencies: readonly DependencyStep[], call: Call, find: FindOverride): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const dependency of dependencies) results.push(await runDependency(dependency, call, find));
  return results;
}

/** Gives a dependency's result, from the cache where it may. Several who ask at the same time share one call. */
function runDependency(step: DependencyStep, call: Call, findOverride: FindOverride | null): unknown {
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
  if (args === INVALID || call.isUnauthenticated) return INVALID;
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
      if (isTransactional(callable)) return beginTransaction(plan, args, call);
      return adopt(functionOf(callable)(args));
  }
}

async function beginTransaction(plan: DependencyPlan, args: Arguments, call: Call): Promise<unknown> {
  // Registration has refused it where it knows; an override may bring it to any route.
  if (!call.settings.mayHoldTransactions) {
    throw configurationError("TSGI_TRANSACTIONAL_DEPENDENCY.route", nameOf(plan), "a stream or a WebSocket");
  }
  const transaction = await (plan.callable as (args: object) => Promise<Transaction<unknown>>)(args);
  call.addExit({ generator: new TransactionExit(transaction), scope: "transaction", name: nameOf(plan) });
  return transaction.value;
}

function enter(generator: Exit["generator"], plan: DependencyPlan, step: DependencyStep, call: Call): unknown {
  const yielded = (result: IteratorResult<unknown, unknown>): unknown => {
    if (result.done) {
      throw configurationError("TSGI_DEPENDENCY_WITHOUT_YIELD", nameOf(plan));
    }
    call.addExit({ generator, scope: step.scope, name: nameOf(plan) });
    return result.value;
  };
  const first = generator.next();
  return first instanceof Promise ? first.then(yielded) : yielded(first);
}
