/** A pool of workers, the queue of their tasks, and the replacement of workers that end. @module */
import { messageOf } from "../../common/error-codes.js";
import { ClientDisconnect } from "../../common/exceptions.js";
import {
  EntryError,
  PoolClosedError,
  PoolFullError,
  PoolTimeoutError,
  PoolUnavailableError,
  WorkerDiedError,
  StartFailures,
} from "./errors.js";
import {
  type EntryModule,
  fromSentError,
  type Report,
  type RouteTable,
  type Spawn,
  type TaskTarget,
} from "./protocol.js";
import { limitTime, type Outcome, Pending, Task, WorkerSlot } from "./task.js";

/** Figures of a pool, as they are now. */
export interface PoolStats {
  /** Workers at most. */
  readonly size: number;
  /** Workers that take tasks. */
  readonly ready: number;
  /** Workers that run a task. */
  readonly busy: number;
  /** Tasks that wait for a worker. */
  readonly queued: number;
  /** Workers that replaced one which had ended. */
  readonly restarts: number;
}

/** The application whose routes the workers serve. */
export interface PoolEntry {
  readonly module: EntryModule;
  /** Finds the App among those of a worker: its index, or a description of the difference. */
  find(tables: readonly RouteTable[]): number | string;
  /** One clear error about a problem with the module. */
  explain(problem: string, cause?: unknown): EntryError;
}

/** Settings of a `WorkerPool`. */
export interface WorkerPoolSettings {
  readonly spawn: Spawn;
  readonly size: number;
  /** Tasks that may wait. */
  readonly maxQueue: number;
  /** Milliseconds that a task may run; it may wait twice as long before. `Infinity` for no limit. */
  readonly timeoutMs: number;
  readonly entry: PoolEntry | null;
  /** Called when a worker has ended unexpectedly. */
  readonly onDeath: (message: string) => void;
}

/** The caller that waits for the outcome of a task. */
export interface TaskOwner {
  /** Aborts when the caller no longer waits. A queued task is removed then. */
  readonly signal: AbortSignal;
  /** `true` to kill a running task with its worker, which is busy until the end of the task otherwise. */
  readonly endsRunning: boolean;
}

/** Above 1, so that a task behind one that times out still gets its turn. */
const WAIT_FACTOR = 2;

/** Milliseconds that a worker may take to be ready. */
const START_MS = 10_000;

/** Workers of one kind and their tasks, each worker with one at a time. */
export class WorkerPool {
  readonly #settings: WorkerPoolSettings;
  readonly #slots = new Set<WorkerSlot>();
  readonly #queue: Task[] = [];
  readonly #failures = new StartFailures();
  readonly #pending = new Pending();
  #restarts = 0;
  #isFilled = false;
  /** Workers that are replaced when they end: as many as have been needed at once, all if the pool is filled. */
  #kept = 0;
  #retry: NodeJS.Timeout | null = null;
  #entryError: EntryError | null = null;
  #closing: Promise<void> | null = null;
  /** `true` once the pool has told its workers to end. */
  #isStopping = false;
  /** Callers that wait for the first worker to be ready, or to fail. */
  #onFirst: ((error: EntryError | null) => void)[] = [];
  #onEmpty: (() => void) | null = null;

  constructor(settings: WorkerPoolSettings) {
    this.#settings = settings;
  }

