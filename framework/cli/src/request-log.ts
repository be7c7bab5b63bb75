/** The access log of `tsgi dev`. @module */
import { accessLog } from "tsgi/middleware";
import type { Instrumentation } from "tsgi";
import { observedOf } from "tsgi/internals";

/** Writes a line for each request, unless an `accessLog` of the application has written one. */
export function requestLog(): Instrumentation {
  const log = accessLog();
  return {
    start(scope) {
      const observation = log.start(scope);
      return { ...observation, end: () => void (observedOf(scope)?.isLogged || observation?.end?.()) };
    },
  };
}
