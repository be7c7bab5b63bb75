/** The interface between `Broadcast` and the server that connects its processes. @module */

/** Called by a backplane. */
export interface BackplaneEvents {
  /** A message has arrived. @param message - The value that its JSON describes. */
  message(topic: string, message: unknown): void;
  /** All subscriptions work again after an outage, in which messages may have been lost. */
  restored(): void;
}

/**
 * Carries messages between processes: at most once, and in order for each publisher. `redisBackplane` and
 * `postgresBackplane` make one.
 */
export interface Backplane {
  /** Begins to connect, and returns without waiting for the server. Called once, before all other methods. */
  open(events: BackplaneEvents): Promise<void>;
  /** Settles when each later message of the topic arrives here; may be called again. @throws UnavailableError within a second. */
  subscribe(topic: string): Promise<void>;
  unsubscribe(topic: string): void;
  /** @param text - The message as JSON. @throws UnavailableError within a second. The message is not sent later. */
  publish(topic: string, text: string): Promise<void>;
  close(): Promise<void>;
}

/** Delivers to the subscribers of this process only. */
export class LocalBackplane implements Backplane {
  #events: BackplaneEvents | null = null;

  async open(events: BackplaneEvents): Promise<void> {
    this.#events = events;
  }

  async subscribe(): Promise<void> {}

  unsubscribe(): void {}

  async publish(topic: string, text: string): Promise<void> {
    this.#events?.message(topic, JSON.parse(text));
  }

  async close(): Promise<void> {}
}
