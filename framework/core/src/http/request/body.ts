/** The body of a request as the application reads it: limits, streaming, and the end of the client. @module */
import type { Receive } from "../../protocol/asgi.js";
import { ClientDisconnect, HTTPException } from "../../common/exceptions.js";
import { parseList } from "../../protocol/http-grammar.js";
import { nextTurn as loopTurn, setIdleTimeout } from "../../common/promises.js";
import { ChunkQueue } from "./chunk-queue.js";

/**
 * Bytes of an unread body that are buffered to detect a disconnect: a server reports it only after the bytes that the
 * client sent before.
 */
const MAX_AHEAD_BYTES = 1024 * 1024;

/**
 * Milliseconds until one more part is taken in beyond that, and at most. A socket that is not read does not report a
 * disconnect. Each pause is twice the one before: an hour costs 12 parts, and an end that the server knows of, its own
 * timeout of the request too, is seen in no more than twice the time.
 */
const FIRST_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 3_600_000;

/** Empty messages after which `receive` is not called again to detect a disconnect. */
const MAX_IDLE = 10;

/** Rejects a body with more bytes than a limit allows. @param what - Such as `"body is"`. */
export function tooLarge(limit: number, what = "body is"): HTTPException {
  return new HTTPException(413, `The ${what} larger than ${limit} bytes`);
}

/** Rejects an encoded body with the coding that is read: RFC 9110 §12.5.3, §15.5.16. */
export function assertIdentity(encoding: string | undefined): void {
  if (encoding === undefined || parseList(encoding).every((coding) => coding.toLowerCase() === "identity")) return;
  throw new HTTPException(415, "Content-Encoding should be identity", { headers: { "Accept-Encoding": "identity" } });
}

/**
 * The body of one request as it arrives. Everything that reads from the server goes through here, so that a reader of
 * the body and a watcher of the connection never take messages from each other.
 */
export class IncomingBody {
  readonly #receive: Receive;
  readonly #waiting = new ChunkQueue();
  #ended = false;
  #gone = false;
  /** A message that ASGI does not know here: readers that come later get the same error. */
  #fault: TypeError | null = null;
  /** Messages of `receive` without news: an empty part, or more of the body after its end. */
  #idle = 0;
  #reading: Promise<void> | null = null;
  #onGone: (() => void) | null = null;
  #isWatching = false;
  /** Ends the pause before the next part is taken in. */
  #wake: (() => void) | null = null;

  constructor(receive: Receive) {
    this.#receive = receive;
  }

