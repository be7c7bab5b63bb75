/** Starts the observation of each request of an application. @module */
import type { ASGIApp, HTTPScope, Receive, Send, WebSocketScope } from "../../protocol/asgi.js";
import type { Logger } from "../../common/logger.js";
import { OBSERVED, Observed, observedOf, type ObservedScope } from "./observed.js";
import type { Instrumentation } from "./types.js";
import { Instrument, type Watch } from "./watch.js";

type RequestScope = HTTPScope | WebSocketScope;

/** An application under observation, for scopes that belong to it: the observation is put on them. */
export function observing(
  app: ASGIApp,
  instrumentations: readonly Instrumentation[],
  logger: Logger,
): (scope: RequestScope, receive: Receive, send: Send) => Promise<void> {
  const instruments = instrumentations.map((instrumentation) => new Instrument(instrumentation, logger));
  return (scope, receive, send) => {
    const outer = observedOf(scope);
    const watches: Watch[] = [];
    for (const instrument of instruments) {
      const watch = outer?.isSeenBy(instrument.instrumentation) ? null : instrument.start(scope);
      if (watch !== null) watches.push(watch);
    }
    if (watches.length === 0) return app(scope, receive, send);
    const observed = new Observed(watches, outer);
    (scope as ObservedScope)[OBSERVED] = observed;
    const tracked = observed.tracking(send);
    return observed.run(() => call(app, scope, receive, tracked));
  };
}

/** Calls an application. What it throws at once is a rejection too. */
function call(app: ASGIApp, scope: RequestScope, receive: Receive, send: Send): Promise<void> {
  try {
    return app(scope, receive, send);
  } catch (error) {
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- what an application throws, as it is
    return Promise.reject(error);
  }
}
