/** Tasks of a pool, the wait for them, and the workers that run them. @module */
import { Deferred, MAX_TIMER_MS } from "../../common/promises.js";
import { carriedContext, type Spawn, type TaskTarget, type WorkerEvents, type WorkerHandle } from "./protocol.js";

/** The result of a task. */
export interface Outcome {
  readonly value: unknown;
  /** Milliseconds that it took in the worker. */
  readonly elapsedMs: number;
}

let lastId = 0;

/** A call on its way through a pool. */
export class Task {
  /** Unique in this process. */
  readonly id = ++lastId;
  readonly target: TaskTarget;
  readonly args: readonly unknown[];
  /** The context of the caller. */
  readonly context = carriedContext();
  /** `true` after a worker has reported that it calls it: it must not run again then. */
  hasBegun = false;
  /** Workers that it was given to. */
  attempts = 0;
  /** `true` after its caller has stopped waiting for its outcome. */
  isAbandoned = false;
  readonly #outcome = new Deferred<Outcome>();
  #timer: NodeJS.Timeout | undefined;

  constructor(target: TaskTarget, args: readonly unknown[]) {
    this.target = target;
    this.args = args;
  }

  get outcome(): Promise<Outcome> {
    return this.#outcome.promise;
  }

  /** Replaces its time limit. */
  limit(timeoutMs: number, expire: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = limitTime(timeoutMs, expire);
  }

  resolve(outcome: Outcome): void {
    clearTimeout(this.#timer);
    this.#outcome.resolve(outcome);
  }

  reject(error: Error): void {
    clearTimeout(this.#timer);
    this.#outcome.reject(error);
  }
}

/** Work in progress, which keeps this process alive, because workers do not. */
export class Pending {
  readonly #work = new Set<Promise<unknown>>();
  #keepAlive: NodeJS.Timeout | undefined;

  get isNone(): boolean {
    return this.#work.size === 0;
  }

  /** Adds a piece of work until it has settled. */
  during<T>(work: Promise<T>): Promise<T> {
    this.#work.add(work);
    this.#keepAlive ??= setInterval(() => {}, MAX_TIMER_MS);
    return work.finally(() => {
      this.#work.delete(work);
      if (!this.isNone) return;
      clearInterval(this.#keepAlive);
      this.#keepAlive = undefined;
    });
  }

  /** Resolves when all work has settled. */
  async none(): Promise<void> {
    while (!this.isNone) await Promise.allSettled(this.#work);
  }
}

/**
 * Sets a time limit; `Infinity` for no limit. This loop may have been busy for longer than that, so messages that have
 * arrived meanwhile are handled before the limit expires.
 */
export function limitTime(timeoutMs: number, expire: () => void): ReturnType<typeof setTimeout> | undefined {
  return timeoutMs <= MAX_TIMER_MS ? setTimeout(() => void setImmediate(expire), timeoutMs) : undefined;
}

/** One worker of a pool, from its start to its end. */
export class WorkerSlot {
  readonly handle: WorkerHandle;
  /** `starting` until it is ready or has failed; `ready` while it takes tasks. */
  state: "starting" | "ready" | "ended" = "starting";
  /** The task that it runs. */
  task: Task | null = null;
  startTimer: ReturnType<typeof setTimeout> | undefined;
  /** `true` after it has settled a task. */
  hasServed = false;
  /** `true` once the pool has ended it on purpose. */
  isCondemned = false;

  constructor(spawn: Spawn, events: WorkerEvents) {
    this.handle = spawn(events);
  }

  get isFree(): boolean {
    return this.state === "ready" && this.task === null;
  }

  becomeReady(): void {
    this.state = "ready";
    clearTimeout(this.startTimer);
  }

  /** Terminates it on purpose, even if it is busy. */
  condemn(): void {
    this.isCondemned = true;
    this.task = null;
    this.end();
  }

  end(): void {
    this.state = "ended";
    clearTimeout(this.startTimer);
    this.handle.kill();
  }

  /** Gives it a task. @throws when the arguments cannot be cloned; it is free then. */
  begin(task: Task): void {
    this.handle.send({ type: "run", id: task.id, target: task.target, args: task.args, context: task.context });
    task.attempts++;
    this.task = task;
  }

  /** Takes back the task that it has settled, if it still has it. */
  finish(id: number): Task | null {
    const { task } = this;
    if (task?.id !== id) return null;
    this.task = null;
    this.hasServed = true;
    return task;
  }
}
