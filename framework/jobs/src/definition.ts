/** A job as it was defined: its rules, the check of its payload, and its function. @module */
import type { Callable, Fault, Params, Schema } from "tsgi";
import {
  assertOptions,
  type CarriedContext,
  compileCheckOf,
  isRecord,
  type Work,
  withPlace,
  type WorkScope,
} from "tsgi/internals";
import { jobsError } from "./errors.js";
import { DEFAULT_CONCURRENCY, DEFAULT_RULES, JOB_OPTIONS, type JobOptions, type Rules } from "./options.js";

/**
 * The payload of a job does not fit its schema. `faults` lists the errors, without the payload itself.
 *
 * @example
 * ```ts
 * import { t } from "tsgi";
 * import { InvalidPayloadError, Jobs } from "@tsgi/jobs";
 *
 * const jobs = new Jobs({ inline: true });
 * const report = jobs.define("report", { payload: t.Object({ day: t.String({ minLength: 10 }) }) }, async () => {});
 * const error = await report.enqueue({ day: "Monday" }).catch((error: unknown) => error);
 * console.log(error instanceof InvalidPayloadError); // true
 * ```
 */
export class InvalidPayloadError extends Error {
  override readonly name = "InvalidPayloadError";
  readonly faults: readonly Fault[];

  constructor(job: string, faults: readonly Fault[]) {
    const shown = faults.slice(0, 3).map(({ loc, msg }) => (loc.length > 0 ? `${loc.join(".")}: ${msg}` : msg));
    const more = faults.length > shown.length ? `; and ${faults.length - shown.length} more` : "";
    super(`The payload of the job ${job} does not fit: ${shown.join("; ")}${more}`);
    this.faults = faults;
  }
}

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

/** @throws ConfigurationError for the name of a job or a schedule that pg-boss would reject. */
export function assertName(name: unknown): asserts name is string {
  if (typeof name !== "string" || !NAME.test(name)) throw jobsError("TSGI_INVALID_JOB_NAME", name);
}

/** Escapes of JSON that PostgreSQL's `jsonb` rejects: NUL, and a surrogate without its pair (PostgreSQL manual, §8.14). */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f][\da-f]{2})/;

/** The options of a job whose types do not matter any more. */
type AnyJobOptions = Omit<JobOptions<Schema | undefined, Params>, "params"> & { params?: Params };

/** A defined job. */
export class Definition {
  readonly name: string;
  readonly rules: Rules;
  readonly concurrency: number;
  readonly #check: ReturnType<typeof compileCheckOf> | null;
  readonly #work: Work;

  /** @throws ConfigurationError for an option or a parameter that cannot work. */
  constructor(name: string, options: AnyJobOptions, handler: unknown, scope: WorkScope) {
    const place = `The job ${JSON.stringify(name)}`;
    assertOptions(place, options, JOB_OPTIONS);
    if (typeof handler !== "function") throw jobsError("TSGI_JOB_NOT_CALLABLE", name, handler);
    const { payload, params = {}, concurrency = DEFAULT_CONCURRENCY, ...rules } = options;
    const taken = GIVEN.find((one) => Object.hasOwn(params, one));
    if (taken !== undefined) throw jobsError("TSGI_JOB_PARAMETER_NAME", name, taken);
    this.name = name;
    this.concurrency = concurrency;
    this.rules = {
      attempts: rules.attempts ?? DEFAULT_RULES.attempts,
      backoffSeconds: rules.backoffSeconds ?? DEFAULT_RULES.backoffSeconds,
      timeoutSeconds: rules.timeoutSeconds ?? DEFAULT_RULES.timeoutSeconds,
    };
    this.#check = payload === undefined ? null : withPlace(place, () => compileCheckOf(payload));
    const work = withPlace(place, () => scope.add(handler as Callable, params, name));
    if (work.misplaced) throw jobsError("TSGI_JOB_PARAMETER", name, ...work.misplaced);
    this.#work = work;
  }

  /**
   * Checks a payload before it is enqueued, as JSON will store it.
   *
   * @returns The payload as JSON; `undefined` without one.
   * @throws InvalidPayloadError when it does not fit.
   */
  async pack(payload: unknown): Promise<unknown> {
    const text = payload === undefined ? undefined : JSON.stringify(payload);
    if (text === undefined) {
      await this.read(undefined);
      return undefined;
    }
    if (UNSTORABLE.test(text)) {
      const msg = "Contains a NUL character or half of a surrogate pair, which PostgreSQL cannot store";
      throw new InvalidPayloadError(this.name, [{ type: "string_unicode", loc: [], msg }]);
    }
    const stored: unknown = JSON.parse(text);
    await this.read(stored);
    return stored;
  }

  /** Checks a stored payload, and returns the value for the handler. @throws InvalidPayloadError when it does not fit. */
  async read(stored: unknown): Promise<unknown> {
    if (this.#check === null) {
      if (stored === undefined || stored === null) return undefined;
      throw new InvalidPayloadError(this.name, [{ type: "value_error", loc: [], msg: "The job has no payload" }]);
    }
    const checked = await this.#check(stored);
    if ("faults" in checked) throw new InvalidPayloadError(this.name, checked.faults);
    return checked.value;
  }

  /** Calls the handler with its dependencies. */
  run(payload: unknown, attempt: number, signal: AbortSignal): Promise<unknown> {
    return this.#work.run({ payload, attempt }, signal);
  }
}

/** The milliseconds before the run after the n-th failure: between half and all of `backoffSeconds` × 2^(n-1). */
export function backoffMs({ backoffSeconds }: Rules, failures: number): number {
  const longest = backoffSeconds * 1_000 * 2 ** Math.min(failures - 1, 20);
  return longest / 2 + (longest / 2) * Math.random();
}
