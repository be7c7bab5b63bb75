/** A worker: takes jobs from PostgreSQL and runs them. @module */
import { setTimeout as delay } from "node:timers/promises";
import { unlessAborted, type WorkScope } from "tsgi/internals";
import { beginRun, type RunSettings } from "./attempt.js";
import { type Definition, readEnvelope } from "./definition.js";
import type { WorkOptions } from "./options.js";
import { type Schedule, storeSchedules, workOnOccurrences } from "./schedules.js";
import { type HeldJob, OutcomeWriter } from "./outcomes.js";
import { Slots } from "./slots.js";
import { changedBy, connect, type Connection, HEARTBEAT_SECONDS, OutageLog, type StoreSettings } from "./store.js";
import { Subscriptions } from "./subscriptions.js";

/** Milliseconds between two looks at a queue that had no more jobs. */
const POLL_MS = 500;

/** Milliseconds that handlers have to clean up once their jobs have been given back. */
const UNWIND_MS = 1_000;

/**
 * A killed worker is noticed after its heartbeat, when the next pass looks: at most 10 + 2 × 10 s. pg-boss makes a pass if
 * both intervals have passed.
 */
const SUPERVISION = { superviseIntervalSeconds: 10, monitorIntervalSeconds: 10 };

/** An occurrence is found within 10 s, and handed on within 2. */
const SCHEDULING = { cronMonitorIntervalSeconds: 10, cronWorkerIntervalSeconds: 1 };

/** Everything that a worker runs. */
export interface WorkerSettings {
  readonly store: StoreSettings;
  readonly run: RunSettings;
  /** The jobs that it runs. */
  readonly definitions: readonly Definition[];
  /** All jobs of the program. */
  readonly declared: readonly Definition[];
  readonly schedules: readonly Schedule[];
  readonly scope: WorkScope;
  readonly options: WorkOptions;
}

/** A job that runs. */
interface Running {
  readonly job: HeldJob;
  readonly abort: AbortController;
  /** Settles when its outcome is written, and its handler has ended. Never rejects. */
  readonly ended: Promise<void>;
  isSettled: boolean;
}

function disconnect({ boss }: Connection): Promise<void> {
  return boss.stop({ graceful: false });
}

/** Runs jobs until it is stopped. */
export class RunningWorker {
  readonly #settings: WorkerSettings;
  readonly #connection: Connection;
  readonly #outcomes: OutcomeWriter;
  readonly #outages: OutageLog;
  readonly #stopScope: () => Promise<void>;
  readonly #running = new Set<Running>();
  readonly #stopping = new AbortController();
  readonly #total: Slots;
  readonly #loops: Promise<void>[] = [];
  readonly #heartbeat: NodeJS.Timeout;
  #stopped: Promise<void> | null = null;

  private constructor(settings: WorkerSettings, connection: Connection, stopScope: () => Promise<void>) {
    this.#settings = settings;
    this.#connection = connection;
    this.#outcomes = new OutcomeWriter(connection);
    this.#outages = new OutageLog(settings.run.logger);
    this.#stopScope = stopScope;
    this.#total = new Slots(settings.options.concurrency ?? Number.MAX_SAFE_INTEGER);
    this.#heartbeat = setInterval(() => void this.#beat(), (HEARTBEAT_SECONDS * 1_000) / 3);
    for (const definition of settings.definitions) this.#loops.push(this.#loop(definition));
  }

  /**
   * Starts the values of scope `"app"`, connects, and takes jobs.
   *
   * @param signal - Aborts when the start is to be undone instead of completed.
   */
  static async start(settings: WorkerSettings, signal: AbortSignal | null): Promise<RunningWorker> {
    const stopScope = await settings.scope.start(signal);
    const connecting = RunningWorker.#connect(settings);
    try {
      const connection = await unlessAborted(connecting, signal);
      return new RunningWorker(settings, connection, stopScope);
    } catch (error) {
      connecting.then(disconnect, () => {}); // after an abort
      await stopScope();
      throw error;
    }
  }

