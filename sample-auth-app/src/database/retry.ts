import { setTimeout as delay } from "node:timers/promises";

import { UnavailableError } from "../unavailable.js";
import type { Verdict } from "./driver.js";

/**
 * Does what needs the database, again and again while it is busy.
 *
 * SQLite's own waiting (`busy_timeout`) would block the event loop, since its driver is synchronous, so the wait is here.
 *
 * @param judge what to make of an error
 * @param waitMs how long to go on
 * @throws UnavailableError when the database is away, or busy for longer; what it said is the cause
 */
export async function whileBusy<T>(
  work: () => Promise<T>,
  judge: (error: unknown) => Verdict,
  waitMs: number,
): Promise<T> {
  const deadline = Date.now() + waitMs;
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, 100)) {
    try {
      return await work();
    } catch (error) {
      const verdict = judge(error);
      if (verdict === "fault") {
        throw error;
      }
      if (verdict === "unavailable" || Date.now() + pauseMs > deadline) {
        throw new UnavailableError(`the database is ${verdict}`, { cause: error });
      }
    }
    await delay(pauseMs * (0.5 + Math.random() / 2)); // spread, so that those who wait do not all come back at once
  }
}
