import { mkdirSync, rmSync, statSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { systemErrorCode } from "./errors.js";

/** A lock older than this is taken from a process that died. */
const abandonedAfterMs = 120_000;

/**
 * Runs a task while no other process holds the same lock.
 *
 * @param path a folder that exists while the lock is held; its parent must exist
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
