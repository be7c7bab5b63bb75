/** Pulls items out of a stream's source, and closes it when the client disconnects. @module */
import { markHandled, setIdleTimeout } from "../../common/promises.js";

/** Result of a wait that took as long as was asked. */
export const SILENT = "silent";
/** Result of a wait after the client has disconnected. */
export const GONE = "gone";

/** The result of a wait for the next item. */
export type Waited<Item> = IteratorResult<Item, unknown> | typeof SILENT | typeof GONE;

/**
 * Milliseconds that a source may take to close after its client has disconnected. A generator that waits for something
 * else cannot be interrupted; past this its cleanup runs without being awaited.
 */
const MAX_CLOSE_MS = 1000;

/** The parts of a Node stream that are used here. */
interface NodeStream {
  destroy(): unknown;
  on(event: "error", listener: () => void): unknown;
}

function isNodeStream(content: object): content is NodeStream {
  const { destroy, on } = content as Partial<NodeStream>;
  return typeof destroy === "function" && typeof on === "function";
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/** Tells if something is a `ReadableStream` of the platform. */
function isWebStream<Item>(content: AsyncIterable<Item> | Iterable<Item>): content is ReadableStream<Item> {
  return "getReader" in content && typeof content.getReader === "function";
}

async function rejected(error: unknown): Promise<never> {
  throw error;
}

/**
 * Reads a web stream. Its own iterator delays `return` until the pending read has settled (Web IDL §3.7.10.2), which
 * may never happen: its source would not be notified of the disconnect.
 */
function readerOf<Item>(stream: ReadableStream<Item>): AsyncIterator<Item, unknown> {
  const reader = stream.getReader();
  let isOver = false;
  return {
    next: async () => {
      try {
        const step = await reader.read();
        isOver = step.done;
        return step;
      } catch (error) {
        isOver = true;
        throw error;
      }
    },
    return: async () => {
      if (!isOver) await reader.cancel();
      return { done: true, value: undefined };
    },
  };
}

function iteratorOf<Item>(
  content: AsyncIterable<Item> | Iterable<Item>,
): AsyncIterator<Item, unknown> | Iterator<Item, unknown> {
  if (isWebStream(content)) return readerOf(content);
  return Symbol.asyncIterator in content ? content[Symbol.asyncIterator]() : content[Symbol.iterator]();
}

/**
 * Listens for the errors of content that is not read yet. Attack: a Node stream that cannot be opened, or a promise in a
 * list that rejects, would else end the process before its response is sent.
 */
export function claim(content: unknown): void {
  if (typeof content !== "object" || content === null) return;
  if (isNodeStream(content)) content.on("error", () => {});
  else if (Array.isArray(content)) {
    for (const part of content as readonly unknown[]) if (isThenable(part)) part.then(undefined, () => {});
  }
}

/** Takes the items of a source one by one, and closes it however that ends. */
export class Pull<Item> {
  readonly #content: AsyncIterable<Item> | Iterable<Item>;
  readonly #iterator: AsyncIterator<Item, unknown> | Iterator<Item, unknown>;
  /** Ends the wait under way. */
  #resolve: ((waited: Waited<Item> | Promise<never>) => void) | null = null;
  #isAsked = false;
  /** The item, or the error, that arrived without a waiting reader. */
  #arrived: IteratorResult<Item, unknown> | Promise<never> | null = null;
  #gone = false;
  /** One timer for many waits: it restarts if it fires too early. */
  #timer: ReturnType<typeof setTimeout> | undefined;
  #silenceMs = 0;
  /** When the wait began. */
  #since = 0;

  constructor(content: AsyncIterable<Item> | Iterable<Item>) {
    this.#content = content;
    this.#iterator = iteratorOf(content);
  }

  /** Ends the wait for an item after a disconnect. */
  leave(): void {
    this.#gone = true;
    this.#end(GONE);
  }

  /** @param silenceMs - Milliseconds without an item after which the wait ends with `SILENT`; 0 for never. */
  next(silenceMs: number): Promise<Waited<Item>> | Waited<Item> {
    if (this.#gone) return GONE;
    const arrived = this.#arrived;
    if (arrived !== null) {
      this.#arrived = null;
      return arrived;
    }
    return new Promise((resolve) => {
      this.#resolve = resolve;
      this.#watchSilence(silenceMs);
      if (!this.#isAsked) void this.#ask();
    });
  }

  /** The promise of a value is awaited, as by `for await`. */
  async #ask(): Promise<void> {
    this.#isAsked = true;
    try {
      const step = await this.#iterator.next();
      if (step.done) this.#stopTimer();
      this.#take(!step.done && isThenable(step.value) ? { done: false, value: await step.value } : step);
    } catch (error) {
      this.#stopTimer();
      this.#take(markHandled(rejected(error)));
    }
  }

  #take(step: IteratorResult<Item, unknown> | Promise<never>): void {
    this.#isAsked = false;
    if (this.#resolve === null) this.#arrived = step;
    else this.#end(step);
  }

  #end(waited: Waited<Item> | Promise<never>): void {
    this.#resolve?.(waited);
    this.#resolve = null;
  }

  #watchSilence(silenceMs: number): void {
    if (silenceMs !== this.#silenceMs) this.#stopTimer();
    this.#silenceMs = silenceMs;
    if (silenceMs === 0) return;
    this.#since = performance.now();
    this.#timer ??= setIdleTimeout(() => this.#checkSilence(), silenceMs);
  }

  #checkSilence(): void {
    this.#timer = undefined;
    if (this.#resolve === null) return;
    const leftMs = this.#since + this.#silenceMs - performance.now();
    if (leftMs > 0) this.#timer = setIdleTimeout(() => this.#checkSilence(), leftMs);
    else this.#end(SILENT);
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Closes the source, even if it was never read. */
  async close(): Promise<void> {
    this.#stopTimer();
    // The iterator of a Node stream that was not started yet does not destroy it.
    if (isNodeStream(this.#content)) this.#content.destroy();
    const closing = this.#iterator.return?.();
    if (closing === undefined || !("then" in closing)) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => (timer = setIdleTimeout(resolve, MAX_CLOSE_MS)));
    await Promise.race([closing, late]).finally(() => clearTimeout(timer));
  }
}
