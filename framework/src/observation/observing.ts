import type { ASGIApp, HTTPScope, Receive, Send, WebSocketScope } from "../asgi.js";
import type { Logger } from "../logger.js";
import { OBSERVED, Observed, observedOf, type ObservedScope } from "./observed.js";
import type { Instrumentation } from "./types.js";
import { Instrument, type Watch } from "./watch.js";

type RequestScope = HTTPScope | WebSocketScope;

/**
 * An application under observation.
 *
 * @param enter - Copies a scope, so that the observation can be put into it.
 */
export function observing(
  app: ASGIApp,
  enter: (scope: RequestScope) => RequestScope & ObservedScope,
  instrumentations: readonly Instrumentation[],
  logger: Logger,
): ASGIApp {
  const instruments = instrumentations.map((instrumentation) => new Instrument(instrumentation, logger));
  const observe = (given: RequestScope, receive: Receive, send: Send): Promise<void> => {
    const scope = enter(given);
    const outer = observedOf(given);
    const watches: Watch[] = [];
    for (const instrument of instruments) {
      const watch = outer?.isSeenBy(instrument.instrumentation) ? null : instrument.start(scope);
      if (watch !== null) watches.push(watch);
    }
    if (watches.length === 0) return app(scope, receive, send);
    const observed = new Observed(watches, outer);
    scope[OBSERVED] = observed;
    const tracked = observed.tracking(send);
    return observed.run(() => call(app, scope, receive, tracked));
  };
  return (scope, receive, send) =>
    scope.type === "http" || scope.type === "websocket" ? observe(scope, receive, send) : app(scope, receive, send);
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