  get stats(): PoolStats {
    const slots = [...this.#slots];
    return {
      size: this.#settings.size,
      ready: slots.filter(({ state }) => state === "ready").length,
      busy: slots.filter(({ task }) => task !== null).length,
      queued: this.#queue.length,
      restarts: this.#restarts,
    };
  }

  /**
   * Starts one worker, and the others once it is ready. Resolves also when it died: others are tried. Resolves
   * immediately if a task has started one before.
   *
   * @throws EntryError when the module cannot be used.
   */
  async fill(): Promise<void> {
    this.#isFilled = true;
    this.#kept = this.#settings.size;
    if (this.stats.ready > 0) return this.#grow();
    const first = new Promise<EntryError | null>((resolve) => this.#onFirst.push(resolve));
    this.#grow();
    const error = await this.#pending.during(first);
    if (error) throw error;
  }

  /**
   * Runs a task when a worker is free.
   *
   * @throws the error of the task, or the reason why it was not run; ClientDisconnect if its owner has disconnected.
   */
  run(target: TaskTarget, args: readonly unknown[], owner?: TaskOwner): Promise<Outcome> {
    const refusal = owner?.signal.aborted ? new ClientDisconnect() : this.#refusal();
    if (refusal) return Promise.reject(refusal);
    const task = new Task(target, args);
    this.#limitWait(task);
    this.#queue.push(task);
    owner?.signal.addEventListener("abort", () => this.#abandon(task, owner.endsRunning), { once: true });
    const outcome = this.#pending.during(task.outcome);
    this.#advance();
    return outcome;
  }

  /** Takes no more tasks, waits for those it has, and ends the workers. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    await this.#pending.none();
    if (this.#retry) clearTimeout(this.#retry);
    this.#isStopping = true;
    for (const slot of this.#slots) slot.handle.stop();
    // Counted as work: a killed worker does not keep this process alive, which would exit before the worker does.
    if (this.#slots.size > 0) await this.#pending.during(new Promise<void>((resolve) => (this.#onEmpty = resolve)));
  }

  #refusal(): Error | null {
    if (this.#closing) return new PoolClosedError("The pool is closed: it takes no more tasks.");
    const { size, ready, busy, queued } = this.stats;
    if (ready === 0 && this.#failures.isHopeless && (this.#retry || this.#slots.size > 0)) {
      return new PoolUnavailableError(this.#failures.delaySeconds);
    }
    if (ready === 0 && this.#retry && this.#entryError) return this.#entryError;
    // The first calls of an App's handlers wait for the start of a worker, and not for other calls.
    if (this.#settings.entry !== null && !this.#failures.hasSucceeded) return null;
    return busy + queued >= size + this.#settings.maxQueue ? new PoolFullError() : null;
  }

  /** A task for which no worker is free in time fails as with a full queue: there is more to do than workers. */
  #limitWait(task: Task): void {
    task.limit(WAIT_FACTOR * this.#settings.timeoutMs, () => {
      if (this.#dequeue(task)) task.reject(new PoolFullError());
    });
  }

  #dequeue(task: Task): boolean {
    const index = this.#queue.indexOf(task);
    if (index >= 0) this.#queue.splice(index, 1);
    return index >= 0;
  }

  /** Attack: requests that are aborted at once would else hold up all others for as long as their tasks take. */
  #abandon(task: Task, endsRunning: boolean): void {
    task.isAbandoned = true;
    if (!this.#dequeue(task)) {
      const slot = [...this.#slots].find((one) => one.task === task);
      if (!endsRunning || slot === undefined) return;
      slot.condemn();
    }
    task.reject(new ClientDisconnect());
  }

  /** Assigns tasks to free workers, and starts more if necessary. */
  #advance(): void {
    for (const slot of this.#slots) {
      while (slot.isFree && this.#queue.length > 0) this.#assign(slot, this.#queue.shift() as Task);
    }
    this.#grow();
  }

  #assign(slot: WorkerSlot, task: Task): void {
    try {
      slot.begin(task);
    } catch (error) {
      return task.reject(new TypeError(`An argument cannot be cloned: ${String(error)}`, { cause: error }));
    }
    task.limit(this.#settings.timeoutMs, () => {
      if (slot.task !== task) return;
      slot.condemn();
      task.reject(new PoolTimeoutError());
    });
  }

  #grow(): void {
    if (this.#retry) return;
    const { size } = this.#settings;
    const starting = [...this.#slots].filter(({ state }) => state === "starting").length;
    const kept = this.#entryError || this.#closing ? 0 : this.#kept;
    const wanted = Math.max(kept, Math.min(size, this.#slots.size - starting + this.#queue.length));
    // The first shows whether the others can start at all, and so does the one that is tried after a failure.
    const isTrying = this.#failures.count > 0 || (this.#isFilled && !this.#failures.hasSucceeded);
    const most = isTrying ? 1 : size;
    for (let count = starting; count < most && this.#slots.size < wanted; count++) this.#start();
  }

  #start(): void {
    const { entry, spawn } = this.#settings;
    const slot = new WorkerSlot(spawn, {
      report: (report) => this.#onReport(slot, report),
      gone: (how) => this.#onExit(slot, how),
    });
    this.#slots.add(slot);
    slot.startTimer = limitTime(START_MS, () =>
      this.#failStart(slot, `has not finished importing in ${START_MS / 1000} seconds`),
    );
    slot.startTimer?.unref();
    slot.handle.send({ type: "start", entry: entry?.module ?? null });
  }

  #onReport(slot: WorkerSlot, report: Report): void {
    switch (report.type) {
      case "ready":
        return this.#onReady(slot);
      case "failed":
        return this.#failStart(slot, "cannot be imported", fromSentError(report.error));
      case "tables":
        return this.#compare(slot, report.tables, report.isFinal);
      case "begun":
        if (slot.task?.id === report.id) slot.task.hasBegun = true;
        return;
      default: {
        const task = slot.finish(report.id);
        if (!task) return; // It has timed out.
        if (report.type === "done") task.resolve({ value: report.value, elapsedMs: report.elapsedMs });
        else task.reject(fromSentError(report.error));
        this.#advance();
      }
    }
  }

  #compare(slot: WorkerSlot, tables: readonly RouteTable[], isFinal: boolean): void {
    if (slot.state !== "starting") return;
    const found = this.#settings.entry?.find(tables) ?? 0;
    if (typeof found === "number") {
      slot.handle.send({ type: "use", app: found });
      this.#onReady(slot);
    } else if (isFinal) this.#failStart(slot, found);
  }

  #onReady(slot: WorkerSlot): void {
    slot.becomeReady();
    this.#kept = Math.max(this.#kept, this.stats.ready);
    this.#failures.succeed();
    this.#entryError = null;
    this.#notifyFirst(null);
    this.#advance();
  }

  #notifyFirst(error: EntryError | null): void {
    for (const resolve of this.#onFirst.splice(0)) resolve(error);
  }

  /** The module cannot be used in a worker: every caller that waits gets the reason. */
  #failStart(slot: WorkerSlot, problem: string, cause?: unknown): void {
    if (slot.state !== "starting") return;
    slot.condemn();
    const error =
      this.#settings.entry?.explain(problem, cause) ??
      new EntryError(messageOf("TSGI_UNUSABLE_ENTRY.worker", problem), { cause });
    this.#entryError = error;
    this.#failures.add();
    this.#notifyFirst(error);
    if (!this.stats.ready) this.#rejectQueued(error);
    this.#replace();
  }

  #rejectQueued(error: Error): void {
    for (const task of this.#queue.splice(0)) task.reject(error);
  }

  #onExit(slot: WorkerSlot, how: string): void {
    this.#slots.delete(slot);
    if (this.#slots.size === 0) this.#onEmpty?.();
    const { task } = slot;
    slot.task = null;
    const wasOfUse = slot.hasServed || task !== null || slot.isCondemned;
    slot.end();
    if (this.#isStopping) return;
    this.#restarts++;
    if (!wasOfUse) {
      this.#failures.add();
      this.#settings.onDeath(`A pool worker ended ${how} before it was of use. Another is tried.`);
      this.#notifyFirst(null);
      if (this.#failures.isHopeless && !this.stats.ready) {
        this.#rejectQueued(new PoolUnavailableError(this.#failures.delaySeconds));
      }
    }
    if (task) this.#requeueOrFail(task, how);
    this.#replace();
  }

  /** Gives the task of a worker that has ended to another, unless it has begun. */
  #requeueOrFail(task: Task, how: string): void {
    if (task.isAbandoned) task.reject(new ClientDisconnect());
    else if (!task.hasBegun && task.attempts < 3) {
      this.#limitWait(task);
      this.#queue.unshift(task);
    } else {
      task.reject(new WorkerDiedError(`The pool worker that ran it ended ${how}. Another takes its place.`));
    }
  }

  #replace(): void {
    if (this.#failures.count === 0) return this.#advance();
    if (this.#retry) return;
    this.#retry = setTimeout(() => {
      this.#retry = null;
      this.#advance();
    }, this.#failures.delayMs);
    this.#retry.unref();
  }
}
