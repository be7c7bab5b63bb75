/** `Jobs`: the jobs of a program. @module */
import {
  type App,
  DependencyOverrides,
  type Instrumentation,
  type LifespanFunction,
  type Params,
  type Router,
  type Schema,
} from "tsgi";
import { assertOptions, carriedContext, consoleLogger, guardLogger, WorkScope, withPlace } from "tsgi/internals";
import { beginRun, type RunSettings } from "./attempt.js";
import {
  CONTROL,
  type EnqueuedJob,
  type EnqueueElsewhere,
  type EventDeclaration,
  type EventRecord,
  type JobsCheck,
  type JobsControl,
  type Worker,
} from "./control.js";
import { type AnyJobOptions, assertName, Definition, type Envelope, readEnvelope } from "./definition.js";
import { jobsError } from "./errors.js";
import type { DeclaredEvent, JobEvent } from "./event.js";
import { examineLater } from "./examine.js";
import { InlineRunner } from "./inline.js";
import { JobTable } from "./job-table.js";
import { assertNodeVersion } from "./library.js";
import { JobMetrics } from "./metrics.js";
import {
  ENQUEUE_OPTIONS,
  type EnqueueOptions,
  EVENT_OPTIONS,
  type EventOptions,
  type JobArgs,
  type JobOptions,
  JOBS_OPTIONS,
  type JobsOptions,
  type JobsRouterOptions,
  type PayloadInput,
  PUBLISH_OPTIONS,
  type PublishOptions,
  type Rules,
  SCHEDULE_OPTIONS,
  type ScheduleOptions,
  SUBSCRIBE_OPTIONS,
  WORK_OPTIONS,
  type WorkOptions,
} from "./options.js";
import { createPageRouter } from "./page-router.js";
import { Payload } from "./payload.js";
import { findProgram } from "./program.js";
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
  readonly #events = new Map<string, DeclaredEvent>();
  readonly #schedules = new Map<string, Schedule>();
  readonly #run: RunSettings;
  readonly #scope: WorkScope;
  readonly #store: StoreSettings | null;
  readonly #inline: InlineRunner | null;
  readonly #sender: Sender | null;
  readonly #checks: JobsCheck[] = [];
  /** The lifespans and the workers that need the connection. */
  #users = 0;
  #hasSaidInline = false;
  /** Takes the jobs in the place of the database, in a sandbox of a test. */
  #elsewhere: EnqueueElsewhere | null = null;

  constructor(options: JobsOptions) {
    assertOptions("new Jobs()", options, JOBS_OPTIONS);
    const { url, inline = false, schema = "pgboss" } = options;
    if ((url === undefined) !== inline) throw jobsError("TSGI_JOBS_WITHOUT_DATABASE");
    if (url !== undefined) assertNodeVersion();
    const logger = guardLogger(options.logger ?? consoleLogger);
    const metrics = new JobMetrics(() => this.#waiting());
    this.#run = { logger, metrics };
    this.#scope = new WorkScope(this, this.dependencyOverrides, logger);
    this.#store = url === undefined ? null : { url, schema, program: options.program ?? findProgram(), logger };
    this.#inline = inline ? new InlineRunner(this.#run) : null;
    this.#sender = this.#store && new Sender(this.#store, () => this.#definitions.values());
    examineLater(() => ({ store: this.#store, events: this.events, checks: this.#checks }));
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
    this.#assertFree(name);
    const definition = new Definition(name, options, handler, { scope: this.#scope });
    this.#definitions.set(name, definition);
    return { name, enqueue: (payload, how) => this.#enqueue(definition, payload, how) };
  }

  /**
   * Declares an event. When it is published, each of its subscribers gets a separate job.
   *
   * @param name - Letters, digits and `-_./`. Programs that declare an event of this name share it.
   * @throws ConfigurationError for a name that is taken, and for an option that cannot work.
   * @example
   * ```ts
   * import { t } from "tsgi";
   * import { Jobs } from "@tsgi/jobs";
   *
   * const jobs = new Jobs({ inline: true });
   * const paid = jobs.event("order.paid", { payload: t.Object({ orderId: t.Integer() }) });
   * paid.subscribe("receipt", {}, async ({ payload }) => console.log("receipt for", payload.orderId));
   * paid.subscribe("stock", { attempts: 10 }, async ({ payload }) => console.log("ship", payload.orderId));
   * await paid.publish({ orderId: 1 });
   * await jobs.drain(); // receipt for 1, ship 1
   * ```
   */
  event<S extends Schema | undefined = undefined>(name: string, options: EventOptions<S> = {}): JobEvent<S> {
    this.#assertFree(name);
    const place = `The event ${JSON.stringify(name)}`;
    assertOptions(place, options, EVENT_OPTIONS);
    const payload = withPlace(place, () => new Payload("event", name, options.payload));
    const event: DeclaredEvent = { name, schema: options.payload, payload, subscribers: [] };
    this.#events.set(name, event);
    return {
      name,
      subscribe: (subscriber, how, handler) => this.#subscribe(event, subscriber, how, handler),
      publish: (given, how) => this.#publish(event, given, how),
    };
  }

  /** @throws ConfigurationError for a name that is taken by a job or an event, or that cannot be one. */
  #assertFree(name: string): void {
    assertName(name);
    if (this.#definitions.has(name)) throw jobsError("TSGI_DUPLICATE_JOB", "a job", name);
    if (this.#events.has(name)) throw jobsError("TSGI_DUPLICATE_JOB", "an event", name);
  }

  #subscribe(event: DeclaredEvent, subscriber: string, options: AnyJobOptions, handler: unknown): void {
    assertName(subscriber);
    const name = `${event.name}/${subscriber}`;
    this.#assertFree(name);
    assertOptions(`The subscriber ${JSON.stringify(name)}`, options, SUBSCRIBE_OPTIONS);
    if (this.#store?.program === null) throw jobsError("TSGI_JOBS_WITHOUT_PROGRAM", name);
    const { schema: payload } = event;
    const how = payload === undefined ? options : { ...options, payload };
    const definition = new Definition(name, how, handler, { scope: this.#scope, event: event.name });
    this.#definitions.set(name, definition);
    event.subscribers.push(definition);
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
    if (this.#schedules.has(name)) throw jobsError("TSGI_DUPLICATE_JOB", "a schedule", name);
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

  /** The events that the program declares, for `buildAsyncAPI(app, jobs)` of `@tsgi/openapi-tools`. */
  get events(): readonly EventDeclaration[] {
    return Array.from(this.#events.values(), ({ name, schema, subscribers }) => ({
      name,
      payload: schema,
      subscribers: subscribers.map((subscriber) => subscriber.name),
    }));
  }

  /**
   * Makes a page that lists the jobs, shows them, retries dead ones and cancels others. It is not in the OpenAPI document.
   *
   * @param path - Defaults to `"/jobs"`.
   * @param options - `dependencies` is the guard. Without one, the page is only for clients on the same machine.
   * @throws ConfigurationError for an option that cannot work.
   * @example
   * ```ts
   * import { App, Depends } from "tsgi";
   * import { HTTPBasic } from "tsgi/security";
   * import { Jobs } from "@tsgi/jobs";
   *
   * const jobs = new Jobs({ inline: true });
   * const app = new App({ lifespan: jobs.lifespan });
   * app.includeRouter(jobs.router("/admin/jobs", { dependencies: [Depends(new HTTPBasic())] }));
   * ```
   */
  router(path = "/jobs", options: JobsRouterOptions = {}): Router {
    return createPageRouter(() => this[CONTROL], path, options);
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
      declared: [...this.#definitions.values()],
      schedules: await this.#checkedSchedules(),
      scope: this.#scope,
      options,
    };
    const worker = await RunningWorker.start(settings, signal);
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
      database: sender,
      schedules: Array.from(this.#schedules.values(), ({ name, cron, timezone, job }) => ({
        name,
        cron,
        timezone,
        job,
      })),
      events: () => this.#listEvents(),
      work: (options, signal) => this.#work(options, signal ?? null),
      list: async (state) => (await table()).list([...this.#definitions.keys()], state),
      show: async (id) => (await table()).show(id),
      retry: async (id) => (await table()).retry(id),
      cancel: async (id) => (await table()).cancel(id),
      close: () => this.close(),
      addCheck: (check) => void this.#checks.push(check),
      redirect: (enqueue) => {
        this.#elsewhere = enqueue;
      },
      run: (job) => this.#runOnce(job),
    };
  }

  async #enqueue(definition: Definition, payload: unknown, options: EnqueueOptions = {}): Promise<string | null> {
    assertOptions(`enqueue() of ${definition.name}`, options, ENQUEUE_OPTIONS);
    const envelope = envelopesOf(await definition.payload.pack(payload))(definition.rules);
    if (this.#elsewhere !== null) return this.#elsewhere(enqueued(definition, envelope, options));
    if (this.#inline !== null) {
      this.#sayInline();
      return this.#inline.enqueue(definition, envelope, options);
    }
    const id = (await this.#sender?.enqueue(definition, envelope, options)) ?? null;
    if (id !== null) this.#run.metrics.enqueued(definition.name);
    return id;
  }

  async #publish(event: DeclaredEvent, payload: unknown, options: PublishOptions = {}): Promise<void> {
    assertOptions(`publish() of ${event.name}`, options, PUBLISH_OPTIONS);
    const envelopeOf = envelopesOf(await event.payload.pack(payload));
    const { name, subscribers } = event;
    if (this.#elsewhere !== null) {
      for (const one of subscribers) await this.#elsewhere(enqueued(one, envelopeOf(one.rules), options));
      return;
    }
    if (this.#inline !== null) {
      this.#sayInline();
      for (const one of subscribers) await this.#inline.enqueue(one, envelopeOf(one.rules), options);
      return;
    }
    const written = (await this.#sender?.publish(name, subscribers, envelopeOf, options)) ?? [];
    for (const subscriber of written) this.#run.metrics.enqueued(subscriber);
  }

  /** The declared events, and events with subscribers of other programs. */
  async #listEvents(): Promise<readonly EventRecord[]> {
    const stored = (await this.#sender?.subscribers()) ?? [];
    const inline = [...this.#events.values()].flatMap(({ name: event, subscribers }) =>
      this.#inline === null ? [] : subscribers.map(({ name }) => ({ event, name, program: null })),
    );
    const all = [...stored, ...inline];
    const names = new Set([...this.#events.keys(), ...all.map(({ event }) => event)]);
    return Array.from(names, (name) => ({
      name,
      subscribers: all
        .filter(({ event }) => event === name)
        .map(({ name: subscriber, program }) => ({ name: subscriber, program })),
    }));
  }

  /** The schedules with payloads as JSON stores them. @throws InvalidPayloadError for one that does not fit. */
  #checkedSchedules(): Promise<Schedule[]> {
    return Promise.all(
      Array.from(this.#schedules.values(), async (schedule) => {
        const payload = await this.#definitions.get(schedule.job)?.payload.pack(schedule.envelope.payload);
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
    if (this.#elsewhere === null) await this.#sender?.open();
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

  async #runOnce({ id, name, envelope }: Parameters<JobsControl["run"]>[0]): Promise<void> {
    const definition = this.#definitions.get(name);
    if (definition === undefined) throw jobsError("TSGI_UNKNOWN_QUEUE", name, [...this.#definitions.keys()]);
    const { signal } = new AbortController();
    const run = beginRun({ id, definition, envelope: readEnvelope(envelope), signal }, this.#run);
    const outcome = await run.outcome;
    await run.ended;
    if ("error" in outcome) throw outcome.error;
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

function enqueued(
  { name }: Definition,
  envelope: Envelope,
  { key, tx }: Pick<EnqueueOptions, "key" | "tx">,
): EnqueuedJob {
  return { name, envelope, key, tx };
}

/** Makes the envelopes of a payload: it is the same for all subscribers of an event, each of which has its own rules. */
function envelopesOf(payload: unknown): (rules: Rules) => Envelope {
  const trace = carriedContext();
  return (rules) => ({
    ...(payload === undefined ? {} : { payload }),
    failures: 0,
    ...rules,
    ...(trace === undefined ? {} : { trace }),
  });
}
