/** A pool of workers: who runs what, who waits, and who takes the place of the dead. @module */
import { messageOf } from "../error-codes.js";
import { ClientDisconnect } from "../exceptions.js";
import {
  EntryError,
  PoolClosedError,
  PoolFullError,
  PoolTimeoutError,
  PoolUnavailableError,
  WorkerDiedError,
} from "./errors.js";
import { type EntryModule, fromSentError, type Report, type RouteTable, type Target } from "./protocol.js";
import { Slot } from "./slot.js";
import { StartFailures } from "./start-failures.js";
import { createTask, limitTime, type Outcome, Pending, type Task } from "./task.js";
import type { Spawn } from "./transport.js";

/** Figures of a pool, as they are now. */
export interface PoolStats {
  /** How many workers it is meant to have. */
  readonly size: number;
  /** How many are up. */
  readonly ready: number;
  /** How many of them run a task. */
  readonly busy: number;
  /** How many tasks wait for one. */
  readonly queued: number;
  /** How many workers were started in the place of one that had ended. */
  readonly restarts: number;
}

/** The application whose routes the workers serve. */
export interface PoolEntry {
  readonly module: EntryModule;
  /** Finds the App among those of a worker: its index, or in words what is different. */
  find(tables: readonly RouteTable[]): number | string;
  /** One clear error from what is wrong with the module. */
  explain(problem: string, cause?: unknown): EntryError;
}

/** How a pool is made. */
export interface WorkerPoolSettings {
  readonly spawn: Spawn;
  readonly size: number;
  /** How many tasks may wait. */
  readonly maxQueue: number;
  /** How long a task may run, and half as long as it may wait before. `Infinity` for as long as it takes. */
  readonly timeoutMs: number;
  readonly entry: PoolEntry | null;
  /** Called when a worker ended that should not have. */
  readonly onDeath: (message: string) => void;
}

/** Who waits for the outcome of a task. */
export interface TaskOwner {
  /** Aborts when nobody waits any more. A task that waits for a worker is taken out of the queue then. */
  readonly signal: AbortSignal;
  /** Whether a task that runs is ended with its worker; else it runs on, and its worker is busy until it ends. */
  readonly endsRunning: boolean;
}

/** A task that waits behind one which is ended for its time has its own turn all the same. */
const WAIT_FACTOR = 2;

/** How long a worker may take to be ready. */
const START_MS = 10_000;

/** Workers of one kind and their tasks, each worker with one at a time. */
export class WorkerPool {
  readonly #settings: WorkerPoolSettings;
  readonly #slots = new Set<Slot>();
  readonly #queue: Task[] = [];
  readonly #failures = new StartFailures();
  readonly #pending = new Pending();
  #restarts = 0;
  #isFilled = false;
  #retry: NodeJS.Timeout | null = null;
  #entryError: EntryError | null = null;
  #closing: Promise<void> | null = null;
  /** Waiting for the first worker to be up, or to fail. */
  #onFirst: ((error: EntryError | null) => void)[] = [];
  #onEmpty: (() => void) | null = null;

  constructor(settings: WorkerPoolSettings) {
    this.#settings = settings;
  }

