/** A job as it was defined: its rules, the check of its payload, and its function. @module */
import type { Callable, Params, Schema } from "tsgi";
import { assertOptions, type CarriedContext, isRecord, type Work, withPlace, type WorkScope } from "tsgi/internals";
import { jobsError } from "./errors.js";
import { DEFAULT_CONCURRENCY, DEFAULT_RULES, JOB_OPTIONS, type JobOptions, type Rules } from "./options.js";
import { Payload } from "./payload.js";
import { RetryJobError } from "./run-errors.js";

/** A job as it is stored: the payload, with the rules of the time when it was enqueued. */
export interface Envelope extends Rules {
  readonly payload?: unknown;
  /** The runs that have failed. */
  readonly failures: number;
  /** The trace of the request that enqueued it. */
  readonly trace?: CarriedContext;
}

/**
 * Reads a job that any program may have written: missing fields have their defaults, so that the payload is checked like
 * any other. Attack: an error here would end each worker that takes the job.
 */
export function readEnvelope(stored: unknown): Envelope {
  const given = isRecord(stored) ? stored : {};
  const numberAt = (name: string, otherwise: number) => {
    const value = given[name];
    return typeof value === "number" ? value : otherwise;
  };
  const { trace, ...others } = given;
  return {
    ...others,
    failures: numberAt("failures", 0),
    attempts: numberAt("attempts", DEFAULT_RULES.attempts),
    backoffSeconds: numberAt("backoffSeconds", DEFAULT_RULES.backoffSeconds),
    timeoutSeconds: numberAt("timeoutSeconds", DEFAULT_RULES.timeoutSeconds),
    ...(isCarried(trace) ? { trace } : {}),
  };
}

function isCarried(trace: unknown): trace is CarriedContext {
  return isRecord(trace) && Object.values(trace).every((value) => typeof value === "string");
}

/** The names of the arguments that every handler gets. */
const GIVEN = ["payload", "attempt"] as const;

/** pg-boss puts the name into SQL. */
const NAME = /^[\w.\-/]{1,200}$/;

/** @throws ConfigurationError for the name of a job, an event or a schedule that pg-boss would reject. */
export function assertName(name: unknown): asserts name is string {
  if (typeof name !== "string" || !NAME.test(name)) throw jobsError("TSGI_INVALID_JOB_NAME", name);
}

/** The options of a job whose types do not matter any more. */
export type AnyJobOptions = Omit<JobOptions<Schema | undefined, Params>, "params"> & { params?: Params };

/** A defined job. */
export class Definition {
  readonly name: string;
  readonly rules: Rules;
  readonly concurrency: number;
  readonly payload: Payload;
  /** The event that it subscribes to; `null` for a job that is enqueued by its name. */
  readonly event: string | null;
  readonly #work: Work;

  /** @throws ConfigurationError for an option or a parameter that cannot work. */
  constructor(
    name: string,
    options: AnyJobOptions,
    handler: unknown,
    { scope, event = null }: { readonly scope: WorkScope; readonly event?: string | null },
  ) {
    const place = `The job ${JSON.stringify(name)}`;
    assertOptions(place, options, JOB_OPTIONS);
    if (typeof handler !== "function") throw jobsError("TSGI_JOB_NOT_CALLABLE", name, handler);
    const { payload, params = {}, concurrency = DEFAULT_CONCURRENCY, ...rules } = options;
    const taken = GIVEN.find((one) => Object.hasOwn(params, one));
    if (taken !== undefined) throw jobsError("TSGI_JOB_PARAMETER_NAME", name, taken);
    this.name = name;
    this.event = event;
    this.concurrency = concurrency;
    this.rules = {
      attempts: rules.attempts ?? DEFAULT_RULES.attempts,
      backoffSeconds: rules.backoffSeconds ?? DEFAULT_RULES.backoffSeconds,
      timeoutSeconds: rules.timeoutSeconds ?? DEFAULT_RULES.timeoutSeconds,
    };
    this.payload = withPlace(place, () => new Payload("job", name, payload));
    const work = withPlace(place, () => scope.add(handler as Callable, params, name));
    if (work.misplaced) throw jobsError("TSGI_JOB_PARAMETER", name, ...work.misplaced);
    this.#work = work;
  }

  /** Calls the handler with its dependencies. */
  run(payload: unknown, attempt: number, signal: AbortSignal): Promise<unknown> {
    return this.#work.run({ payload, attempt }, signal);
  }
}

/**
 * The milliseconds before the run after the n-th failure: between half and all of `backoffSeconds` × 2^(n-1), unless the
 * error chooses them.
 */
export function pauseMs({ backoffSeconds }: Rules, failures: number, error: unknown): number {
  if (error instanceof RetryJobError) return error.afterSeconds * 1_000;
  const longest = backoffSeconds * 1_000 * 2 ** Math.min(failures - 1, 20);
  return longest / 2 + (longest / 2) * Math.random();
}
