/** The moment at which a response is complete. @module */
import type { Send } from "../../protocol/asgi.js";

/** Marks the response to a request as complete: a disconnect from now on is not an early one. */
export const MARK_FINISHED: unique symbol = Symbol("markFinished");

/** Sends, and marks a request as finished with the last body. */
export function finishingSend(request: { [MARK_FINISHED](): void }, send: Send): Send {
  return (message) => {
    // Before it is handed over: a server says at once that there is nothing more to come.
    if (message.type === "http.response.body" && message.more_body !== true) request[MARK_FINISHED]();
    return send(message);
  };
}
