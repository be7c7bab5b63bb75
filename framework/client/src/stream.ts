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
const MAX_PAUSE_MS = 10_000;

/** Attempts in a row without an event. */
const MAX_ATTEMPTS = 10;

/** The longest delay of a timer, 25 days. A timer with a longer one fires after a millisecond. */
const MAX_TIMER_MS = 2_147_483_647;

/** A proxy without a server, a server that stops, a limit: RFC 9110 §15.6, RFC 6585 §4. */
const TEMPORARY = new Set([429, 502, 503, 504]);

/**
 * Reads events until one of these ends: `stop`, the loop, or the response. A response ends if a server or a proxy stops, so
 * it is requested again if the server has sent an id or `retry`. Otherwise its end is final, because a second response
 * would repeat the work of the handler. 204 and an event `error` are final, too.
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
  #lastEventId = "";
  /** The server's `retry`, or `null`. */
  #retryMs: number | null = null;
  /** Attempts in a row without an event. */
  #attempts = 0;
  /** Pauses since the last event. */
  #pauses = 0;
  #retryAfterMs = 0;

  constructor(send: Send, init: StreamInit, signal: AbortSignal) {
    this.#send = send;
    this.#init = init;
    this.#signal = signal;
  }

  get #isResumable(): boolean {
    return this.#lastEventId !== "" || this.#retryMs !== null;
  }

  /** The events of one connection. @throws the error of the last attempt, and of a response that is not resumed. */
  async *read(): AsyncGenerator<ReceivedEvent, void, undefined> {
    this.#attempts += 1;
    let failure: unknown = new Error(`The stream ended ${MAX_ATTEMPTS} times without an event`);
    let isFinal = false;
    try {
      yield* this.#readEvents(await this.#connect());
      this.hasEnded ||= !this.#isResumable;
    } catch (error) {
      failure = error;
      const refusal = error instanceof StreamRefusedError ? error.response.status : null;
      // Before the first response the reason may be a wrong address, or a bug in middleware.
      isFinal = refusal === null ? !this.#isResumable : !TEMPORARY.has(refusal);
    }
    if (this.hasEnded || this.#signal.aborted) return;
    if (isFinal || this.#attempts >= MAX_ATTEMPTS) throw failure;
  }

  async *#readEvents(body: ReadableStream<Uint8Array> | null): AsyncGenerator<ReceivedEvent, void, undefined> {
    if (body === null) return;
    const onId = (id: string) => (this.#lastEventId = id);
    const onRetry = (ms: number) => (this.#retryMs = ms);
    for await (const event of readServerSentEvents(body, { onId, onRetry })) {
      this.#attempts = this.#pauses = 0;
      this.hasEnded = event.event === "error";
      yield event;
      if (this.hasEnded) return;
    }
  }

  /** Waits before the next attempt, at random so that the clients of a server do not all come back at once. */
  async pause(): Promise<void> {
    if (this.hasEnded || this.#signal.aborted) return;
    const firstMs = this.#retryMs ?? FIRST_PAUSE_MS;
    const longest = Math.min(firstMs * 2 ** this.#pauses++, Math.max(firstMs, MAX_PAUSE_MS));
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

  /** @returns the body of the response; `null` if it is 204. @throws StreamRefusedError for a status of 400 or more. */
  async #connect(): Promise<ReadableStream<Uint8Array> | null> {
    const headers = new Headers(this.#init.headers);
    headers.set("accept", "text/event-stream");
    if (this.#lastEventId !== "") headers.set("last-event-id", utf8(this.#lastEventId));
    const { error, response } = await this.#send({ ...this.#init, headers, signal: this.#signal });
    if (!response.ok) {
      this.#retryAfterMs = delayOf(response.headers.get("retry-after"));
      throw new StreamRefusedError(response, error);
    }
    this.hasEnded = response.status === 204;
    return response.body;
  }
}

/** The milliseconds of `Retry-After`, which is a number of seconds or a date (RFC 9110 §10.2.3). */
function delayOf(retryAfter: string | null): number {
  if (retryAfter === null) return 0;
  return (/^\d+$/.test(retryAfter) ? 1_000 * Number(retryAfter) : Date.parse(retryAfter) - Date.now()) || 0;
}

/** A header carries bytes, and browsers send this one in UTF-8 (HTML §9.2.3). */
function utf8(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text));
}
