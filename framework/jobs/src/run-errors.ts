/** Errors with which a handler decides what happens to its job. @module */

/**
 * Ends the job: it is dead with this reason, even if attempts are left.
 *
 * @example
 * ```ts
 * import { t } from "tsgi";
 * import { DeadJobError, Jobs } from "@tsgi/jobs";
 *
 * const jobs = new Jobs({ inline: true });
 * jobs.define("mail", { payload: t.Object({ to: t.String() }) }, async ({ payload }) => {
 *   if (!payload.to.includes("@")) throw new DeadJobError(`${payload.to} is not an address`);
 * });
 * ```
 */
export class DeadJobError extends Error {
  override readonly name = "DeadJobError";
}

/**
 * Fails this attempt, and chooses the time of the next one instead of `backoffSeconds`: for a service that responds with
 * `Retry-After`.
 *
 * @example
 * ```ts
 * import { Jobs, RetryJobError } from "@tsgi/jobs";
 *
 * const jobs = new Jobs({ inline: true });
 * jobs.define("sync", {}, async () => {
 *   const response = await fetch("https://api.example/sync", { method: "POST" });
 *   const seconds = Number(response.headers.get("retry-after") ?? "60");
 *   if (response.status === 429) throw new RetryJobError("Too many requests", seconds);
 * });
 * ```
 */
export class RetryJobError extends Error {
  override readonly name = "RetryJobError";
  /** Seconds before the next attempt, from 0 to 86,400. */
  readonly afterSeconds: number;

  /** @throws RangeError for a number that is not a time. */
  constructor(reason: string, afterSeconds: number, options?: ErrorOptions) {
    super(reason, options);
    if (!(afterSeconds >= 0 && afterSeconds <= 86_400)) {
      throw new RangeError(`The next attempt is after 0 to 86,400 seconds, not ${afterSeconds}.`);
    }
    this.afterSeconds = afterSeconds;
  }
}
