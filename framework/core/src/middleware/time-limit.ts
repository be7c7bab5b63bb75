/** `timeLimit`: 504 for a response that does not start in time. @module */
import type { ReceiveMessage, Receive, Send } from "../protocol/asgi.js";
import type { Middleware } from "./chain.js";
import { ClientDisconnect } from "../common/exceptions.js";
import { expecting } from "../common/options.js";
import { markHandled, MAX_TIMER_MS } from "../common/promises.js";
import { onHTTP, refuse, reportLateWork } from "./layer.js";

const TIMEOUT_MS = expecting(
  `milliseconds, more than 0 and at most ${MAX_TIMER_MS}`,
  (value) => typeof value === "number" && value > 0 && value <= MAX_TIMER_MS,
);

/** The result of `receive` once the time is up. */
const LEFT: ReceiveMessage = Object.freeze({ type: "http.disconnect" });

/**
 * Bounds the time until the application starts its response, with everything that it does before: dependencies, the
 * reading of the body, the handler. After that it responds with 504, and the application sees a disconnect:
 * `request.signal` aborts, cleanup runs, and later messages are dropped. A response that has started may take its time.
 *
 * @throws ConfigurationError when `timeoutMs` is not a number of milliseconds.
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { timeLimit } from "tsgi/middleware";
 *
 * const app = new App({ middleware: [timeLimit(5_000)] });
 * ```
 */
export function timeLimit(timeoutMs: number): Middleware {
  TIMEOUT_MS("timeLimit()", "timeoutMs", timeoutMs);
  return onHTTP((app) => async (scope, receive, send) => {
    let state = "running" as "running" | "started" | "over";
    let responding: Promise<void> = Promise.resolve();
    let running: Promise<unknown> = responding;
    const waiting = new Set<(message: ReceiveMessage) => void>();
    const timer = setTimeout(() => {
      state = "over";
      reportLateWork(scope, running);
      for (const leave of waiting) leave(LEFT);
      responding = markHandled(refuse(scope, send, { statusCode: 504, detail: "Gateway Timeout" }));
    }, timeoutMs);
    // Attack: a race with one promise of the whole request would keep every chunk of a body that arrives in single
    // bytes.
    const bounded: Receive = () => {
      if (state !== "running") return state === "started" ? receive() : Promise.resolve(LEFT);
      return markHandled(
        new Promise<ReceiveMessage>((resolve, reject) => {
          waiting.add(resolve);
          receive()
            .finally(() => waiting.delete(resolve))
            .then(resolve, reject);
        }),
      );
    };
    const tracked: Send = (message) => {
      if (state === "over") throw new ClientDisconnect();
      if (message.type === "http.response.start") {
        state = "started";
        clearTimeout(timer);
      }
      return send(message);
    };
    try {
      const ended = app(scope, bounded, tracked);
      running = ended.catch(() => {});
      await ended;
    } catch (error) {
      if (state !== "over" || !(error instanceof ClientDisconnect)) throw error;
    } finally {
      clearTimeout(timer);
    }
    await responding;
  });
}
