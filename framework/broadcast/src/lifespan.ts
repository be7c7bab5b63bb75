/** The lifespan of a class that connects and closes. @module */
import type { App, LifespanFunction } from "tsgi";

/** Opens when the application starts, and closes when it stops. */
export function lifespanOf(open: () => Promise<void>, close: () => Promise<void>): LifespanFunction<App> {
  return async function* lifespan() {
    await open();
    try {
      yield;
    } finally {
      await close();
    }
  };
}
