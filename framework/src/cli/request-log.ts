/** The access log of `tsgi dev`. @module */
import { accessLog } from "../middleware.js";
import { type Instrumentation, observedOf } from "../observation.js";

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
