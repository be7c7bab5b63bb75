/** The parts of `Jobs` that `tsgi worker` and `tsgi jobs` use without importing this package. @module */
import type { Schema } from "tsgi";
import type { Envelope } from "./definition.js";
import type { WorkOptions } from "./options.js";

/** Registered, so that a command finds the `Jobs` of any copy of this package. */
export const CONTROL: unique symbol = Symbol.for("tsgi.jobs");

/** `delayed` is a job that waits for its delay or for the next attempt; `dead` one without attempts left. */
export type JobState = "waiting" | "delayed" | "running" | "done" | "cancelled" | "dead";

/** A job as the commands show it. */
export interface JobRecord {
  readonly id: string;
  readonly name: string;
  readonly state: JobState;
  /** The number of the current, the next or the last run, from 1. */
  readonly attempt: number;
  readonly payload: unknown;
  /** The error of the last run that failed. */
  readonly reason?: string;
  /** ISO 8601. */
  readonly createdAt: string;
}

/** A schedule as the commands show it. */
export interface ScheduleRecord {
  readonly name: string;
  readonly cron: string;
  readonly timezone: string;
  readonly job: string;
}

/** An event that the program declares. */
export interface EventDeclaration {
  readonly name: string;
  /** The schema of its payload; `undefined` without one. */
  readonly payload: Schema | undefined;
  /** The names of the subscribers of this program, such as `order.paid/receipt`. */
  readonly subscribers: readonly string[];
}

/** An event as the commands show it, with the subscribers of all programs. */
export interface EventRecord {
  readonly name: string;
  /** `program` is `null` if jobs are inline. */
  readonly subscribers: readonly { readonly name: string; readonly program: string | null }[];
}

/** A worker that runs. */
export interface Worker {
  /** Takes no more jobs, waits for those that run, then aborts them and returns them to the queue. */
  stop(options?: { timeoutMs?: number }): Promise<void>;
}

/** A transaction, as `pg` has it. Also a value for the option `tx`. */
export interface SQLClient {
  query(text: string, values?: readonly unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/** The connection of the jobs, for the rows that a package keeps next to them. */
export interface JobsDatabase {
  /** A statement outside of transactions. */
  readonly query: SQLClient["query"];
  /**
   * Calls a function in the caller's transaction, or in a separate one, which is rolled back if the function throws.
   *
   * @throws HTTPException with 503 without `tx` when the database is unavailable.
   */
  transaction<T>(tx: object | undefined, work: (client: SQLClient) => Promise<T>): Promise<T>;
}

/** A job that is enqueued while jobs are redirected. */
export interface EnqueuedJob {
  readonly name: string;
  readonly envelope: Envelope;
  readonly key: string | undefined;
  readonly tx: object | undefined;
}

/** Takes a job. @returns Its id; `null` if a job with its key waits. */
export type EnqueueElsewhere = (job: EnqueuedJob) => Promise<string | null>;

/** A line of `tsgi doctor`. */
export interface JobsFinding {
  readonly mark: "ok" | "note" | "fault";
  readonly subject: string;
  readonly text: string;
}

/** A check of `tsgi doctor`. @param query - A statement that only reads; `null` if jobs are inline. */
export type JobsCheck = (query: SQLClient["query"] | null) => Promise<readonly JobsFinding[]>;

/** The commands on the jobs of a program, and its jobs in the sandbox of a test. */
export interface JobsControl {
  /** `true` if jobs run in the process that enqueues them: another process cannot list them. */
  readonly isInline: boolean;
  /** `null` if jobs are inline. */
  readonly database: JobsDatabase | null;
  readonly schedules: readonly ScheduleRecord[];
  /** The events that the program declares, and those with subscribers of other programs. */
  events(): Promise<readonly EventRecord[]>;
  /** @param signal - Aborts when the start is to be undone instead of completed: it then rejects with the signal's reason. */
  work(options: WorkOptions, signal?: AbortSignal): Promise<Worker>;
  /** The latest first, 1,000 at most. @param state - Only jobs in this state. */
  list(state?: JobState): Promise<readonly JobRecord[]>;
  show(id: string): Promise<JobRecord | null>;
  /** Gives a dead job its attempts again. @returns Its state if it is not dead; `null` if it does not exist. */
  retry(id: string): Promise<JobState | null>;
  /** Cancels a job that is not finished. @returns Its state before; `null` if it does not exist. */
  cancel(id: string): Promise<JobState | null>;
  close(): Promise<void>;
  /** Adds a check of these jobs to `tsgi doctor`. */
  readonly addCheck: (check: JobsCheck) => void;
  /** Passes all jobs on, instead of storing or running them, until it is called with `null`. */
  redirect(enqueue: EnqueueElsewhere | null): void;
  /** Runs a job once. @throws its error */
  run(job: { readonly id: string; readonly name: string; readonly envelope: unknown }): Promise<void>;
}

/**
 * The commands on jobs, for official packages: applications do not need it, and it may change in a minor version.
 *
 * @example
 * ```ts
 * import { controlOf, Jobs } from "@tsgi/jobs";
 *
 * const jobs = new Jobs({ inline: true });
 * console.log(controlOf(jobs).isInline); // true
 * ```
 */
export function controlOf(jobs: { readonly [CONTROL]: JobsControl }): JobsControl {
  return jobs[CONTROL];
}
