/** Work that continues after its request got a 504, because code cannot be stopped from outside. @module */
import type { HTTPScope } from "../protocol/asgi.js";

const LATE: unique symbol = Symbol("tsgi.lateWork");

/** A scope whose reader waits for late work. */
interface WatchedScope {
  readonly [LATE]?: Promise<unknown>[];
}

/** Reports work that continues. @param work - Settles when it has ended, and does not reject. */
export function reportLateWork(scope: HTTPScope & WatchedScope, work: Promise<unknown>): void {
  scope[LATE]?.push(work);
}

/** A scope for an application, and a list of the work that continues after its response. */
export function watchLateWork(scope: HTTPScope & WatchedScope): [watched: HTTPScope, late: Promise<unknown>[]] {
  const late = scope[LATE] ?? [];
  const watched: HTTPScope & WatchedScope = { ...scope, [LATE]: late };
  return [watched, late];
}
