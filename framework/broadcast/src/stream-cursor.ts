/** The position of one reader in a stream. @module */
import type { MarkedEvent } from "tsgi";
import { Deferred } from "tsgi/internals";
import type { LogStore, StoredEvent, StreamState } from "./log-store.js";
import { eventsRemoved, invalidEventId, notTheOwner, StreamFailedError, unknownStream } from "./stream-errors.js";
import { UnavailableError } from "./unavailable-error.js";

/** An event of a stream. In a route with `stream: "sse"` it is sent with its id. */
export interface StreamEvent<Data> extends MarkedEvent {
  /** The number of the event in its stream, counted from 1. */
  readonly id: string;
  readonly data: Data;
  /** The name that the producer set with `event({ event, data })`. */
  readonly event?: string;
}

/** The place at which a reader begins. */
export interface Position {
  readonly id: string;
  /** The event before the first one to read. */
  readonly after: string | number | null | undefined;
  readonly owner: string | null;
}

/** Events that are read in one step. */
const BATCH = 500;

/** Milliseconds for which a reader waits for a store that is away, and between two tries. */
const OUTAGE_MS = 15_000;
const PAUSE_MS = 100;

/** The mark that `event()` of `tsgi` sets. It is not enumerable here, so a log or a test shows only the fields. */
const EVENT = Symbol.for("tsgi.event");

/** Reads the events of a stream one by one, first those that are stored, then those that are added. */
export class StreamCursor<Data> implements AsyncIterableIterator<StreamEvent<Data>> {
  readonly #store: LogStore;
  readonly #id: string;
  readonly #token: string;
  #number: number;
  #events: readonly StoredEvent[];
  #index = 0;
  #changed = new Deferred<void>();
  #unwatch: () => void = () => {};
  #hasEnded = false;
  #previous: Promise<unknown> = Promise.resolve();

  private constructor(store: LogStore, id: string, start: { number: number; state: StreamState }) {
    this.#store = store;
    this.#id = id;
    this.#token = start.state.token;
    this.#number = start.number;
    this.#events = start.state.events;
  }

  /**
   * Finds the place to begin.
   *
   * @throws HTTPException 404 without a stream, 403 for another owner, 410 if events are missing, 400 for an invalid id.
   */
  static async open<Data>(store: LogStore, { id, after, owner }: Position): Promise<StreamCursor<Data>> {
    const number = toNumber(after);
    const state = await store.read(id, number, BATCH);
    if (state === null) throw unknownStream();
    if (state.owner !== null && state.owner !== owner) throw notTheOwner();
    if (number > state.last) throw invalidEventId();
    if (number + 1 < state.first) throw eventsRemoved();
    const cursor = new StreamCursor<Data>(store, id, { number, state });
    // The next read finds events that are added before the watch begins.
    cursor.#unwatch = await store.watch(id, () => cursor.#changed.resolve());
    return cursor;
  }

  next(): Promise<IteratorResult<StreamEvent<Data>, undefined>> {
    const step = this.#previous.then(() => this.#next());
    this.#previous = step.catch(() => {});
    return step;
  }

  async return(): Promise<IteratorResult<StreamEvent<Data>, undefined>> {
    this.#end();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async #next(): Promise<IteratorResult<StreamEvent<Data>, undefined>> {
    try {
      const event = await this.#take();
      if (event !== null) return { done: false, value: toEvent<Data>(event) };
    } catch (error) {
      this.#end();
      throw error;
    }
    this.#end();
    return { done: true, value: undefined };
  }

  /** The next event; `null` at the end. */
  async #take(): Promise<StoredEvent | null> {
    while (!this.#hasEnded) {
      const event = this.#events[this.#index++];
      if (event !== undefined) {
        this.#number = event.number;
        return event;
      }
      const status = await this.#fill();
      if (status === "failed") throw new StreamFailedError(this.#id, "The producer has failed");
      if (status !== "running") return null;
    }
    return null;
  }

  /** Waits for more events, or for the end. @returns `running` with events, else how the stream has ended. */
  async #fill(): Promise<StreamState["status"]> {
    for (;;) {
      this.#changed = new Deferred();
      const { status, events } = this.#check(await this.#read());
      this.#events = events;
      this.#index = 0;
      if (events.length > 0) return "running";
      if (status !== "running") return status;
      await this.#changed.promise;
      if (this.#hasEnded) return "stopped";
    }
  }

  #check(state: StreamState | null): StreamState {
    if (state?.token !== this.#token) throw new StreamFailedError(this.#id, "The events have been lost");
    if (this.#number + 1 < state.first) {
      throw new StreamFailedError(this.#id, "The reader is too slow: events have been removed");
    }
    return state;
  }

  /** During an outage of the store the reader keeps its place: the next read begins after the last event. */
  async #read(): Promise<StreamState | null> {
    const giveUpAt = performance.now() + OUTAGE_MS;
    for (;;) {
      try {
        return await this.#store.read(this.#id, this.#number, BATCH);
      } catch (error) {
        if (!(error instanceof UnavailableError) || this.#hasEnded) throw error;
        if (performance.now() > giveUpAt) throw new StreamFailedError(this.#id, "The store is unavailable");
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#changed.resolve();
    this.#unwatch();
  }
}

/** @throws HTTPException 400: the header `Last-Event-ID` is the client's. */
function toNumber(after: Position["after"]): number {
  if (after === undefined || after === null || after === "") return 0;
  if (!/^\d{1,15}$/.test(String(after))) throw invalidEventId();
  return Number(after);
}

function toEvent<Data>({ number, text }: StoredEvent): StreamEvent<Data> {
  const { data, event } = JSON.parse(text) as { readonly data: Data; readonly event?: string };
  const fields = event === undefined ? { id: String(number), data } : { id: String(number), event, data };
  return Object.defineProperty(fields, EVENT, { value: true }) as typeof fields & MarkedEvent;
}
