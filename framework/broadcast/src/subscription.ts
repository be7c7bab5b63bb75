/** A subscription: the messages of one topic for one subscriber, bounded. @module */

/** A subscriber has fallen more than `buffer` messages behind. Its subscription has ended, and its buffer is dropped. */
export class SlowSubscriberError extends Error {
  override readonly name = "SlowSubscriberError";

  constructor(
    /** The topic of the subscription. */
    readonly topic: string,
    /** The limit that was exceeded, in messages. */
    readonly buffer: number,
  ) {
    super(`A subscriber of ${JSON.stringify(topic)} has fallen more than ${buffer} messages behind.`);
  }
}

/** The options of `subscribe`. */
export interface SubscribeOptions {
  /** The most messages that wait for the subscriber. Defaults to 256. */
  buffer?: number;
  /** Called when the subscription works again after an outage of the backplane: messages may be missing. */
  onGap?: (gap: { readonly missed: true }) => void;
  /** Ends the iteration when it aborts, for example `request.signal`. */
  signal?: AbortSignal;
}

/**
 * The messages of a topic, in an async iterable for one reader. Leaving the loop ends the subscription, as does `using`.
 * It never skips a message silently: if its reader is too slow, the iteration throws a `SlowSubscriberError`.
 *
 * @example
 * ```ts
 * import { Broadcast } from "@tsgi/broadcast";
 *
 * const broadcast = new Broadcast<{ news: string }>();
 * {
 *   using messages = await broadcast.subscribe("news", { buffer: 10 });
 *   await broadcast.publish("news", "hello");
 *   console.log(await messages.next()); // { done: false, value: 'hello' }
 * }
 * ```
 */
export class Subscription<Message> implements AsyncIterableIterator<Message>, AsyncDisposable, Disposable {
  readonly #topic: string;
  readonly #buffer: number;
  readonly #onEnd: () => void;
  #messages: Message[] = [];
  /** Readers that wait for a message. There are messages or readers, never both. */
  #waiting: ((step: IteratorResult<Message, undefined>) => void)[] = [];
  #error: SlowSubscriberError | null = null;
  #hasEnded = false;

  /** @internal */
  constructor(topic: string, buffer: number, onEnd: () => void) {
    this.#topic = topic;
    this.#buffer = buffer;
    this.#onEnd = onEnd;
  }

  /** @internal */
  push(message: Message): void {
    if (this.#hasEnded) return;
    const reader = this.#waiting.shift();
    if (reader !== undefined) reader({ done: false, value: message });
    else if (this.#messages.length < this.#buffer) this.#messages.push(message);
    else {
      this.#error = new SlowSubscriberError(this.#topic, this.#buffer);
      this.#messages = [];
      this.#end();
    }
  }

  /** The subscription ends after the messages that wait. @internal */
  finish(): void {
    this.#end();
  }

  /** Without `async`, which would cost two promises more for each message. */
  next(): Promise<IteratorResult<Message, undefined>> {
    if (this.#messages.length > 0) return Promise.resolve({ done: false, value: this.#messages.shift() as Message });
    if (this.#error !== null) {
      const error = this.#error;
      this.#error = null;
      return Promise.reject(error);
    }
    if (this.#hasEnded) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async return(): Promise<IteratorResult<Message, undefined>> {
    this[Symbol.dispose]();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  [Symbol.dispose](): void {
    this.#messages = [];
    this.#error = null;
    this.#end();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this[Symbol.dispose]();
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const reader of this.#waiting.splice(0)) reader({ done: true, value: undefined });
    this.#onEnd();
  }
}
