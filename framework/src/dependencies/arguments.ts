import type { ReceiveMessage } from "../asgi.js";
import { RequestValidationError } from "../exceptions.js";
import { type Observed, stepped } from "../observation.js";
import { INVALID } from "../params.js";
import type { Call } from "./call.js";
import { sortFaults } from "./fault-order.js";
import { type Arguments, type CallablePlan, type FindOverride, type Named, nameOf, type Step } from "./plan.js";

/** An ordinary object whose map the engine fits to what is stored in it, unlike that of `{}`. */
const ArgumentsObject = function ArgumentsObject() {} as unknown as new () => Arguments;
ArgumentsObject.prototype = Object.prototype as Arguments;

/** The arguments, or `INVALID` where the call has faults instead. */
type Made = Arguments | typeof INVALID;

/**
 * Makes the arguments of a callable, without a promise where no step gives one.
 *
 * Arguments inherit nothing where one is named as what every object inherits: `__proto__` would set the prototype.
 */
export function makeArguments(plan: CallablePlan, call: Call, find: FindOverride | null): Promise<Made> | Made {
  const steps = call.observed === null ? plan.steps : plan.observedSteps;
  if (plan.takesPathParams) return runSteps(steps, 0, call, call.pathParams, find, true, undefined);
  const args = plan.needsNullPrototype ? (Object.create(null) as Arguments) : new ArgumentsObject();
  return runSteps(steps, 0, call, args, find, true, undefined);
}

/** Runs steps one after the other, and goes on behind a promise where a step gives one. */
function runSteps(
  steps: readonly Step[],
  from: number,
  call: Call,
  args: Arguments,
  find: FindOverride | null,
  isValidSoFar: boolean,
  previous: unknown,
): Promise<Made> | Made {
  let isValid = isValidSoFar;
  let last = previous;
  for (let index = from; index < steps.length; index++) {
    const step = steps[index] as Step;
    last = step.run(call, args, find, last);
    if (last instanceof Promise) {
      return last.then((value: unknown) =>
        runSteps(steps, index + 1, call, args, find, store(args, step, value) && isValid, value),
      );
    }
    isValid = store(args, step, last) && isValid;
  }
  return isValid ? args : INVALID;
}

/** Takes the result of a step. `false` for `INVALID`. */
function store(args: Arguments, { name }: Step, value: unknown): boolean {
  if (value === INVALID) return false;
  if (name !== null) args[name] = value;
  return true;
}

/** A promise of the platform's own for anything else that has a `then`. */
export function adopt(value: unknown): unknown {
  if (typeof value !== "object" || value === null || value instanceof Promise) return value;
  return typeof (value as { then?: unknown }).then === "function" ? Promise.resolve(value) : value;
}

/** The error with every fault of the request so far. */
export function validationError(call: Call): RequestValidationError {
  return new RequestValidationError(sortFaults(call.faults.forClient(), call.settings.faultOrder));
}

/**
 * Steps that read parameters, as one step that is observed.
 *
 * @param of - The callable that they are the parameters of.
 */
export function validationStep(of: Named, steps: readonly Step[]): readonly Step[] {
  if (steps.length === 0) return [];
  const run: Step["run"] = (call, args, find) =>
    stepped(
      call.observed as Observed,
      "validation",
      nameOf(of),
      () => runSteps(steps, 0, call, args, find, true, undefined),
      (made) => (made === INVALID ? validationError(call) : undefined),
    );
  return [{ name: null, run }];
}

/** Goes on only without faults. @throws RequestValidationError */
export const assertValid: Step = {
  name: null,
  run: (call) => {
    if (call.hasFaults) throw validationError(call);
  },
};

/** The steps that load a JSON body, for the parameters behind them. */
export const JSON_STEPS: readonly Step[] = [
  { name: null, run: ({ body }) => body.receive() },
  { name: null, run: ({ body }, _args, _find, message) => body.take(message as ReceiveMessage | null) },
];

/** The step that loads a form, for the parameters behind it. */
export const FORM_STEPS: readonly Step[] = [{ name: null, run: ({ body }) => body.loadForm() }];
