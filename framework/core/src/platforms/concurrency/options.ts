/** The options of pools, and their rules. @module */
import { expecting, type OptionRules, whole } from "../../common/options.js";

/** The kind of a pool's workers. */
export type WorkerKind = "process" | "thread";

/** The options of a pool. */
export interface PoolOptions {
  /**
   * Workers at most. Defaults to `os.availableParallelism()`, in each process of
   * `serve(app, { workers })` to its share of that, and at least 1.
   */
  size?: number;
  /** Tasks that may wait for a worker; one more is refused. Defaults to 256. */
  maxQueue?: number;
  /**
   * Milliseconds that a task may run before it is ended with its worker, which is replaced. Before, it may wait for
   * twice as long. Defaults to `Infinity`, for the plain handlers of an App to 30,000.
   */
  timeoutMs?: number;
}

/** The rules of a pool's options. */
export const POOL_OPTIONS: OptionRules<PoolOptions> = {
  size: whole(1),
  maxQueue: expecting("a whole number from 0 on, or Infinity", (value) => {
    return value === Infinity || (typeof value === "number" && Number.isInteger(value) && value >= 0);
  }),
  timeoutMs: expecting("milliseconds above 0, or Infinity", (value) => typeof value === "number" && value > 0),
};
