/** Messages that arrive together: one chunk of a socket can have hundreds of them. @module */
import type { BackplaneEvents } from "./backplane.js";

/** Settles when everything has run that does not wait for input or output. */
function whenIdle(): Promise<void> {
  // A tick that is requested in another one would run before the promises of that one.
  return new Promise((resolve) => queueMicrotask(() => process.nextTick(resolve)));
}

/**
 * Delivers messages one by one, and lets the subscribers handle each before the next. Otherwise a burst of more messages than
 * a subscriber buffers would end it, however fast it is.
 */
export class Burst {
  readonly #events: BackplaneEvents;
  #waiting: { readonly topic: string; readonly message: unknown }[] = [];

  constructor(events: BackplaneEvents) {
    this.#events = events;
  }

  add(topic: string, message: unknown): void {
    this.#waiting.push({ topic, message });
    if (this.#waiting.length === 1) void this.#deliverAll();
  }

  /** Ends in the turn of the event loop in which it began, before the socket is read again. */
  async #deliverAll(): Promise<void> {
    for (const { topic, message } of this.#waiting) {
      await whenIdle();
      this.#events.message(topic, message);
    }
    this.#waiting = [];
  }
}
