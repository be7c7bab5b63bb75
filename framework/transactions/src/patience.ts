/** Patience with a database that is busy or away. @module */
import { setTimeout as delay } from "node:timers/promises";
import { HTTPException } from "tsgi";

/** The state of the database after an error: `busy` can be tried again now, `unavailable` later, `fault` never. */
export type Verdict = "busy" | "unavailable" | "fault";

/**
 * The database cannot be had in time. Results in 503 and `Retry-After`; the database's error is the cause, and is
 * logged.
 */
export class UnavailableError extends HTTPException {
  override readonly name = "UnavailableError";

  constructor(cause?: unknown) {
    super(503, undefined, { headers: { "Retry-After": "1" }, cause });
  }
}

/** A commit that did not take effect: a statement had failed before, and the work went on as if it had not. */
export class RolledBackError extends Error {
  override readonly name = "RolledBackError";

  constructor(cause: unknown) {
    super(
      "The database has rolled the transaction back, because a statement in it failed. If you catch the error of a " +
        "statement, throw another one: the transaction cannot continue.",
      { cause },
    );
  }
}

/**
 * Does what needs the database, again and again while it is busy. SQLite's own waiting (`busy_timeout`) would block the
 * event loop, since its driver is synchronous.
 *
 * @param whileAway - Goes on while it is away as well.
 * @throws UnavailableError when it is away, or busy for longer than `waitMs`.
 */
export async function patiently<T>(
  work: () => Promise<T>,
  judge: (error: unknown) => Verdict,
  waitMs: number,
  { whileAway = false } = {},
): Promise<T> {
  const deadline = Date.now() + waitMs;
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, 100)) {
    try {
      return await work();
    } catch (error) {
      const verdict = judge(error);
      if (verdict === "fault") throw error;
      if ((verdict === "unavailable" && !whileAway) || Date.now() + pauseMs > deadline) {
        throw new UnavailableError(error);
      }
    }
    // Spread, so that those who wait do not all come back at once.
    await delay(pauseMs * (0.5 + Math.random() / 2));
  }
}