  get stats(): PoolStats {
    const slots = [...this.#slots];
    return {
      size: this.#settings.size,
      ready: slots.filter(({ isReady }) => isReady).length,
      busy: slots.filter(({ task }) => task !== null).length,
      queued: this.#queue.length,
      restarts: this.#restarts,
    };
  }

  /**
   * Starts a worker, and once it is up as many as there are to be. Resolves also when it died: others are tried.
   * Resolves at once where a task has started one before.
   *
   * @throws EntryError when the module cannot be used.
   */
  async fill(): Promise<void> {
    this.#isFilled = true;
    if (this.stats.ready > 0) return this.#grow();
    const first = () =>
      new Promise<EntryError | null>((resolve) => {
        this.#onFirst.push(resolve);
        this.#grow();
      });
    const error = await this.#pending.during(first);
    if (error) throw error;
  }

  /**
   * Runs a task when a worker is free.
   *
   * @throws what the task throws, or what became of it; ClientDisconnect when its owner has gone.
   */
  run(target: Target, args: readonly unknown[], owner?: TaskOwner): Promise<Outcome> {
    const refusal = owner?.signal.aborted ? new ClientDisconnect() : this.#refusal();
    if (refusal) return Promise.reject(refusal);
    const outcome = () =>
      new Promise<Outcome>((resolve, reject) => {
        const task = createTask(target, args, { resolve, reject });
        this.#limitWait(task);
        this.#queue.push(task);
        owner?.signal.addEventListener("abort", () => this.#abandon(task, owner.endsRunning), { once: true });
        this.#advance();
      });
    return this.#pending.during(outcome);
  }

  /** Takes nothing more, waits for what runs, and ends the workers. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    await this.#pending.none();
    if (this.#retry) clearTimeout(this.#retry);
    for (const slot of this.#slots) slot.handle.stop();
    // Counted as work: a worker that is killed keeps nothing alive, and this process would end before it is gone.
    const emptied = () => new Promise<void>((resolve) => (this.#onEmpty = resolve));
    if (this.#slots.size > 0) await this.#pending.during(emptied);
  }

  #refusal(): Error | null {
    if (this.#closing) return new PoolClosedError("The pool is closed: it takes no more tasks.");
    const { size, ready, busy, queued } = this.stats;
    if (ready === 0 && this.#failures.isHopeless && (this.#retry || this.#slots.size > 0)) {
      return new PoolUnavailableError(this.#failures.delaySeconds);
    }
    if (ready === 0 && this.#retry && this.#entryError) return this.#entryError;
    return busy + queued >= size + this.#settings.maxQueue ? new PoolFullError() : null;
  }

  #limit(task: Task, timeoutMs: number, expire: () => void): void {
    clearTimeout(task.timer);
    task.timer = limitTime(timeoutMs, expire);
  }

  #limitWait(task: Task): void {
    this.#limit(task, WAIT_FACTOR * this.#settings.timeoutMs, () => this.#expireQueued(task));
  }

  /** No worker became free in time: as with a full queue, there is more to do than workers. */
  #expireQueued(task: Task): void {
    if (this.#takeOut(task)) task.settle.reject(new PoolFullError());
  }

  #takeOut(task: Task): boolean {
    const index = this.#queue.indexOf(task);
    if (index >= 0) this.#queue.splice(index, 1);
    return index >= 0;
  }

  /** Attack: requests that are aborted at once would else hold up all others for as long as their tasks take. */
  #abandon(task: Task, endsRunning: boolean): void {
    task.isAbandoned = true;
    if (!this.#takeOut(task)) {
      const slot = [...this.#slots].find((one) => one.task === task);
      if (!endsRunning || slot === undefined) return;
      slot.condemn();
    }
    clearTimeout(task.timer);
    task.settle.reject(new ClientDisconnect());
  }

  /** Gives tasks to free workers, and starts more where that is not enough. */
  #advance(): void {
    for (const slot of this.#slots) {
      if (slot.isFree) this.#assign(slot);
    }
    this.#grow();
  }

