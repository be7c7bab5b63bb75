import type { Send, SendMessage } from "../asgi.js";
import { markHandled } from "../promises.js";

/**
 * A `send` whose messages are dealt with one after the other, also those of an application that does not wait for one
 * before it sends the next. Once one fails, all later ones fail with it.
 */
export function sendInOrder(handle: (message: SendMessage) => Promise<void> | void): Send {
  let last: Promise<void> | null = null;
  return (message) => {
    if (last !== null) return (last = markHandled(last.then(() => handle(message))));
    const done = handle(message);
    if (!(done instanceof Promise)) return undefined;
    const settled = markHandled(
      done.then(() => {
        if (last === settled) last = null;
      }),
    );
    return (last = settled);
  };
}
