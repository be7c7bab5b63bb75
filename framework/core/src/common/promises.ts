/// <reference lib="esnext.disposable" preserve="true" />
/** Promises that their caller may not await. @module */
import { isBun } from "./runtime.js";
import * as timers from "./timers.js";

function ignore(): void {}

/**
 * Marks the rejection of a promise as handled, and returns the same promise, which still rejects when it is awaited.
 *
 * Attack: Node ends the process at an unhandled rejection. A client that disconnects at the right moment rejects
 * pending calls, so one forgotten `await` in an application would crash it for all clients.
 */
export function markHandled<Result>(promise: Promise<Result>): Promise<Result>;
export function markHandled<Result>(promise: Promise<Result> | void): Promise<Result> | void;
export function markHandled(promise: Promise<unknown> | void): Promise<unknown> | void {
  if (promise) promise.then(undefined, ignore);
  return promise;
}

/** A promise for work that is already done. */
export const RESOLVED: Promise<void> = Promise.resolve();

/** Bun's function that reads a promise without waiting. */
interface Peek {
  <Value>(promise: Promise<Value>): Value;
  status(promise: Promise<unknown>): "fulfilled" | "pending" | "rejected";
}

/**
 * Reads a promise that is fulfilled; `null` on other runtimes, which have no such function. A handler of `Bun.serve` that has not
 * responded when it returns takes 2 of 25 µs longer, however short it waits: Bun copies the request (Bun 1.4).
 */
export const peek: Peek | null = isBun ? (globalThis as unknown as { Bun: { peek: Peek } }).Bun.peek : null;

/** Returns whether {@link peek} can read a value. */
export function isFulfilled(value: unknown): value is Promise<unknown> {
  return value instanceof Promise && peek?.status(value) === "fulfilled";
}

/** A promise that never settles. */
export const NEVER: Promise<never> = new Promise(() => {});

/** The longest delay of `setTimeout`, 25 days in milliseconds. Node fires a timer with a longer one after 1 ms. */
export const MAX_TIMER_MS = 2_147_483_647;

/** `setTimeout` of a web runtime returns a number. */
interface Timer {
  unref?(): void;
}

/** Calls `fn` later, without keeping the process alive for it. */
export function setIdleTimeout(fn: () => void, ms: number): ReturnType<typeof setTimeout> {
  const timer = setTimeout(fn, ms);
  (timer as Timer).unref?.();
  return timer;
}

/** A promise with its resolvers, as of `Promise.withResolvers`, which Node has from 22 on. It counts as handled if it rejects. */
export class Deferred<Value> {
  declare resolve: (value: Value) => void;
  declare reject: (error: unknown) => void;
  readonly promise = new Promise<Value>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = (error) => {
      void markHandled(this.promise);
      reject(error); // oxlint-disable-line typescript/prefer-promise-reject-errors -- the caller's reason
    };
  });
}

/**
 * Marks the promises that methods return, by a wrapper on the prototype: an async method has no access to its own promise.
 * Call it in a static block, with every method that returns a promise.
 */
export function markMethods<Prototype extends object>(prototype: Prototype, names: readonly (keyof Prototype)[]): void {
  for (const name of names) {
    const method = prototype[name] as (...args: readonly unknown[]) => Promise<unknown> | void;
    const marking = function (this: Prototype, ...args: readonly unknown[]): Promise<unknown> | void {
      return markHandled(Reflect.apply(method, this, args));
    };
    Object.defineProperty(marking, "name", { value: method.name });
    Object.defineProperty(prototype, name, { value: marking, writable: true, configurable: true });
  }
}

/** A generator with each promise of it marked: a step without `await` is as easily forgotten. */
export class MarkedGenerator<Item> implements AsyncGenerator<Item, void, undefined> {
  readonly #generator: AsyncGenerator<Item, void, undefined>;

  constructor(generator: AsyncGenerator<Item, void, undefined>) {
    this.#generator = generator;
  }

  next(): Promise<IteratorResult<Item, void>> {
    return markHandled(this.#generator.next());
  }

  return(): Promise<IteratorResult<Item, void>> {
    return markHandled(this.#generator.return());
  }

  throw(error: unknown): Promise<IteratorResult<Item, void>> {
    return markHandled(this.#generator.throw(error));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }
}

/** Waits for a step, or rejects when a signal aborts, with its reason. The rest of the step is not awaited. */
export async function unlessAborted<Result>(
  step: Result | Promise<Result>,
  signal: AbortSignal | null,
): Promise<Result> {
  if (signal === null) return step;
  let abort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason); // oxlint-disable-line typescript/prefer-promise-reject-errors -- the signal's reason
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort);
  });
  try {
    return await Promise.race([step, aborted]);
  } finally {
    if (abort) signal.removeEventListener("abort", abort);
  }
}

/** Lets everything run that waits for the loop. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof timers.setImmediate === "function") timers.setImmediate(resolve);
    else timers.setTimeout(resolve, 0);
  });
}

/** The client has disconnected, or the server stops: the result would not be read. */
export function disconnectReason(): DOMException {
  return new DOMException("The client disconnected, or the server stopped", "AbortError");
}

/** The time of the work is up, as with `AbortSignal.timeout`. */
export function timeoutReason(): DOMException {
  return new DOMException("The time of the handler is up", "TimeoutError");
}

/** Tells if an error is what work throws that a signal has ended: the reason itself, or an error that is named for it. */
export function isAbort(error: unknown): boolean {
  const { name } = Object(error) as { name?: unknown };
  return name === "AbortError" || name === "TimeoutError";
}
