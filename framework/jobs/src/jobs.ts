/** `Jobs`: the jobs of a program. @module */
import {
  type App,
  DependencyOverrides,
  type Instrumentation,
  type LifespanFunction,
  type Params,
  type Schema,
} from "tsgi";
import { assertOptions, carriedContext, consoleLogger, guardLogger, WorkScope } from "tsgi/internals";
import type { RunSettings } from "./attempt.js";
import { CONTROL, type JobsControl, type Worker } from "./control.js";
import { assertName, Definition, type Envelope } from "./definition.js";
import { jobsError } from "./errors.js";
import { InlineRunner } from "./inline.js";
import { JobTable } from "./job-table.js";
import { assertNodeVersion } from "./library.js";
import { JobMetrics } from "./metrics.js";
import {
  ENQUEUE_OPTIONS,
  type EnqueueOptions,
  type JobArgs,
  type JobOptions,
  JOBS_OPTIONS,
  type JobsOptions,
  type PayloadInput,
  SCHEDULE_OPTIONS,
  type ScheduleOptions,
  WORK_OPTIONS,
  type WorkOptions,
} from "./options.js";
import { holdingWork } from "./requests.js";
import { assertSchedule, type Schedule } from "./schedules.js";
import { Sender, type StoreSettings } from "./store.js";
import { RunningWorker } from "./worker.js";

/**
 * A defined job.
 *
 * @typeParam Payload - The value that `enqueue` takes.
 */
export interface Job<Payload> {
  readonly name: string;
  /**
   * Enqueues a run.
   *
   * @returns The id of the job; `null` if a job of this name with the same `key` is waiting or running.
   * @throws InvalidPayloadError when the payload does not fit, and `HTTPException` with 503 when the database is unavailable.
   */
  enqueue(payload: Payload, options?: EnqueueOptions): Promise<string | null>;
}

/** The Apps that hold the work of their requests: middleware is added once. */
const holding = new WeakSet<App>();

/**
 * Jobs that are not lost: they are kept in PostgreSQL until they are done, and each is done at least once. With
 * `inline: true` they run in this process, without a database.
 *
 * @throws ConfigurationError on Node.js below 22.12 with `url`, and for options that cannot work.
 * @example
 * ```ts
 * import { App, t } from "tsgi";
 * import { Jobs } from "@tsgi/jobs";
 *
 * export const jobs = new Jobs({ inline: true });
 * const welcome = jobs.define("welcome-mail", { payload: t.Object({ to: t.String() }) }, async ({ payload }) => {
 *   console.log("mail to", payload.to);
 * });
 * export const app = new App({ lifespan: jobs.lifespan });
 * app.post("/users", async () => ({ job: await welcome.enqueue({ to: "ada@example.com" }) }));
 * ```
 */
export class Jobs {
  /** Replacements of dependencies in jobs, for tests. */
  readonly dependencyOverrides = new DependencyOverrides();
  readonly #definitions = new Map<string, Definition>();
  readonly #schedules = new Map<string, Schedule>();
  readonly #run: RunSettings;
  readonly #scope: WorkScope;
  readonly #store: StoreSettings | null;
  readonly #inline: InlineRunner | null;
  readonly #sender: Sender | null;
  /** The lifespans and the workers that need the connection. */
  #users = 0;
  #hasSaidInline = false;

