/** Tasks of a pool, and the wait for them. @module */
import { Deferred } from "../promises.js";
import type { Target } from "./protocol.js";

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
  readonly target: Target;
  readonly args: readonly unknown[];
  /** `true` once a worker has reported that it calls it: it must not run again then. */
  hasBegun = false;
  /** Workers that it was given to. */
  attempts = 0;
  /** `true` once nobody waits for its outcome. */
  isAbandoned = false;
  readonly #outcome = new Deferred<Outcome>();
  #timer: NodeJS.Timeout | undefined;

  constructor(target: Target, args: readonly unknown[]) {
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

/** Counts work in progress, and keeps this process alive while there is some: workers alone do not. */
export class Pending {
  #count = 0;
  #keepAlive: NodeJS.Timeout | undefined;
  #onNone: (() => void)[] = [];

  get isNone(): boolean {
    return this.#count === 0;
  }

  /** Counts a piece of work until it has settled. */
  async during<T>(work: Promise<T>): Promise<T> {
    this.#count++;
    this.#keepAlive ??= setInterval(() => {}, LONGEST_DELAY_MS);
    try {
      return await work;
    } finally {
      if (--this.#count === 0) this.#end();
    }
  }

  /** Resolves when there is no work in progress. */
  async none(): Promise<void> {
    if (!this.isNone) await new Promise<void>((resolve) => this.#onNone.push(resolve));
  }

  #end(): void {
    clearInterval(this.#keepAlive);
    this.#keepAlive = undefined;
    for (const resolve of this.#onNone.splice(0)) resolve();
  }
}

/** The longest delay that a timer takes. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/**
 * Sets a time limit; `Infinity` is none. This loop may have been busy for longer than that, so messages that have
 * arrived meanwhile are handled before the limit expires.
 */
export function limitTime(timeoutMs: number, expire: () => void): NodeJS.Timeout | undefined {
  return timeoutMs <= LONGEST_DELAY_MS ? setTimeout(() => void setImmediate(expire), timeoutMs) : undefined;
}