  #assign(slot: Slot): void {
    for (let task = this.#queue.shift(); task; task = this.#queue.shift()) {
      try {
        slot.begin(task);
      } catch (error) {
        clearTimeout(task.timer);
        task.settle.reject(new TypeError(`An argument cannot be cloned: ${String(error)}`, { cause: error }));
        continue;
      }
      const assigned = task;
      this.#limit(task, this.#settings.timeoutMs, () => this.#expireRunning(slot, assigned));
      return;
    }
  }

  #expireRunning(slot: Slot, task: Task): void {
    if (slot.task !== task) return;
    slot.condemn();
    task.settle.reject(new PoolTimeoutError());
  }

  #grow(): void {
    const { size } = this.#settings;
    const starting = [...this.#slots].filter(({ isStarting }) => isStarting).length;
    const isEager = this.#isFilled && !this.#entryError && !this.#closing;
    const wanted = isEager ? size : Math.min(size, this.#slots.size - starting + this.#queue.length);
    // The first tells whether the others can start at all, and so does the one that is tried after a failure.
    const isTrying = this.#failures.count > 0 || (this.#isFilled && !this.#failures.hasSucceeded);
    const most = isTrying ? 1 : size;
    if (this.#retry) return;
    for (let count = starting; count < most && this.#slots.size < wanted; count++) this.#start();
  }

  #start(): void {
    const { entry, spawn } = this.#settings;
    const slot = new Slot(spawn, {
      report: (report) => this.#take(slot, report),
      gone: (how) => this.#bury(slot, how),
    });
    this.#slots.add(slot);
    slot.startTimer = limitTime(START_MS, () =>
      this.#failStart(slot, `has not finished importing in ${START_MS / 1000} seconds`),
    );
    slot.startTimer?.unref();
    slot.handle.send({ type: "start", entry: entry?.module ?? null });
  }

  #take(slot: Slot, report: Report): void {
    switch (report.type) {
      case "ready":
        return this.#welcome(slot);
      case "failed":
        return this.#failStart(slot, "cannot be imported", fromSentError(report.error));
      case "tables":
        return this.#compare(slot, report.tables, report.isFinal);
      case "begun":
        if (slot.task?.id === report.id) slot.task.hasBegun = true;
        return;
      default: {
        const task = slot.finish(report.id);
        if (!task) return; // Its time was over.
        clearTimeout(task.timer);
        if (report.type === "done") task.settle.resolve({ value: report.value, elapsedMs: report.elapsedMs });
        else task.settle.reject(fromSentError(report.error));
        this.#advance();
      }
    }
  }

  #compare(slot: Slot, tables: readonly RouteTable[], isFinal: boolean): void {
    if (!slot.isStarting) return;
    const found = this.#settings.entry?.find(tables) ?? 0;
    if (typeof found === "number") {
      slot.handle.send({ type: "use", app: found });
      this.#welcome(slot);
    } else if (isFinal) this.#failStart(slot, found);
  }

  #welcome(slot: Slot): void {
    slot.becomeReady();
    this.#failures.succeed();
    this.#entryError = null;
    this.#tellFirst(null);
    this.#advance();
  }

  #tellFirst(error: EntryError | null): void {
    const waiting = this.#onFirst;
    this.#onFirst = [];
    for (const resolve of waiting) resolve(error);
  }

  /** The module is of no use in a worker. Whoever waits is told why. */
  #failStart(slot: Slot, problem: string, cause?: unknown): void {
    if (!slot.isStarting) return;
    slot.condemn();
    const error =
      this.#settings.entry?.explain(problem, cause) ??
      new EntryError(messageOf("TSGI_UNUSABLE_ENTRY.worker", problem), { cause });
    this.#entryError = error;
    this.#failures.add();
    this.#tellFirst(error);
    if (!this.stats.ready) this.#rejectQueued(error);
    this.#replace();
  }

  #rejectQueued(error: Error): void {
    for (const task of this.#queue.splice(0)) {
      clearTimeout(task.timer);
      task.settle.reject(error);
    }
  }

  /** A worker is gone: its own task fails, or is given to another if it was never begun. */
  #bury(slot: Slot, how: string): void {
    this.#slots.delete(slot);
    if (this.#slots.size === 0) this.#onEmpty?.();
    const { task } = slot;
    slot.task = null;
    const wasOfUse = slot.hasServed || task !== null || slot.isCondemned;
    slot.fail();
    if (this.#closing && this.#pending.isNone) return;
    this.#restarts++;
    if (!wasOfUse) {
      this.#failures.add();
      this.#settings.onDeath(`A pool worker ended ${how} before it was of use. Another is tried.`);
      this.#tellFirst(null);
      if (this.#failures.isHopeless && !this.stats.ready) {
        this.#rejectQueued(new PoolUnavailableError(this.#failures.delaySeconds));
      }
    }
    if (task) this.#bereave(task, how);
    this.#replace();
  }

  #bereave(task: Task, how: string): void {
    clearTimeout(task.timer);
    if (task.isAbandoned) task.settle.reject(new ClientDisconnect());
    else if (!task.hasBegun && task.attempts < 3) {
      this.#limitWait(task);
      this.#queue.unshift(task);
    } else {
      task.settle.reject(new WorkerDiedError(`The pool worker that ran it ended ${how}. Another takes its place.`));
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