  static async #connect({ store, declared, options, schedules, run }: WorkerSettings): Promise<Connection> {
    const connection = await connect(store, declared, { ...SUPERVISION, ...SCHEDULING });
    try {
      if (options.queues === undefined && store.program !== null) {
        const subscribers = declared.filter(({ event }) => event !== null).map(({ name }) => name);
        await new Subscriptions(connection.db, store.schema).removeOthers(store.program, subscribers);
      }
      await storeSchedules(connection, schedules);
      await workOnOccurrences(connection, run.logger);
      return connection;
    } catch (error) {
      await disconnect(connection);
      throw error;
    }
  }

  /**
   * Takes no more jobs, waits for those that run, aborts those that run for too long and returns them to the queue.
   *
   * @param timeoutMs - The time for those that run.
   */
  stop(timeoutMs = this.#settings.options.shutdownTimeoutMs ?? 10_000): Promise<void> {
    return (this.#stopped ??= this.#stop(timeoutMs));
  }

  async #stop(timeoutMs: number): Promise<void> {
    this.#stopping.abort();
    const timer = new AbortController();
    const allEnded = Promise.all(this.#loops).then(() => this.#allEnded());
    const { logger } = this.#settings.run;
    await Promise.race([allEnded, delay(timeoutMs, undefined, { signal: timer.signal }).catch(() => {})]);
    timer.abort();
    const late = [...this.#running];
    if (late.length > 0) {
      const unsettled = late.filter(({ isSettled }) => !isSettled);
      for (const { abort } of late) abort.abort(new DOMException("The worker stops", "AbortError"));
      const given = await Promise.allSettled(unsettled.map(({ job }) => this.#outcomes.giveBack(job)));
      for (const result of given) if (result.status === "rejected") this.#outages.report(result.reason);
      const names = [...new Set(unsettled.map(({ job }) => job.name))].join(", ");
      if (unsettled.length > 0) logger.warn({}, `The worker stops: running jobs are given back: ${names}`);
      const unwinding = new AbortController();
      await Promise.race([this.#allEnded(), delay(UNWIND_MS, undefined, { signal: unwinding.signal }).catch(() => {})]);
      unwinding.abort();
    }
    clearInterval(this.#heartbeat);
    await this.#stopScope();
    await disconnect(this.#connection);
  }

  async #allEnded(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(Array.from(this.#running, ({ ended }) => ended));
  }

  /** Takes jobs of one queue, as many as may run. Never rejects. */
  async #loop(definition: Definition): Promise<void> {
    const { signal } = this.#stopping;
    const own = new Slots(definition.concurrency);
    const release = (count: number) => {
      own.release(count);
      this.#total.release(count);
    };
    while (!signal.aborted) {
      const mine = await own.take(definition.concurrency, signal);
      const free = await this.#total.take(mine, signal);
      own.release(mine - free);
      if (free === 0) continue;
      const jobs = await this.#fetch(definition.name, free);
      release(free - jobs.length);
      for (const job of jobs) this.#begin(definition, job, () => release(1));
      if (jobs.length < free) await delay(POLL_MS, undefined, { signal }).catch(() => {});
    }
  }

  async #fetch(name: string, count: number): Promise<readonly FetchedJob[]> {
    try {
      return await this.#connection.boss.fetch<unknown>(name, { batchSize: count });
    } catch (error) {
      this.#outages.report(error);
      return [];
    }
  }

  #begin(definition: Definition, { id, retryCount, data }: FetchedJob, release: () => void): void {
    const envelope = readEnvelope(data);
    const job: HeldJob = { id, retryCount, name: definition.name };
    const abort = new AbortController();
    const { outcome, ended } = beginRun({ id, definition, envelope, signal: abort.signal }, this.#settings.run);
    const written = outcome.then((settled) => this.#outcomes.write(job, envelope, settled));
    const running: Running = {
      job,
      abort,
      isSettled: false,
      ended: written
        .catch((error: unknown) => this.#outages.report(error))
        .then(async () => {
          running.isSettled = true;
          await ended;
          this.#running.delete(running);
          release();
        }),
    };
    this.#running.add(running);
  }

  /** Shows that this worker lives, and aborts the jobs that it no longer holds. Never rejects. */
  async #beat(): Promise<void> {
    const held = [...this.#running].filter(({ isSettled }) => !isSettled);
    const names = new Set(held.map(({ job }) => job.name));
    await Promise.all(
      Array.from(names, (name) =>
        this.#touch(
          name,
          held.filter(({ job }) => job.name === name),
        ),
      ),
    );
  }

  async #touch(name: string, held: readonly Running[]): Promise<void> {
    try {
      const attempts = held.map(({ job: { id, retryCount } }) => ({ id, retryCount }));
      const { ids } = changedBy(await this.#connection.boss.touch(name, attempts));
      if (ids === null) return;
      const kept = new Set(ids);
      for (const { job, abort, isSettled } of held) {
        if (isSettled || kept.has(job.id)) continue;
        abort.abort(new DOMException("The job was cancelled, or given to another worker", "AbortError"));
      }
    } catch (error) {
      this.#outages.report(error);
    }
  }
}

/** A job as pg-boss hands it out. */
interface FetchedJob {
  readonly id: string;
  readonly retryCount: number;
  readonly data: unknown;
}
