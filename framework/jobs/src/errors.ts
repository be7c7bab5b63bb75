/**
 * Jobs: `@tsgi/jobs`.
 *
 * These errors are thrown when you create `Jobs`, define a job, or enqueue one. See [jobs.md](jobs.md).
 * @module
 */
import { describe, errorsOf } from "tsgi/internals";

const MESSAGES = {
  /**
   * pg-boss, on which `@tsgi/jobs` is built, requires Node.js 22.12.
   *
   * Update Node.js. Until then, `new Jobs({ inline: true })` runs jobs in the process that enqueues them.
   */
  TSGI_JOBS_NODE_VERSION: (version: string) =>
    `new Jobs({ url }) requires Node.js 22.12 or later, because pg-boss does; this is ${version}. Update Node.js, or ` +
    "write new Jobs({ inline: true }).",
  /**
   * You use `new Jobs({ url })`, but the peer dependency `pg-boss` is not installed.
   *
   * In a bundle in the ESM format, it cannot be loaded without a further option: see [bundles](jobs.md#in-a-bundle).
   */
  TSGI_MISSING_PG_BOSS:
    "new Jobs({ url }) requires the package pg-boss, which cannot be loaded. Run: npm install pg-boss@12.38.0",
  /**
   * `new Jobs()` has neither a database nor `inline: true`, or both.
   *
   * ```js
   * // Wrong
   * new Jobs({});
   *
   * // Right
   * new Jobs({ inline: true });
   * ```
   */
  TSGI_JOBS_WITHOUT_DATABASE:
    'new Jobs() takes either { url: "postgresql://…" }, a PostgreSQL database that keeps the jobs, or { inline: true }.',
  /**
   * The name of a job, an event, a subscriber or a schedule has characters that pg-boss rejects, or is too long.
   *
   * ```js
   * // Wrong
   * new Jobs({ inline: true }).define("welcome mail", {}, async () => {});
   *
   * // Right
   * new Jobs({ inline: true }).define("welcome-mail", {}, async () => {});
   * ```
   */
  TSGI_INVALID_JOB_NAME: (name: unknown) =>
    "The name of a job, an event or a schedule has letters, digits and -_./ only, and at most 200 of them, not " +
    `${describe(name)}. Write it like welcome-mail.`,
  /**
   * Two jobs, events or schedules have the same name.
   *
   * A subscriber is a job named `<event>/<subscriber>`, and an event cannot have the name of a job.
   *
   * ```js
   * // Wrong
   * const jobs = new Jobs({ inline: true });
   * jobs.define("report", {}, async () => {});
   * jobs.define("report", {}, async () => {});
   *
   * // Right
   * const jobs = new Jobs({ inline: true });
   * jobs.define("daily-report", {}, async () => {});
   * jobs.define("weekly-report", {}, async () => {});
   * ```
   */
  TSGI_DUPLICATE_JOB: (what: string, name: string) =>
    `There is ${what} named ${JSON.stringify(name)} already. Give this one another name.`,
  /**
   * The handler of a job is not a function.
   *
   * ```js
   * // Wrong
   * new Jobs({ inline: true }).define("report", {});
   *
   * // Right
   * new Jobs({ inline: true }).define("report", {}, async () => {});
   * ```
   */
  TSGI_JOB_NOT_CALLABLE: (name: string, given: unknown) =>
    `The job ${JSON.stringify(name)} needs a function as its last argument, not ${describe(given)}.`,
  /**
   * A job or one of its dependencies has a parameter of a request, such as a header.
   *
   * A job runs without a request. Pass such a value in the payload. The parameters of a job can be `Depends(…)` and `AbortSignal`.
   *
   * ```js
   * // Wrong
   * const params = { language: Header() };
   * new Jobs({ inline: true }).define("report", { params }, async () => {});
   *
   * // Right
   * const payload = t.Object({ language: t.String() });
   * new Jobs({ inline: true }).define("report", { payload }, async (job) => {
   *   return job.payload.language;
   * });
   * ```
   */
  TSGI_JOB_PARAMETER: (job: string, parameter: string, of: string) =>
    `The job ${JSON.stringify(job)} runs without a request, so ${of} cannot have the parameter ` +
    `${JSON.stringify(parameter)}. Pass it in the payload.`,
  /**
   * A parameter of a job has the name of an argument that every job gets.
   *
   * ```js
   * // Wrong
   * const params = { attempt: AbortSignal };
   * new Jobs({ inline: true }).define("report", { params }, async () => {});
   *
   * // Right
   * const params = { signal: AbortSignal };
   * new Jobs({ inline: true }).define("report", { params }, async () => {});
   * ```
   */
  TSGI_JOB_PARAMETER_NAME: (job: string, name: string) =>
    `The job ${JSON.stringify(job)} gets its own argument ${JSON.stringify(name)}. Give the parameter another name.`,
  /**
   * You enqueue in a transaction whose end cannot be observed, while jobs run in this process.
   *
   * With `inline: true`, a job starts after the commit. Only the transaction of `transactionOf` of `@tsgi/prisma` reports
   * it.
   */
  TSGI_JOBS_INLINE_TRANSACTION:
    "new Jobs({ inline: true }) takes the transaction of transactionOf() of @tsgi/prisma only: it cannot know when another " +
    "one commits. Enqueue after the commit, or use new Jobs({ url }).",
  /**
   * The option `tx` is not a transaction of `pg`, Prisma, Drizzle or Kysely.
   *
   * A pool does not work either: it runs each statement on any of its connections.
   */
  TSGI_JOBS_NOT_A_TRANSACTION: (given: unknown) =>
    `The transaction must be from Prisma, Drizzle or Kysely, or a client of pg in a transaction, not ${describe(given)}.`,
  /**
   * You run workers, although jobs run in the process that enqueues them.
   *
   * ```js
   * // Wrong
   * await new Jobs({ inline: true }).work();
   * ```
   */
  TSGI_JOBS_INLINE_WORKER:
    "Jobs that are inline run in the process that enqueues them, and need no worker. Write new Jobs({ url }) for workers.",
  /**
   * An event has a subscriber, but the program has no name.
   *
   * Subscribers are stored under the name of their program, so that a worker removes only its own. It is the `name` of the
   * nearest package.json, or the option `program`.
   *
   * ```js
   * // Right
   * const jobs = new Jobs({ inline: true, program: "shop" });
   * jobs.event("order.paid").subscribe("receipt", {}, async () => {});
   * ```
   */
  TSGI_JOBS_WITHOUT_PROGRAM: (subscriber: string) =>
    `The subscriber ${JSON.stringify(subscriber)} is stored under the name of its program, but the nearest ` +
    'package.json has no "name". Add one, or write new Jobs({ url, program: "my-program" }).',
  /**
   * Two programs on one database have a subscriber of the same name for the same event.
   *
   * Give one of them another name. If you moved the subscriber from one program to the other, start the worker of the first
   * program: it removes subscribers that the program no longer declares. Two programs cannot share a name of a program either.
   */
  TSGI_SUBSCRIBER_OF_ANOTHER_PROGRAM: (subscriber: string, program: string) =>
    `Another program than ${JSON.stringify(program)} has the subscriber ${JSON.stringify(subscriber)} on this database. ` +
    "Give this one another name. If you moved it here, start the worker of the other program, which removes it there.",
  /** An option names a queue that is not defined. */
  TSGI_UNKNOWN_QUEUE: (name: string, known: readonly string[]) =>
    `The job ${JSON.stringify(name)} is not defined. Defined are: ${known.join(", ") || "no jobs"}.`,
  /**
   * The cron expression or the time zone of a schedule is not valid.
   */
  TSGI_INVALID_SCHEDULE: (name: string, why: string) => `The schedule ${JSON.stringify(name)} is not valid: ${why}`,
};

/** Makes an error of this package. */
export const jobsError = errorsOf(MESSAGES);