  /** Takes one message from the server. Two callers at a time share it. */
  #pull(): Promise<void> {
    if (this.#fault !== null) return Promise.reject(this.#fault);
    return (this.#reading ??= this.#receive().then(
      (message) => {
        this.#reading = null;
        if (message.type === "http.request") this.#take(message.body, message.more_body === true);
        else if (message.type === "http.disconnect") this.#leave();
        else
          throw (this.#fault = new TypeError(
            `Expected "http.request" or "http.disconnect", not ${JSON.stringify(message.type)}.`,
          ));
      },
      (error: unknown) => {
        this.#reading = null;
        throw error;
      },
    ));
  }

  #take(chunk: Uint8Array | undefined, more: boolean): void {
    if (this.#ended || (more && !chunk?.length)) this.#idle++;
    if (this.#ended) return;
    if (chunk) this.#waiting.push(chunk);
    this.#ended = !more;
  }

  #leave(): void {
    this.#gone = true;
    this.#onGone?.();
  }

  /**
   * The next part of the body, or `null` at its end.
   *
   * @throws ClientDisconnect if the client disconnects before the end.
   */
  async next(): Promise<Uint8Array | null> {
    for (;;) {
      const chunk = this.#waiting.shift();
      if (chunk) {
        this.#goOnWatching();
        return chunk;
      }
      if (this.#ended) return null;
      if (this.#gone) throw new ClientDisconnect();
      await this.#pull();
    }
  }

  /**
   * The whole body.
   *
   * @throws HTTPException 413 as soon as there are more than `limit` bytes.
   */
  async readAll(limit: number): Promise<Uint8Array> {
    for (;;) {
      if (this.#waiting.bytes > limit) throw tooLarge(limit);
      if (this.#ended) {
        const whole = this.#waiting.takeAll();
        this.#goOnWatching();
        return whole;
      }
      if (this.#gone) throw new ClientDisconnect();
      await this.#pull();
    }
  }

  /** `true` while a message can be received without a reader. */
  get #mayLookAhead(): boolean {
    return !this.#gone && this.#idle <= MAX_IDLE;
  }

  /** `true` while as much waits as is taken in without a pause. */
  get #isFull(): boolean {
    return !this.#ended && this.#waiting.bytes >= MAX_AHEAD_BYTES;
  }

  /**
   * Calls `onGone` once when the client disconnects. Reads 1 MiB ahead without a reader, and then another chunk from
   * time to time; continues when data has been read.
   */
  watch(onGone: () => void): void {
    if (this.#gone) return onGone();
    this.#onGone = onGone;
    this.#goOnWatching();
  }

  /** Ends `watch`. */
  unwatch(): void {
    this.#onGone = null;
    this.#wake?.();
  }

  #goOnWatching(): void {
    this.#wake?.();
    if (this.#onGone === null || this.#isWatching || !this.#mayLookAhead) return;
    this.#isWatching = true;
    this.#lookAhead().then(
      () => {
        this.#isWatching = false;
      },
      () => {
        // The server's `receive` failed: the next reader of the body gets that error.
        this.#isWatching = false;
        this.#onGone = null;
      },
    );
  }

  async #lookAhead(): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    while (this.#onGone !== null && this.#mayLookAhead) {
      if (this.#isFull) {
        const wasWoken = await this.#pause(pauseMs);
        pauseMs = wasWoken ? FIRST_PAUSE_MS : Math.min(2 * pauseMs, MAX_PAUSE_MS);
        if (wasWoken) continue;
      }
      const before = this.#waiting.bytes;
      await this.#pull();
      // A `receive` that resolves at once without news must not starve the event loop.
      if (this.#waiting.bytes === before) await nextTurn();
    }
  }

  /** Waits before the next part is taken in. Resolves to `true` when a reader or `unwatch` has ended it. */
  #pause(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (wasWoken: boolean): void => {
        clearTimeout(timer);
        this.#wake = null;
        resolve(wasWoken);
      };
      const timer = setIdleTimeout(() => end(false), ms);
      this.#wake = () => end(true);
    });
  }

  /**
   * Tells if the client has disconnected, without waiting for it. If the buffer is full, it continues to watch after
   * the response.
   */
  async poll(): Promise<boolean> {
    const turn = nextTurn().then(() => true);
    for (let isOver = false; !isOver && this.#mayLookAhead && !this.#isFull;) {
      const before = this.#waiting.bytes;
      isOver = await Promise.race([this.#pull().then(() => false), turn]);
      if (this.#waiting.bytes === before && !this.#ended) isOver = await turn;
    }
    if (this.#isFull && this.#onGone === null) this.watch(() => {});
    return this.#gone;
  }
}

/** Long enough for a server to complete a `receive` that does not wait. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0);
  });
}

/** Milliseconds for which a client that is reported gone before anything was asked of it is taken to be there. */
const EARLY_LEAVE_MS = 500;

/** Options of `watchClient`. */
interface WatchOptions {
  /** `true` detects every early disconnect, and costs a call of `receive`. Defaults to `false`. */
  readonly startsNow?: boolean;
}

/**
 * Calls `onGone` when the client of a request goes. Begins in the next turn, so that a response which is ready is sent
 * without a call of `receive`. A server whose first message is a disconnect may be a caller without a connection that
 * has no more messages: a real one rejects messages that are sent to it.
 *
 * @returns A function that stops it.
 */
export function watchClient(
  request: { readonly signal: AbortSignal },
  onGone: () => void,
  { startsNow = false }: WatchOptions = {},
): () => void {
  let signal: AbortSignal | null = null;
  let isEarly = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  if (startsNow) begin();
  else timer = setTimeout(begin, 0);

  function onAbort(): void {
    clearTimeout(timer);
    if (!isEarly) return onGone();
    timer = setIdleTimeout(onGone, EARLY_LEAVE_MS);
  }

  function begin(): void {
    void loopTurn().then(() => (isEarly = false));
    signal = request.signal;
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort);
  }

  return () => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  };
}
