/** One run of a job: its timeout, its trace, its log context, and its outcome. @module */
import type { Logger } from "tsgi";
import { runInContext, withWorkFields, type WorkFields } from "tsgi/internals";
import type { Definition, Envelope } from "./definition.js";
import type { JobMetrics } from "./metrics.js";
import { InvalidPayloadError } from "./payload.js";
import { DeadJobError } from "./run-errors.js";

/** The end of a run. */
export type Outcome =
  | { readonly status: "done" }
  /** It uses up an attempt. */
  | { readonly status: "failed"; readonly error: unknown }
  /** No further attempt can succeed. */
  | { readonly status: "dead"; readonly error: unknown }
  /** It was aborted from outside, which uses up no attempt. */
  | { readonly status: "interrupted" };

/** A job that is about to run. */
export interface Run {
  readonly id: string;
  readonly definition: Definition;
  readonly envelope: Envelope;
  /** Aborts when the worker stops, or no longer holds the job. */
  readonly signal: AbortSignal;
}

/** The log and the metrics of a program. */
export interface RunSettings {
  readonly logger: Logger;
  readonly metrics: JobMetrics;
}

/** A run that has begun. */
export interface Begun {
  /** Settles with the outcome. At a timeout that is before the handler has ended. */
  readonly outcome: Promise<Outcome>;
  /** Settles when the handler has ended. Never rejects. */
  readonly ended: Promise<void>;
}

/** A `TimeoutError`, as in `AbortSignal.timeout`. */
function timeoutReason({ definition, envelope }: Run): DOMException {
  return new DOMException(`The job ${definition.name} took longer than ${envelope.timeoutSeconds} s`, "TimeoutError");
}

/** Calls the handler, and starts the clock. */
export function beginRun(run: Run, { logger, metrics }: RunSettings): Begun {
  const { id, definition, envelope } = run;
  const attempt = envelope.failures + 1;
  const startedAt = performance.now();
  const fields = fieldsOf(run, attempt);
  const timeout = new AbortController();
  const handled = withWorkFields(fields, () =>
    runInContext(envelope.trace, () => handle(run, attempt, timeout.signal)),
  );
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Outcome>((resolve) => {
    timer = setTimeout(() => {
      const error = timeoutReason(run);
      timeout.abort(error);
      resolve({ status: "failed", error });
    }, envelope.timeoutSeconds * 1_000);
  });
  const outcome = Promise.race([handled, late]).then((settled) => {
    clearTimeout(timer);
    metrics.finished(definition.name, labelOf(settled, attempt, envelope), (performance.now() - startedAt) / 1_000);
    withWorkFields(fields, () => report(settled, { name: definition.name, id, attempt, envelope, logger }));
    return settled;
  });
  return { outcome, ended: handled.then(() => {}) };
}

function fieldsOf({ id, definition, envelope }: Run, attempt: number): WorkFields {
  const traceId = /^[\da-f]{2}-([\da-f]{32})-/.exec(envelope.trace?.["traceparent"] ?? "")?.[1];
  return { jobId: id, jobName: definition.name, attempt, ...(traceId === undefined ? {} : { traceId }) };
}

/** Never rejects. */
async function handle({ definition, envelope, signal }: Run, attempt: number, timeout: AbortSignal): Promise<Outcome> {
  let payload: unknown;
  try {
    payload = await definition.payload.read(envelope.payload);
  } catch (error) {
    return { status: error instanceof InvalidPayloadError ? "dead" : "failed", error };
  }
  try {
    await definition.run(payload, attempt, AbortSignal.any([signal, timeout]));
    return { status: "done" };
  } catch (error) {
    if (error instanceof DeadJobError) return { status: "dead", error };
    return signal.aborted ? { status: "interrupted" } : { status: "failed", error };
  }
}

/** Tells if a failed run was the last one. */
export function isLast({ failures, attempts }: Envelope): boolean {
  return failures + 1 >= attempts;
}

function labelOf({ status }: Outcome, attempt: number, { attempts }: Envelope) {
  return status === "failed" && attempt >= attempts ? "dead" : status;
}

interface Reported {
  readonly name: string;
  readonly id: string;
  readonly attempt: number;
  readonly envelope: Envelope;
  readonly logger: Logger;
}

function report(outcome: Outcome, { name, id, attempt, envelope, logger }: Reported): void {
  if (outcome.status === "done" || outcome.status === "interrupted") return;
  const fields = { err: outcome.error, jobId: id, jobName: name, attempt };
  if (outcome.status === "dead") return logger.error(fields, `The job ${name} is dead: ${whyDead(outcome.error)}`);
  if (isLast(envelope))
    return logger.error(fields, `The job ${name} is dead: attempt ${attempt} of ${envelope.attempts} failed.`);
  logger.warn(fields, `The job ${name} failed in attempt ${attempt} of ${envelope.attempts}. It runs again.`);
}

/** The reason of the handler. That of a payload may contain values, which the error in the fields has for those who may see them. */
function whyDead(error: unknown): string {
  return error instanceof DeadJobError ? error.message : "its payload does not fit.";
}
