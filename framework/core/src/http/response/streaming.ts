/** Responses whose body is sent in chunks while it is produced. @module */
import type { Send } from "../../protocol/asgi.js";
import { encodeUTF8 } from "../../protocol/header-list.js";
import { ClientDisconnect } from "../../common/exceptions.js";
import { markMethods, nextTurn } from "../../common/promises.js";
import type { Request } from "../request.js";
import { watchClient } from "../request/body.js";
import { responseFacts, sendWhole } from "../../protocol/response.js";
import { claim, GONE, Pull, SILENT, type Waited } from "./pull.js";
import { NO_BYTES, PREPARE, Response, type ResponseOptions, type Sender } from "./response.js";

/** Something that can be iterated: a generator, an array, a web `ReadableStream`, a Node `Readable`. */
export type StreamContent<Item = string | Uint8Array> = AsyncIterable<Item> | Iterable<Item>;

/**
 * Milliseconds for which a source that never waits may hold the event loop, where the server never asks for a pause:
 * without one the end of the client would go unseen.
 */
const MAX_TURN_MS = 10;

/** When the first stream has sent data in this turn of the event loop; 0 if none has. */
let turnBegan = 0;

/** Tells if all streams together have held the loop for too long. Called by each that has sent something. */
function holdsLoop(): boolean {
  const now = performance.now();
  if (turnBegan === 0) {
    turnBegan = now;
    void nextTurn().then(() => (turnBegan = 0));
  }
  return now - turnBegan > MAX_TURN_MS;
}

/** Tells if something is an iterable object, sync or async. */
export function isIterable(content: unknown): boolean {
  return (
    typeof content === "object" && content !== null && (Symbol.asyncIterator in content || Symbol.iterator in content)
  );
}

function assertIterable(content: unknown, className: string): void {
  if (typeof content === "function") {
    throw new TypeError(`${className} requires an iterable, not a generator function: call the function.`);
  }
  if (typeof content === "string" || content instanceof Uint8Array) {
    throw new TypeError(
      `${className} requires an iterable of chunks. Use Response for text or bytes that are complete.`,
    );
  }
  if (!isIterable(content)) {
    const given = content === null ? "null" : typeof content;
    throw new TypeError(`${className} takes an iterable or an async iterable, not ${given}.`);
  }
}

/**
 * A source that must look at the request before the head is sent: it refuses the client with an `HTTPException`, or continues
 * after the event that the client has seen last.
 */
export const OPEN: unique symbol = Symbol.for("tsgi.stream.open");

/** A source with its own way to begin. */
export interface OpenableStream<Item> extends AsyncIterable<Item> {
  /** Gives the items to send. @param request - Absent if the response is sent without one. */
  [OPEN](request: Request | undefined): Promise<AsyncIterable<Item>>;
}

function isOpenable<Item>(content: StreamContent<Item>): content is OpenableStream<Item> {
  return OPEN in content;
}

/** The failure of a source, in words that the client may see. */
export const FAILURE: unique symbol = Symbol.for("tsgi.stream.failure");

/** An error that a stream of events reports to the client instead of cutting the connection. */
export interface StreamFailure {
  /** The detail for the client. */
  readonly [FAILURE]: string;
}

export function isStreamFailure(error: unknown): error is StreamFailure {
  return typeof error === "object" && error !== null && FAILURE in error;
}

/** The time that a stream waits for its source, and the bytes that it sends meanwhile. */
export interface Pace {
  /** Milliseconds that the head waits for the first part; 0 for no limit. */
  readonly headMs: number;
  /** Milliseconds without a chunk after which `silence` is sent; 0 for never. */
  readonly silenceMs: number;
  /** Bytes to send when no part has come for `silenceMs`. */
  readonly silence: Uint8Array;
}

/** Closes the source of a response that is not sent. */
export const CLOSE_SOURCE: unique symbol = Symbol("closeSource");

/** The pace of a stream. */
export const PACE: unique symbol = Symbol("pace");

export const NO_PACE: Pace = { headMs: 0, silenceMs: 0, silence: NO_BYTES };

/**
 * A response whose body is made while it is sent. The next part is asked for when the one before it is with the server,
 * so that a slow client slows its source down. The source is closed when it has ended or failed and when the client has
 * disconnected; for HEAD it is never started. The head is sent with the first chunk: an earlier error results in a
 * normal error response, a later one closes the connection.
 *
 * @example
 * ```ts
 * import { App, StreamingResponse } from "tsgi";
 *
 * async function* count() {
 *   for (let n = 1; n <= 3; n++) yield `${n}\n`;
 * }
 * const app = new App();
 * app.get("/count", async () => new StreamingResponse(count(), { mediaType: "text/plain" }));
 * ```
 */
