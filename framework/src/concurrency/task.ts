/** Tasks of a pool, and the wait for them. @module */
import type { Target } from "./protocol.js";

/** What came of a task. */
export interface Outcome {
  readonly value: unknown;
  /** How long it took in the worker, in milliseconds. */
  readonly elapsedMs: number;
}

/** A call on its way through a pool. */
export interface Task {
  readonly id: number;
  readonly target: Target;
  readonly args: readonly unknown[];
  readonly settle: { resolve(outcome: Outcome): void; reject(error: Error): void };
  /** Ends the wait for a worker, and then for the task. */
  timer: NodeJS.Timeout | undefined;
  /** Whether a worker has said that it calls it: it may not be run again then. */
  hasBegun: boolean;
  /** How many workers it was given to. */
  attempts: number;
  /** Whether nobody waits for its outcome any more. */
  isAbandoned: boolean;
}

let lastId = 0;

/** Makes a task with an id of its own in this process. */
export function createTask(target: Target, args: readonly unknown[], settle: Task["settle"]): Task {
  return { id: ++lastId, target, args, settle, timer: undefined, hasBegun: false, attempts: 0, isAbandoned: false };
}

/** Counts what is under way, and keeps this process while there is something: workers alone do not keep it. */
export class Pending {
  #count = 0;
  #keepAlive: NodeJS.Timeout | null = null;
  #onNone: (() => void)[] = [];

  /** Whether nothing is under way. */
  get isNone(): boolean {
    return this.#count === 0;
  }

  /** Counts a piece of work until it has settled. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#count++;
    this.#keepAlive ??= setInterval(() => {}, LONGEST_DELAY_MS);
    try {
      return await work();
    } finally {
      if (--this.#count === 0) this.#end();
    }
  }

  /** Waits until nothing is under way. */
  async none(): Promise<void> {
    if (!this.isNone) await new Promise<void>((resolve) => this.#onNone.push(resolve));
  }

  #end(): void {
    if (this.#keepAlive) clearInterval(this.#keepAlive);
    this.#keepAlive = null;
    for (const resolve of this.#onNone.splice(0)) resolve();
  }
}

/** The longest delay that a timer takes. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/**
 * Sets a time limit; `Infinity` is none. This loop may have been busy for longer than that: what has come meanwhile is
 * heard before the limit is.
 */
export function limitTime(timeoutMs: number, expire: () => void): NodeJS.Timeout | undefined {
  return timeoutMs <= LONGEST_DELAY_MS ? setTimeout(() => void setImmediate(expire), timeoutMs) : undefined;
}
