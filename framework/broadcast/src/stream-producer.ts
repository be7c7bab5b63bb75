/** Runs a producer to its end, and writes each of its items into the log. @module */
import type { Logger } from "tsgi";
import { isMarkedEvent } from "tsgi/internals";
import { type EndStatus, LEASE_MS, type LogStore, type NewStream } from "./log-store.js";
import { UnavailableError } from "./unavailable-error.js";

/** Makes the items of a stream. Its `signal` aborts when the stream is stopped, and when this process shuts down. */
export type Produce<Data> = (context: { readonly signal: AbortSignal }) => AsyncIterable<Data>;

const PAUSE_MS = 100;

/** A producer that runs in this process. */
export class StreamProducer {
  readonly stream: NewStream;
  readonly #store: LogStore;
  readonly #logger: Logger;
  readonly #controller = new AbortController();
  /** Ends the wait for the item that is being made. */
  #giveUp: () => void = () => {};
  #abortedAs: EndStatus = "stopped";
  /** The watch of the stream reports its end even if the producer has ended by itself. */
  #hasEnded = false;
  /** The last moment at which the store has known that this process lives. */
  #knownAt = performance.now();

  constructor(stream: NewStream, store: LogStore, logger: Logger) {
    this.stream = stream;
    this.#store = store;
    this.#logger = logger;
  }

  /** Settles, never with an error, when the producer has ended and the log knows how. */
  async run(produce: Produce<unknown>): Promise<void> {
    let status: EndStatus = "done";
    try {
      if (!(await this.#produceAll(produce))) status = this.#abortedAs;
    } catch (err) {
      status = "failed";
      this.#logger.error({ err }, `The producer of the stream ${JSON.stringify(this.stream.id)} failed.`);
    }
    this.#hasEnded = true;
    const { id, token } = this.stream;
    // A stream that was stopped has its status. If the store stays away, the lease of the stream expires.
    await this.#patiently(() => this.#store.end(id, token, status)).catch(() => {});
  }

  /** Aborts the signal. The producer's clean-up is not awaited. The first call decides how the stream has ended. */
  abort(status: EndStatus, reason: string): void {
    if (this.#hasEnded || this.#controller.signal.aborted) return;
    this.#abortedAs = status;
    this.#giveUp();
    this.#controller.abort(new DOMException(reason, "AbortError"));
  }

  /** Reports that this process lives. */
  async renew(): Promise<void> {
    try {
      const isRunning = await this.#store.renew(this.stream);
      this.#knownAt = performance.now();
      if (!isRunning) this.abort("stopped", "The stream was stopped");
    } catch {
      if (performance.now() - this.#knownAt > LEASE_MS) this.abort("failed", "The store is unavailable");
    }
  }

  /** @returns `false` if it was stopped. */
  async #produceAll(produce: Produce<unknown>): Promise<boolean> {
    const { signal } = this.#controller;
    const items = produce({ signal })[Symbol.asyncIterator]();
    for (let number = 1; ; number++) {
      const step = await this.#next(items);
      if (step?.done) return true;
      const text = step && textOf(step.value);
      const isRunning =
        text !== null && (await this.#patiently(() => this.#store.append(this.stream, { number, text })));
      if (isRunning) continue;
      this.abort("stopped", "The stream was stopped");
      void Promise.resolve(items.return?.()).catch(() => {});
      return false;
    }
  }

  /**
   * The next item; `null` once the signal has aborted. Invariant: no object that lives as long as the stream refers to the
   * wait. A race with one promise for the abort would keep every item until the end of the stream.
   */
  #next(items: AsyncIterator<unknown>): Promise<IteratorResult<unknown> | null> {
    return new Promise((resolve, reject) => {
      this.#giveUp = () => resolve(null);
      if (this.#controller.signal.aborted) return resolve(null);
      Promise.resolve(items.next()).then(resolve, reject);
    });
  }

  /** Repeats a step while the store is away, for as long as the store takes this process to be alive. */
  async #patiently<T>(step: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await step();
      } catch (error) {
        if (!(error instanceof UnavailableError) || performance.now() - this.#knownAt > LEASE_MS) throw error;
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }
}

/** JSON of `{ event?, data }`. @throws TypeError for an item that JSON cannot write. */
function textOf(item: unknown): string {
  const { data, event } = isMarkedEvent(item) ? item : { data: item };
  if (data === undefined || typeof data === "function" || typeof data === "symbol") {
    throw new TypeError(`An item of a stream must be a JSON value, not ${typeof data}.`);
  }
  return JSON.stringify({ event, data });
}
