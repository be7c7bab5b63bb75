/** Jobs that run in the process that enqueues them. @module */
import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import { Deferred, MAX_TIMER_MS, plural, whenEnded } from "tsgi/internals";
import { beginRun, isLast, type Outcome, type RunSettings } from "./attempt.js";
import { type Definition, type Envelope, pauseMs } from "./definition.js";
import { jobsError } from "./errors.js";
import type { EnqueueOptions } from "./options.js";
import { afterResponse } from "./requests.js";

/** A job that waits or runs. */
interface InlineJob {
  readonly id: string;
  readonly definition: Definition;
  readonly key: string | null;
  readonly priority: number;
  /** The order of jobs with the same priority. */
  readonly order: number;
  envelope: Envelope;
}

/** The owner of a key: a job, or a transaction that may still roll back. */
interface Holder {
  readonly tx: object | null;
  /** Settles when the transaction has ended. */
  readonly ended: Deferred<void> | null;
}

const JOB: Holder = { tx: null, ended: null };

/** Runs jobs in this process. */
export class InlineRunner {
  readonly #settings: RunSettings;
  /** Leaves the context of the request that enqueues: the job does not belong to it. */
  readonly #outside = AsyncLocalStorage.snapshot();
  readonly #due: InlineJob[] = [];
  readonly #delayed = new Map<InlineJob, NodeJS.Timeout>();
  /** The jobs that run, by name. */
  readonly #running = new Map<string, number>();
  readonly #keys = new Map<string, Holder>();
  /** Jobs that wait for a response. */
  #held = 0;
  #active = 0;
  #count = 0;
  #isPumping = false;
  #isClosing = false;
  #idle: Deferred<void> | null = null;

  constructor(settings: RunSettings) {
    this.#settings = settings;
  }

  /**
   * Waits for a transaction that holds the key, as PostgreSQL does: it may roll back.
   *
   * @returns Its id; `null` if a job with its key waits or runs.
   * @throws ConfigurationError for a transaction that cannot be observed.
   */
  async enqueue(definition: Definition, envelope: Envelope, options: EnqueueOptions): Promise<string | null> {
    const { tx = null, delaySeconds = 0, priority = 0, key } = options;
    const lock = key === undefined ? null : `${definition.name} ${key}`;
    for (let holder = this.#holderOf(lock); holder !== undefined; holder = this.#holderOf(lock)) {
      if (holder.ended === null || holder.tx === tx) return null;
      await holder.ended.promise;
    }
    // From here on to the key without a pause: another call may wait for it too.
    const id = randomUUID();
    const job: InlineJob = { id, definition, key: lock, priority, order: this.#count++, envelope };
    const add = () => {
      this.#settings.metrics.enqueued(definition.name);
      this.#outside(() => this.#add(job, delaySeconds * 1_000));
    };
    if (tx === null) this.#addAfterResponse(lock, add);
    else this.#addAtCommit(tx, lock, add);
    return id;
  }

  #holderOf(lock: string | null): Holder | undefined {
    return lock === null ? undefined : this.#keys.get(lock);
  }

  #addAfterResponse(lock: string | null, add: () => void): void {
    if (lock !== null) this.#keys.set(lock, JOB);
    this.#held++;
    afterResponse(() => {
      this.#held--;
      add();
    });
  }

  #addAtCommit(tx: object, lock: string | null, add: () => void): void {
    const ended = new Deferred<void>();
    const isObserved = whenEnded(tx, (hasCommitted) => {
      if (lock !== null && hasCommitted) this.#keys.set(lock, JOB);
      if (lock !== null && !hasCommitted) this.#keys.delete(lock);
      if (hasCommitted) add();
      ended.resolve();
    });
    if (!isObserved) throw jobsError("TSGI_JOBS_INLINE_TRANSACTION");
    if (lock !== null) this.#keys.set(lock, { tx, ended });
  }

  /** Settles when no job waits or runs. */
  async drain(): Promise<void> {
    while (this.#size > 0) await (this.#idle ??= new Deferred<void>()).promise;
  }

  /** The jobs that wait, by name. */
  waiting(names: readonly string[]): ReadonlyMap<string, number> {
    const counts = new Map(names.map((name) => [name, 0]));
    for (const { definition } of [...this.#due, ...this.#delayed.keys()]) {
      counts.set(definition.name, (counts.get(definition.name) ?? 0) + 1);
    }
    return counts;
  }

  /** Runs the jobs that are due, and drops those that are delayed. */
  async close(): Promise<void> {
    this.#isClosing = true;
    const lost = [...this.#delayed.keys()];
    for (const job of lost) this.#remove(job);
    if (lost.length > 0)
      this.#settings.logger.warn({}, `${plural(lost.length, "delayed job")} lost with this process.`);
    await this.drain();
    this.#isClosing = false;
  }

  get #size(): number {
    return this.#held + this.#due.length + this.#delayed.size + this.#active;
  }

  #add(job: InlineJob, delayMs: number): void {
    if (delayMs <= 0) {
      this.#due.push(job);
      return this.#pumpSoon();
    }
    const step = Math.min(delayMs, MAX_TIMER_MS);
    const timer = setTimeout(() => {
      this.#delayed.delete(job);
      this.#add(job, delayMs - step);
    }, step);
    this.#delayed.set(job, timer);
  }

  #remove(job: InlineJob): void {
    clearTimeout(this.#delayed.get(job));
    this.#delayed.delete(job);
    if (job.key !== null) this.#keys.delete(job.key);
    this.#resolveIdle();
  }

  #resolveIdle(): void {
    if (this.#size > 0) return;
    this.#idle?.resolve();
    this.#idle = null;
  }

  /** In another turn of the event loop, so that the caller of `enqueue` continues first. */
  #pumpSoon(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    setImmediate(() => {
      this.#isPumping = false;
      this.#pump();
    });
  }

  #pump(): void {
    const inOrder = this.#due.toSorted((a, b) => b.priority - a.priority || a.order - b.order);
    for (const job of inOrder) {
      const { name, concurrency } = job.definition;
      const running = this.#running.get(name) ?? 0;
      if (running >= concurrency) continue;
      this.#due.splice(this.#due.indexOf(job), 1);
      this.#running.set(name, running + 1);
      this.#active++;
      void this.#run(job);
    }
  }

  /** Never rejects. A handler that continues after its timeout keeps its place. */
  async #run(job: InlineJob): Promise<void> {
    const { id, definition, envelope } = job;
    const { signal } = new AbortController();
    const { outcome, ended } = beginRun({ id, definition, envelope, signal }, this.#settings);
    const settled = await outcome;
    this.#finish(job, settled);
    await ended;
    this.#running.set(definition.name, (this.#running.get(definition.name) ?? 1) - 1);
    this.#active--;
    if (this.#due.length > 0) this.#pumpSoon();
    this.#resolveIdle();
  }

  #finish(job: InlineJob, outcome: Outcome): void {
    const { envelope } = job;
    if (outcome.status !== "failed" || isLast(envelope) || this.#isClosing) return this.#remove(job);
    job.envelope = { ...envelope, failures: envelope.failures + 1 };
    this.#add(job, pauseMs(envelope, job.envelope.failures, outcome.error));
  }
}
