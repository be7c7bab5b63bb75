/** Work that waits for the response of the request that asked for it. @module */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Middleware } from "tsgi";

/** Functions to call after the response; `null` once they have been called. */
interface Held {
  fns: (() => void)[] | null;
}

const storage = new AsyncLocalStorage<Held>();

/** Calls a function once the response of the current request has been sent; at once outside of requests. */
export function afterResponse(fn: () => void): void {
  const held = storage.getStore();
  if (held?.fns) held.fns.push(fn);
  else fn();
}

function release(held: Held): void {
  const fns = held.fns ?? [];
  held.fns = null;
  for (const fn of fns) fn();
}

/**
 * Lets work wait for the response of its request. For a stream, it waits for the first chunk only: the stream may
 * last until its client disconnects.
 */
export const holdingWork: Middleware = (app) => (scope, receive, send) => {
  if (scope.type !== "http") return app(scope, receive, send);
  const held: Held = { fns: [] };
  const releasing: typeof send = async (message) => {
    await send(message);
    if (message.type === "http.response.body") release(held);
  };
  return storage.run(held, async () => {
    try {
      await app(scope, receive, releasing);
    } finally {
      release(held);
    }
  });
};
