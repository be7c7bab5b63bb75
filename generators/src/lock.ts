import { mkdirSync, rmSync, statSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { systemErrorCode } from "./errors.js";

/** A process that has held a lock for so long has died with it. */
const abandonedAfterMs = 120_000;

/**
 * Does some work while no other process does work under the same lock; waits for its turn.
 *
 * @param path a folder that stands for the lock while it is held; the one above must be there
 */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  while (!tryToLock(path)) {
    await wait(50);
  }
  try {
    return await work();
  } finally {
    release(path);
  }
}

function tryToLock(path: string): boolean {
  const since = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  if (since !== undefined && Date.now() - since > abandonedAfterMs) {
    release(path);
  }
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if (systemErrorCode(error) !== "EEXIST") {
      throw error;
    }
    return false;
  }
}

function release(path: string): void {
  rmSync(path, { recursive: true, force: true });
}
