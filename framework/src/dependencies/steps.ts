import { RequestValidationError } from "../exceptions.js";
import { INVALID } from "../params.js";
import type { Call } from "./call.js";
import { sortFaults } from "./fault-order.js";
import { type CallablePlan, type FindOverride, Frame, type Step } from "./plan.js";

/** An ordinary object whose map the engine fits to what is stored in it, unlike that of `{}`. */
const ArgumentsObject = function ArgumentsObject() {} as unknown as new () => Record<string, unknown>;
ArgumentsObject.prototype = Object.prototype as Record<string, unknown>;

/** Arguments inherit nothing where one is named as what every object inherits: `__proto__` would set the prototype. */
export function createFrame(
  { needsNullPrototype, takesPathParams }: CallablePlan,
  { pathParams }: Call,
  findOverride: FindOverride | null,
): Frame {
  if (takesPathParams) return new Frame(pathParams, findOverride);
  const args = needsNullPrototype ? (Object.create(null) as Record<string, unknown>) : new ArgumentsObject();
  return new Frame(args, findOverride);
}

/** What becomes of an error of a step. */
export type StepErrorHandler = (error: unknown) => Promise<void> | void;

/**
 * Runs steps one after the other. Without a promise where no step gives one.
 *
 * @param onError - Called once the steps have gone on behind a promise; before that an error is thrown.
 */
export function runSteps(
  steps: readonly Step[],
  call: Call,
  frame: Frame,
  onError: StepErrorHandler = rethrow,
): Promise<void> | void {
  for (let index = 0; index < steps.length; index++) {
    const step = steps[index] as Step;
    const value = step.run(call, frame);
    if (value instanceof Promise) return continueSteps(steps, index, call, frame, value, onError);
    store(frame, step, value);
  }
}

function rethrow(error: unknown): never {
  throw error;
}

async function continueSteps(
  steps: readonly Step[],
  from: number,
  call: Call,
  frame: Frame,
  pending: Promise<unknown>,
  onError: StepErrorHandler,
): Promise<void> {
  try {
    store(frame, steps[from] as Step, await pending);
    for (let index = from + 1; index < steps.length; index++) {
      const step = steps[index] as Step;
      const value = step.run(call, frame);
      store(frame, step, value instanceof Promise ? await value : value);
    }
  } catch (error) {
    await onError(error);
  }
}

function store(frame: Frame, { name }: Step, value: unknown): void {
  if (value === INVALID) frame.isInvalid = true;
  else if (name === null) frame.result = value;
  else frame.args[name] = value;
}

/** A promise of the platform's own for anything else that has a `then`. */
export function adopt(value: unknown): unknown {
  if (typeof value !== "object" || value === null || value instanceof Promise) return value;
  return typeof (value as { then?: unknown }).then === "function" ? Promise.resolve(value) : value;
}

/** Goes on only without faults. @throws RequestValidationError with every fault of the request so far. */
export const assertValid: Step = {
  name: null,
  run: (call, frame) => {
    if (frame.isInvalid)
      throw new RequestValidationError(sortFaults(call.faults.forClient(), call.settings.faultOrder));
  },
};
