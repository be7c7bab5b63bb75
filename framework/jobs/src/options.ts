/** The options of jobs, and their rules. @module */
import type { FromParams, Logger, Marker, Params, Schema, SchemaInput, SchemaOutput } from "tsgi";
import {
  ANYTHING,
  type CheckParams,
  expecting,
  FLAG,
  LIST,
  OBJECT,
  type OptionRules,
  TEXT,
  whole,
} from "tsgi/internals";

/** The options of `Jobs`: `url` or `inline`. */
export interface JobsOptions {
  /** The PostgreSQL database that keeps the jobs. */
  url?: string;
  /**
   * `true` runs jobs in the process that enqueues them, without a database: they are lost when it ends. Defaults to `false`.
   */
  inline?: boolean;
  /** The PostgreSQL schema of pg-boss's tables. It is created if it does not exist. Defaults to `"pgboss"`. */
  schema?: string;
  /**
   * The name under which the subscribers of events are stored. Defaults to the `name` of the nearest package.json at or
   * above the working directory.
   */
  program?: string;
  /** The log of failed jobs and of the worker. Defaults to lines on stderr. */
  logger?: Logger;
}

/** PostgreSQL's text has no NUL, and a longer name is a mistake. */
const PROGRAM = expecting("a string of 1 to 200 characters", (value) => {
  return typeof value === "string" && value.length > 0 && value.length <= 200 && !value.includes("\0");
});

export const JOBS_OPTIONS: OptionRules<JobsOptions> = {
  url: TEXT,
  inline: FLAG,
  schema: TEXT,
  program: PROGRAM,
  logger: OBJECT,
};

/**
 * The options of a job.
 *
 * @typeParam S - The schema of the payload; `undefined` for a job without one.
 * @typeParam P - The parameters of the handler.
 */
export interface JobOptions<S extends Schema | undefined, P extends Params> {
  /** The schema of the payload, which is checked when the job is enqueued and when it is run. Defaults to no payload. */
  payload?: S;
  /** Arguments of the handler: `Depends(…)` and `AbortSignal`. */
  params?: P & CheckParams<P>;
  /** The most runs that may fail, the first one included. Defaults to 5. */
  attempts?: number;
  /** Seconds before the second run; doubled for each further one, and shortened by up to half at random. Defaults to 10. */
  backoffSeconds?: number;
  /** Seconds after which `signal` aborts and the run has failed. Defaults to 60. */
  timeoutSeconds?: number;
  /** The most runs of this job at the same time in one worker process. Defaults to 4. */
  concurrency?: number;
}

/** pg-boss ends a run after 24 hours at the latest. */
const MAX_TIMEOUT_SECONDS = 86_000;

const MAX_INTEGER = 2_147_483_647;

const seconds = (max: number) =>
  expecting(`a number of seconds up to ${max}`, (value) => typeof value === "number" && value >= 0 && value <= max);

export const JOB_OPTIONS: OptionRules<JobOptions<undefined, Params>> = {
  payload: ANYTHING,
  params: OBJECT,
  attempts: whole(1, 1_000),
  backoffSeconds: seconds(MAX_TIMEOUT_SECONDS),
  timeoutSeconds: expecting(
    `a number of seconds above 0, up to ${MAX_TIMEOUT_SECONDS}`,
    (value) => typeof value === "number" && value > 0 && value <= MAX_TIMEOUT_SECONDS,
  ),
  concurrency: whole(1, 1_000),
};

/** The values that hold for a job from when it is enqueued. */
export interface Rules {
  readonly attempts: number;
  readonly backoffSeconds: number;
  readonly timeoutSeconds: number;
}

export const DEFAULT_RULES: Rules = { attempts: 5, backoffSeconds: 10, timeoutSeconds: 60 };
export const DEFAULT_CONCURRENCY = 4;

/** The options of `enqueue`. */
export interface EnqueueOptions {
  /**
   * The transaction that the job is written in: of `transactionOf`, Prisma, Drizzle or Kysely, or a client of `pg`. The job
   * exists if it commits. Without one, the job is written at once.
   */
  tx?: object;
  /** Seconds before the first run. Defaults to 0. */
  delaySeconds?: number;
  /** At most one job of this name with this key is waiting or running. By default, the number is not limited. */
  key?: string;
  /** Jobs with a higher one run first. Defaults to 0. */
  priority?: number;
}

/** Ten years, after which a job that never ran is deleted. */
export const MAX_WAIT_SECONDS = 315_360_000;

const KEY = expecting("a string of 1 to 500 characters", (value) => {
  return typeof value === "string" && value.length > 0 && value.length <= 500;
});

export const ENQUEUE_OPTIONS: OptionRules<EnqueueOptions> = {
  tx: ANYTHING,
  delaySeconds: seconds(MAX_WAIT_SECONDS),
  key: KEY,
  priority: whole(-MAX_INTEGER, MAX_INTEGER),
};

/**
 * The options of an event.
 *
 * @typeParam S - The schema of the payload; `undefined` for an event without one.
 */
export interface EventOptions<S extends Schema | undefined> {
  /** The schema of the payload, which is checked when the event is published and when a subscriber runs. Defaults to no payload. */
  payload?: S;
}

export const EVENT_OPTIONS: OptionRules<EventOptions<undefined>> = { payload: ANYTHING };

/**
 * The options of a subscriber: the options of a job, whose payload is the event's.
 *
 * @typeParam P - The parameters of the handler.
 */
export type SubscribeOptions<P extends Params> = Omit<JobOptions<undefined, P>, "payload">;

const { payload: _ofEvent, ...ofSubscriber } = JOB_OPTIONS;

export const SUBSCRIBE_OPTIONS: OptionRules<SubscribeOptions<Params>> = ofSubscriber;

/** The options of `publish`. */
export type PublishOptions = Pick<EnqueueOptions, "tx" | "key">;

export const PUBLISH_OPTIONS: OptionRules<PublishOptions> = { tx: ANYTHING, key: KEY };

/** The options of `work`. */
export interface WorkOptions {
  /** The names of the jobs to run. Defaults to all. */
  queues?: readonly string[];
  /** The most jobs that run at the same time in this process. Defaults to the sum of `concurrency` of the jobs. */
  concurrency?: number;
  /** Milliseconds that `stop()` waits for running jobs, before it aborts them. Defaults to 10,000. */
  shutdownTimeoutMs?: number;
}

export const WORK_OPTIONS: OptionRules<WorkOptions> = {
  queues: LIST,
  concurrency: whole(1, 10_000),
  shutdownTimeoutMs: whole(0, 86_400_000),
};

/** The options of `schedule`. */
export interface ScheduleOptions {
  /** The time zone of the cron expression, by its IANA name. Defaults to `"UTC"`. */
  timezone?: string;
}

export const SCHEDULE_OPTIONS: OptionRules<ScheduleOptions> = { timezone: TEXT };

/** The options of `router`. */
export interface JobsRouterOptions {
  /**
   * The guard of the page: dependencies that throw if the client is not an administrator. By default, clients on other
   * machines get 404.
   */
  dependencies?: readonly Marker<unknown>[];
}

/** The value that `enqueue` accepts for a payload's schema. */
export type PayloadInput<S> = S extends Schema ? SchemaInput<S> : void;

/** The arguments of a job's handler. */
export type JobArgs<S, P extends Params> = FromParams<P> & {
  /** The payload, as its schema returns it; `undefined` without a schema. */
  readonly payload: S extends Schema ? SchemaOutput<S> : undefined;
  /** The number of this run, from 1. */
  readonly attempt: number;
};
