/** Work after the response. @module */
import { markCopy } from "../common/copies.js";
import { consoleLogger, type Logger } from "../common/logger.js";
import { nextTurn } from "../common/promises.js";

/**
 * Runs the tasks, and calls `begin` with the name of each; the returned function is called at its end, with its error.
 */
export const RUN_STEPS: unique symbol = Symbol("runSteps");

/** Removes the tasks that have not started. */
export const DISCARD: unique symbol = Symbol("discard");

/** Tells the tasks that their request has ended: one that is added later does not run, and is logged. */
export const END: unique symbol = Symbol("end");

/** Begins a step, and returns a function that ends it. */
type BeginStep = (name: string) => (error?: unknown) => void;

const unobserved: BeginStep = () => () => {};

/** One function with its arguments, to be called later. */
interface Task {
  readonly fn: (...args: never[]) => unknown;
  readonly args: readonly unknown[];
}

const nameOf = (fn: { readonly name: string }): string => fn.name || "anonymous";

/** A function that has not been called. */
interface UncalledFunction<Args extends unknown[]> {
  (...args: Args): unknown;
}

/**
 * Tasks that run after the response has been sent, in the order in which they were added. One that fails is logged,
 * and the next still runs. A handler or a dependency gets them by naming the class in its params.
 *
 * @example
 * ```ts
 * import { App, BackgroundTasks } from "tsgi";
 *
 * const app = new App();
 * app.post("/notify", { params: { tasks: BackgroundTasks } }, async ({ tasks }) => {
 *   tasks.addTask(async (to: string) => console.log("mail to", to), "ada@example.com");
 *   return { accepted: true };
 * });
 * ```
 */
export class BackgroundTasks {
  static {
    markCopy(this);
  }

  readonly #tasks: Task[] = [];
  readonly #logger: Pick<Logger, "error">;
  #hasEnded = false;

  /** @param logger - Where a task that fails is logged. Defaults to the standard error output. */
  constructor(logger: Pick<Logger, "error"> = consoleLogger) {
    this.#logger = logger;
  }

  /**
   * Adds a task. `args` are handed to `fn` as they are when it runs. If the request has ended, with its tasks and its cleanup,
   * the task does not run, and an error is logged.
   *
   * @throws TypeError when `fn` is not a function: often the result of a call.
   */
  addTask<Args extends unknown[]>(fn: UncalledFunction<Args>, ...args: Args): void {
    if (typeof fn !== "function") {
      throw new TypeError(`addTask() takes a function and its arguments, not ${typeof fn}: addTask(notify, user).`);
    }
    if (!this.#hasEnded) return void this.#tasks.push({ fn, args });
    const message = `Background task ${nameOf(fn)} was added after the end of its request, and does not run`;
    this.#logger.error({ task: nameOf(fn) }, message);
  }

  /** The number of tasks that have not started yet. */
  get size(): number {
    return this.#tasks.length;
  }

  /** Runs the added tasks one at a time; a task that is added meanwhile runs as well. Never rejects. */
  run(): Promise<void> {
    return this[RUN_STEPS](unobserved);
  }

  /** @internal */
  [DISCARD](): void {
    this.#tasks.length = 0;
  }

  /** @internal */
  [END](): void {
    this.#hasEnded = true;
  }

  /** @internal */
  async [RUN_STEPS](begin: BeginStep): Promise<void> {
    if (this.#tasks.length > 0) await nextTurn(); // a task that blocks the event loop must not delay the response
    for (let task = this.#tasks.shift(); task; task = this.#tasks.shift()) {
      const name = nameOf(task.fn);
      const end = begin(name);
      try {
        await task.fn(...(task.args as never[]));
        end();
      } catch (error) {
        end(error);
        this.#logger.error({ err: error, task: name }, `Background task ${name} failed`);
      }
    }
  }
}