  constructor(options: JobsOptions) {
    assertOptions("new Jobs()", options, JOBS_OPTIONS);
    const { url, inline = false, schema = "pgboss" } = options;
    if ((url === undefined) !== inline) throw jobsError("TSGI_JOBS_WITHOUT_DATABASE");
    if (url !== undefined) assertNodeVersion();
    const logger = guardLogger(options.logger ?? consoleLogger);
    const metrics = new JobMetrics(() => this.#waiting());
    this.#run = { logger, metrics };
    this.#scope = new WorkScope(this, this.dependencyOverrides, logger);
    this.#store = url === undefined ? null : { url, schema, logger };
    this.#inline = inline ? new InlineRunner(this.#run) : null;
    this.#sender = this.#store && new Sender(this.#store, () => this.#definitions.keys());
  }

  /**
   * Defines a job.
   *
   * @param name - Letters, digits and `-_./`. It identifies the jobs that wait, even after the next release.
   * @param handler - Gets the payload, the number of the attempt, and the parameters. It may run more than once.
   * @throws ConfigurationError for a name that is taken, and for an option or a parameter that cannot work.
   */
  define<S extends Schema | undefined = undefined, const P extends Params = {}>(
    name: string,
    options: JobOptions<S, P>,
    handler: (args: JobArgs<S, P>) => unknown,
  ): Job<PayloadInput<S>> {
    assertName(name);
    if (this.#definitions.has(name)) throw jobsError("TSGI_DUPLICATE_JOB", "job", name);
    const definition = new Definition(name, options, handler, this.#scope);
    this.#definitions.set(name, definition);
    return { name, enqueue: (payload, how) => this.#enqueue(definition, payload, how) };
  }

  /**
   * Enqueues a job at the times of a cron expression, while a worker runs: at most once over all workers, up to 60 s late. An
   * occurrence during which no worker runs is left out. Schedules do not run inline.
   *
   * @param name - Of the schedule. One that the program no longer declares is removed when a worker starts.
   * @param cron - Minute, hour, day of the month, month, day of the week.
   * @throws ConfigurationError for a name that is taken, an expression or a time zone that is not valid.
   */
  schedule<Payload>(
    name: string,
    cron: string,
    job: Job<Payload>,
    payload: Payload,
    options: ScheduleOptions = {},
  ): void {
    assertName(name);
    assertOptions(`schedule(${JSON.stringify(name)})`, options, SCHEDULE_OPTIONS);
    const { timezone = "UTC" } = options;
    assertSchedule(name, cron, timezone);
    if (this.#schedules.has(name)) throw jobsError("TSGI_DUPLICATE_JOB", "schedule", name);
    const definition = this.#definitions.get(job.name);
    if (definition === undefined) throw jobsError("TSGI_UNKNOWN_QUEUE", job.name, [...this.#definitions.keys()]);
    this.#schedules.set(name, {
      name,
      cron,
      timezone,
      job: job.name,
      envelope: { payload, failures: 0, ...definition.rules },
    });
  }

  /** The lifespan of an App that enqueues: connects before the first request. It runs no jobs, unless they are inline. */
  get lifespan(): LifespanFunction<App> {
    return (app) => this.#live(app);
  }

  /** Counts enqueued and finished jobs, for `prometheus()` of `@tsgi/metrics`: `instrumentation: [metrics, jobs.metrics]`. */
  get metrics(): Instrumentation {
    return this.#run.metrics.instrumentation;
  }

  /**
   * Runs jobs in this process. Settles when it takes jobs.
   *
   * @throws ConfigurationError if jobs are inline, and for a schedule that is not valid.
   */
  work(options: WorkOptions = {}): Promise<Worker> {
    return this.#work(options, null);
  }

  async #work(options: WorkOptions, signal: AbortSignal | null): Promise<Worker> {
    assertOptions("work()", options, WORK_OPTIONS);
    if (this.#store === null) throw jobsError("TSGI_JOBS_INLINE_WORKER");
    const names = [...this.#definitions.keys()];
    for (const name of options.queues ?? []) {
      if (!this.#definitions.has(name)) throw jobsError("TSGI_UNKNOWN_QUEUE", name, names);
    }
    const chosen = options.queues ?? names;
    const settings = {
      store: this.#store,
      run: this.#run,
      definitions: [...this.#definitions.values()].filter(({ name }) => chosen.includes(name)),
      schedules: await this.#checkedSchedules(),
      scope: this.#scope,
      options,
    };
    const worker = await RunningWorker.start(settings, names, signal);
    this.#users++;
    let stopped: Promise<void> | null = null;
    return { stop: (how) => (stopped ??= this.#stopWork(worker, how?.timeoutMs)) };
  }

  /** Settles when no inline job waits or runs. With a database it settles at once: jobs run in workers. */
  async drain(): Promise<void> {
    await this.#inline?.drain();
  }

  /** Closes the connection of a program that enqueues without an App and without a worker. */
  async close(): Promise<void> {
    await this.#inline?.close();
    await this.#scope.close();
    await this.#sender?.close();
  }

  /** @internal */
  get [CONTROL](): JobsControl {
    const sender = this.#sender;
    const table = async () => {
      if (sender === null || this.#store === null) throw jobsError("TSGI_JOBS_INLINE_WORKER");
      return new JobTable(await sender.connection(), this.#store.schema);
    };
    return {
      isInline: this.#inline !== null,
      schedules: Array.from(this.#schedules.values(), ({ name, cron, timezone, job }) => ({
        name,
        cron,
        timezone,
        job,
      })),
      work: (options, signal) => this.#work(options, signal ?? null),
      list: async () => (await table()).list([...this.#definitions.keys()]),
      show: async (id) => (await table()).show(id),
      retry: async (id) => (await table()).retry(id),
      cancel: async (id) => (await table()).cancel(id),
      close: () => this.close(),
    };
  }

  async #enqueue(definition: Definition, payload: unknown, options: EnqueueOptions = {}): Promise<string | null> {
    assertOptions(`enqueue() of ${definition.name}`, options, ENQUEUE_OPTIONS);
    const packed = await definition.pack(payload);
    const trace = carriedContext();
    const envelope: Envelope = {
      ...(packed === undefined ? {} : { payload: packed }),
      failures: 0,
      ...definition.rules,
      ...(trace === undefined ? {} : { trace }),
    };
    if (this.#inline !== null) {
      this.#sayInline();
      return this.#inline.enqueue(definition, envelope, options);
    }
    const id = (await this.#sender?.enqueue(definition, envelope, options)) ?? null;
    if (id !== null) this.#run.metrics.enqueued(definition.name);
    return id;
  }

  /** The schedules with payloads as JSON stores them. @throws InvalidPayloadError for one that does not fit. */
  #checkedSchedules(): Promise<Schedule[]> {
    return Promise.all(
      Array.from(this.#schedules.values(), async (schedule) => {
        const payload = await this.#definitions.get(schedule.job)?.pack(schedule.envelope.payload);
        return { ...schedule, envelope: { ...schedule.envelope, ...(payload === undefined ? {} : { payload }) } };
      }),
    );
  }

  async *#live(app: App): AsyncGenerator<void, void, unknown> {
    this.#users++;
    try {
      const leave = await this.#enter(app);
      try {
        yield;
      } finally {
        leave();
      }
    } finally {
      await this.#leave();
    }
  }

  async #enter(app: App): Promise<() => void> {
    await this.#checkedSchedules();
    await this.#sender?.open();
    const inline = this.#inline;
    if (inline === null) return () => {};
    this.#sayInline();
    if (!holding.has(app)) {
      holding.add(app);
      app.addMiddleware(holdingWork);
    }
    return this.#scope.join(app, () => inline.close());
  }

  async #stopWork(worker: RunningWorker, timeoutMs: number | undefined): Promise<void> {
    await worker.stop(timeoutMs);
    await this.#leave();
  }

  async #leave(): Promise<void> {
    this.#users--;
    if (this.#users === 0) await this.#sender?.close();
  }

  #sayInline(): void {
    if (this.#hasSaidInline) return;
    this.#hasSaidInline = true;
    const schedules = this.#schedules.size > 0 ? " Schedules do not run." : "";
    this.#run.logger.warn({}, `Jobs run inline, in this process: they are lost when it ends.${schedules}`);
  }

  async #waiting(): Promise<ReadonlyMap<string, number>> {
    const names = [...this.#definitions.keys()];
    if (this.#inline !== null) return this.#inline.waiting(names);
    if (this.#sender === null || this.#store === null) return new Map();
    return new JobTable(await this.#sender.connection(), this.#store.schema).waiting(names);
  }
}