export class StreamingResponse<Item = string | Uint8Array> extends Response {
  readonly #content: StreamContent<Item>;

  static {
    markMethods(StreamingResponse.prototype, [PREPARE, "send"]);
  }

  /** @internal */
  readonly [PACE]: Pace = NO_PACE;

  /**
   * @param content - Text (sent as UTF-8) or bytes, in parts.
   * @throws TypeError when it cannot be iterated.
   */
  constructor(content: StreamContent<Item>, options: ResponseOptions = {}) {
    super(null, options);
    assertIterable(content, new.target.name);
    this.#content = content;
    claim(content);
  }

  /** Makes text or bytes of an item. @throws TypeError when it cannot be sent. */
  protected encode(item: Item): Promise<string | Uint8Array> | string | Uint8Array {
    if (typeof item === "string" || item instanceof Uint8Array) return item;
    throw new TypeError(`A stream takes text or bytes, not ${item === null ? "null" : typeof item}.`);
  }

  /** The last part of a stream whose source has failed; `null` to cut the connection. @internal */
  protected failurePart(_error: unknown, _request: Request | undefined): string | null {
    return null;
  }

  /** The source has ended without a part: the head can still change. @internal */
  protected endedEarly(_request: Request): void {}

  /** @internal */
  async [CLOSE_SOURCE](): Promise<void> {
    // One that opens itself has not begun.
    if (!isOpenable(this.#content)) await new Pull(this.#content).close();
  }

  /** Waits for the first part. @internal */
  override async [PREPARE](headOnly: boolean, request?: Request): Promise<Sender> {
    const content = this.#content;
    const pull = new Pull(isOpenable(content) ? await content[OPEN](request) : content);
    if (headOnly || responseFacts(this.statusCode, "GET").bodyless) {
      await pull.close();
      return (send) => sendWhole({ send }, this.statusCode, this.headers.toList(), NO_BYTES);
    }
    const stop = request ? watchClient(request, () => pull.leave()) : () => {};
    let first: Uint8Array | null;
    try {
      first = await this.#toBytes(await pull.next(this[PACE].headMs), NO_BYTES);
    } catch (error) {
      stop();
      await pull.close();
      const part = this.failurePart(error, request);
      if (part === null) throw error;
      return (send) => sendWhole({ send }, this.statusCode, this.headers.toList(), encodeUTF8(part));
    }
    if (first === null && request !== undefined) this.endedEarly(request);
    const sender: Sender = (send) => this.#sendFrom(first, pull, { send, request }).finally(stop);
    sender.cancel = () => pull.close().finally(stop);
    return sender;
  }

  override async send(send: Send, headOnly = false, request?: Request): Promise<void> {
    const sender = await this[PREPARE](headOnly, request);
    await sender(send);
  }

  async #sendFrom(
    first: Uint8Array | null,
    pull: Pull<Item>,
    { send, request }: { readonly send: Send; readonly request: Request | undefined },
  ): Promise<void> {
    const { silenceMs, silence } = this[PACE];
    try {
      await send({ type: "http.response.start", status: this.statusCode, headers: this.headers.toList() });
      for (let body = first; body !== null; body = await this.#toBytes(await pull.next(silenceMs), silence)) {
        const sent = send({ type: "http.response.body", body, more_body: true });
        if (sent) await sent;
        if (holdsLoop()) await nextTurn();
      }
    } catch (error) {
      await pull.close();
      const part = this.failurePart(error, request);
      if (part === null) throw error;
      return send({ type: "http.response.body", body: encodeUTF8(part), more_body: false });
    }
    await send({ type: "http.response.body", body: NO_BYTES, more_body: false });
  }

  /** A chunk as bytes, `silence` if no chunk arrived in time, `null` for the end. */
  #toBytes(step: Waited<Item>, silence: Uint8Array): Promise<Uint8Array> | Uint8Array | null {
    if (step === SILENT) return silence;
    if (step === GONE) throw new ClientDisconnect();
    if (step.done) return null;
    const part = this.encode(step.value);
    return typeof part === "string" || part instanceof Uint8Array ? encodePart(part) : part.then(encodePart);
  }
}

function encodePart(part: string | Uint8Array): Uint8Array {
  return typeof part === "string" ? encodeUTF8(part) : part;
}
