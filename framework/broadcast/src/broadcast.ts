/** `Broadcast`: messages to all subscribers of a topic, on all machines. @module */
import type { App, LifespanFunction, Logger } from "tsgi";
import { assertOptions, consoleLogger, FUNCTION, guardLogger, OBJECT, type OptionRules, whole } from "tsgi/internals";
import { type Backplane, LocalBackplane } from "./backplane.js";
import { lifespanOf } from "./lifespan.js";
import { Subscription, type SubscribeOptions } from "./subscription.js";
import { UnavailableError } from "./unavailable-error.js";

/** The options of `Broadcast`. */
export interface BroadcastOptions {
  /** Connects several processes: `redisBackplane(url)` or `postgresBackplane(url)`. Defaults to this process only. */
  backplane?: Backplane;
  /** Receives errors of `onGap` callbacks. Defaults to lines on stderr. */
  logger?: Logger;
}

const OPTIONS: OptionRules<BroadcastOptions> = { backplane: OBJECT, logger: OBJECT };
const SUBSCRIBE_OPTIONS: OptionRules<SubscribeOptions> = { buffer: whole(1), onGap: FUNCTION, signal: OBJECT };

const DEFAULT_BUFFER = 256;

/** A subscription of any type of message. */
interface Sink {
  push(message: unknown): void;
  finish(): void;
}

/** A subscriber with its callback. */
interface Subscriber {
  readonly subscription: Sink;
  readonly onGap: SubscribeOptions["onGap"];
}

/**
 * Publishes messages to all subscribers of a topic. A message is any JSON value. All
 * subscribers of a process receive the same object, so do not change it. It is delivered at most once, and in order
 * for each publisher. If no message may be lost, use a `StreamLog`.
 *
 * @typeParam Topics - The message of each topic: `{ news: News; [room: \`room:${string}\`]: Chat }`.
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { Broadcast } from "@tsgi/broadcast";
 *
 * const broadcast = new Broadcast<{ prices: { item: number; price: number } }>();
 * const app = new App({ lifespan: broadcast.lifespan });
 * app.get("/prices", { stream: "sse" }, async () => broadcast.subscribe("prices"));
 * app.put("/prices", async () => broadcast.publish("prices", { item: 1, price: 20 }));
 * ```
 */
export class Broadcast<Topics extends object = Record<string, unknown>> {
  readonly #backplane: Backplane;
  readonly #logger: Logger;
  /** The subscribers of this process. */
  readonly #topics = new Map<string, Set<Subscriber>>();
  #opening: Promise<void> | null = null;
  #isClosed = false;

  /** @throws ConfigurationError for an unknown option. */
  constructor(options: BroadcastOptions = {}) {
    assertOptions("new Broadcast()", options, OPTIONS);
    this.#backplane = options.backplane ?? new LocalBackplane();
    this.#logger = guardLogger(options.logger ?? consoleLogger);
  }

  /** For `new App({ lifespan })`: connects when the application starts, and closes when it stops. */
  get lifespan(): LifespanFunction<App> {
    return lifespanOf(
      () => this.#open(),
      () => this.close(),
    );
  }

  /**
   * Subscribes to a topic. When it settles, each message that is published later reaches the subscription.
   *
   * @throws UnavailableError while the backplane is unavailable.
   * @example
   * ```ts
   * import { Broadcast } from "@tsgi/broadcast";
   *
   * const broadcast = new Broadcast<{ news: string }>();
   * const messages = await broadcast.subscribe("news");
   * await broadcast.publish("news", "hello");
   * for await (const message of messages) {
   *   console.log(message); // hello
   *   break;
   * }
   * ```
   */
  async subscribe<Name extends keyof Topics & string>(
    topic: Name,
    options: SubscribeOptions = {},
  ): Promise<Subscription<Topics[Name]>> {
    assertOptions("subscribe()", options, SUBSCRIBE_OPTIONS);
    await this.#open();
    const { buffer = DEFAULT_BUFFER, onGap, signal } = options;
    const abort = () => subscription[Symbol.dispose]();
    const leave = () => {
      signal?.removeEventListener("abort", abort); // a signal may outlive its subscriptions
      this.#remove(topic, subscriber);
    };
    const subscription = new Subscription<Topics[Name]>(topic, buffer, leave);
    const subscriber: Subscriber = { subscription, onGap };
    this.#add(topic, subscriber);
    signal?.addEventListener("abort", abort, { once: true });
    try {
      await this.#backplane.subscribe(topic);
    } catch (error) {
      subscription[Symbol.dispose]();
      throw error;
    }
    if (signal?.aborted) abort();
    return subscription;
  }

  /**
   * Publishes a message, and settles when the backplane has accepted it. An error of a subscriber does not reach the
   * publisher.
   *
   * @param message - Any JSON value.
   * @throws UnavailableError within a second while the backplane is unavailable. The message is not sent later.
   * @throws TypeError if the message is not JSON.
   * @throws RangeError if the message is too large for PostgreSQL.
   */
  async publish<Name extends keyof Topics & string>(topic: Name, message: Topics[Name]): Promise<void> {
    const text = JSON.stringify(message) as string | undefined;
    if (text === undefined) throw new TypeError(`A message must be a JSON value, not ${typeof message}.`);
    await this.#open();
    await this.#backplane.publish(topic, text);
  }

  /** Ends all subscriptions, and closes the connections. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const all = [...this.#topics.values()].flatMap((subscribers) => [...subscribers]);
    this.#topics.clear();
    for (const { subscription } of all) subscription.finish();
    if (this.#opening === null) return;
    await this.#opening.catch(() => {}); // a backplane that opens later would keep its connections
    await this.#backplane.close();
  }

  async #open(): Promise<void> {
    this.#assertOpen();
    this.#opening ??= this.#backplane.open({
      message: (topic, message) => this.#deliver(topic, message),
      restored: () => this.#reportGap(),
    });
    await this.#opening;
    this.#assertOpen();
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new UnavailableError(new Error("The broadcast is closed."));
  }

  #add(topic: string, subscriber: Subscriber): void {
    const subscribers = this.#topics.get(topic);
    if (subscribers === undefined) this.#topics.set(topic, new Set([subscriber]));
    else subscribers.add(subscriber);
  }

  #remove(topic: string, subscriber: Subscriber): void {
    const subscribers = this.#topics.get(topic);
    if (!subscribers?.delete(subscriber) || subscribers.size > 0) return;
    this.#topics.delete(topic);
    this.#backplane.unsubscribe(topic);
  }

  #deliver(topic: string, message: unknown): void {
    for (const { subscription } of this.#topics.get(topic) ?? []) subscription.push(message);
  }

  #reportGap(): void {
    for (const subscribers of this.#topics.values()) {
      for (const { onGap } of subscribers) {
        try {
          onGap?.({ missed: true });
        } catch (err) {
          this.#logger.error({ err }, "The callback onGap of a subscription threw.");
        }
      }
    }
  }
}
