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
