/** Server-sent events that continue after a lost connection. @module */
import { readServerSentEvents, type ReceivedEvent } from "tsgi/internals";
import type { RequestInitParts } from "./write-request.js";

/** The events of a route, for one reader. Leaving the loop ends the connection, as does `stop`. */
export interface ClientStream<Item> extends AsyncIterable<Item> {
  /** Ends the iteration, the connection, and all attempts to connect again. */
  stop(): void;
}

/** The server has refused the stream with a status that a repetition does not change. */
export class StreamRefusedError extends Error {
  override readonly name = "StreamRefusedError";

  constructor(
    /** The response. Its body is in `error`. */
    readonly response: Response,
    /** The body of the response. */
    readonly error: unknown,
  ) {
    super(`The server refused the stream with ${response.status} ${response.statusText}`.trimEnd());
  }
}

/** The parts of the argument of a call that are read here. */
export interface StreamInit extends RequestInitParts {
  readonly signal?: AbortSignal | null;
}

/** Sends the request for the events. */
type Send = (init: StreamInit) => Promise<{ error?: unknown; response: Response }>;

/** Milliseconds before the first attempt to connect again, and the most between two of them. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 30_000;

/** The longest delay of a timer, 25 days. A timer with a longer one fires after a millisecond. */
const MAX_TIMER_MS = 2_147_483_647;

/** A proxy without a server, a server that stops, a limit: RFC 9110 §15.6, RFC 6585 §4. */
const TEMPORARY = new Set([429, 502, 503, 504]);

/**
 * Reads events until one of these ends: `stop`, the loop, or the response. A response is cut if a server or a proxy stops, so
 * after events with ids it is asked for again. 204, an event `error`, and an end without ids are final.
 */
export function openStream(send: Send, init: StreamInit): ClientStream<ReceivedEvent> {
  const controller = new AbortController();
  const { signal } = controller;
  init.signal?.addEventListener("abort", () => controller.abort(), { once: true });
  if (init.signal?.aborted) controller.abort();
  return {
    stop: () => controller.abort(),
    async *[Symbol.asyncIterator]() {
      const reader = new EventReader(send, init, signal);
      try {
        for (; !signal.aborted && !reader.hasEnded; await reader.pause()) yield* reader.read();
      } finally {
        controller.abort();
      }
    },
  };
}

class EventReader {
  hasEnded = false;
  readonly #send: Send;
  readonly #init: StreamInit;
  readonly #signal: AbortSignal;
  #lastEventId: string | null = null;
  #firstPauseMs = FIRST_PAUSE_MS;
  #hasConnected = false;
  #attempts = 0;
  #retryAfterMs = 0;

  constructor(send: Send, init: StreamInit, signal: AbortSignal) {
    this.#send = send;
    this.#init = init;
    this.#signal = signal;
  }

  /** The events of one connection. @throws StreamRefusedError, and the error of the first connection. */
  async *read(): AsyncGenerator<ReceivedEvent, void, undefined> {
    let last: ReceivedEvent | null = null;
    try {
      const body = await this.#connect();
      if (body === null) return;
      for await (const event of readServerSentEvents(body, (ms) => (this.#firstPauseMs = ms))) {
        if (event.id !== undefined) this.#lastEventId = event.id;
        this.#attempts = 0;
        last = event;
        yield event;
      }
      this.hasEnded = last?.event === "error" || this.#lastEventId === null;
    } catch (error) {
      // Before the first response the reason may be a wrong address, or a bug in middleware.
      if (!this.#hasConnected && !this.#signal.aborted) throw error;
      if (error instanceof StreamRefusedError) throw error;
    }
  }

  /** Waits before the next attempt, at random so that the clients of a server do not all come back at once. */
  async pause(): Promise<void> {
    if (this.hasEnded || this.#signal.aborted) return;
    const longest = Math.min(this.#firstPauseMs * 2 ** this.#attempts++, MAX_PAUSE_MS);
    const ms = Math.min(Math.max(longest * (0.5 + Math.random() / 2), this.#retryAfterMs), MAX_TIMER_MS);
    this.#retryAfterMs = 0;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, ms);
      const signal = this.#signal;
      function done(): void {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        resolve();
      }
      signal.addEventListener("abort", done);
    });
  }

  /** @returns `null` for a connection without events. */
  async #connect(): Promise<ReadableStream<Uint8Array> | null> {
    const headers = new Headers(this.#init.headers);
    headers.set("accept", "text/event-stream");
    if (this.#lastEventId !== null) headers.set("last-event-id", utf8(this.#lastEventId));
    const { error, response } = await this.#send({ ...this.#init, headers, signal: this.#signal });
    if (TEMPORARY.has(response.status)) {
      this.#retryAfterMs = 1_000 * (Number(response.headers.get("retry-after")) || 0);
      return null;
    }
    if (!response.ok) throw new StreamRefusedError(response, error);
    this.#hasConnected = true;
    this.hasEnded = response.status === 204;
    return this.hasEnded ? null : response.body;
  }
}

/** A header carries bytes, and browsers send this one in UTF-8 (HTML §9.2.3). */
function utf8(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text));
}
