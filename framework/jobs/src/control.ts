/** The parts of `Jobs` that `tsgi worker` and `tsgi jobs` use without importing this package. @module */
import type { Schema } from "tsgi";
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

/** The commands on the jobs of a program. */
export interface JobsControl {
  /** `true` if jobs run in the process that enqueues them: another process cannot list them. */
  readonly isInline: boolean;
  readonly schedules: readonly ScheduleRecord[];
  /** The events that the program declares, and those with subscribers of other programs. */
  events(): Promise<readonly EventRecord[]>;
  /** @param signal - Aborts when the start is to be undone instead of completed: it then rejects with the signal's reason. */
  work(options: WorkOptions, signal?: AbortSignal): Promise<Worker>;
  /** The latest first. */
  list(): Promise<readonly JobRecord[]>;
  show(id: string): Promise<JobRecord | null>;
  /** Gives a dead job its attempts again. @returns Its state if it is not dead; `null` if it does not exist. */
  retry(id: string): Promise<JobState | null>;
  /** Cancels a job that is not finished. @returns Its state before; `null` if it does not exist. */
  cancel(id: string): Promise<JobState | null>;
  close(): Promise<void>;
}
