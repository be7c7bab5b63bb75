import type { ReceiveMessage } from "../asgi.js";
import { asBytes, createBytes } from "../datastructures.js";
import { ProtocolError } from "../exceptions.js";

const EMPTY = createBytes(0);

/**
 * A body up to this length, that of a part over a socket, is read by one call of the platform. As a stream it takes 2,300 ns
 * longer on Bun.
 */
const MAX_WHOLE_BYTES = 65_536;
const DISCONNECT = Object.freeze({ type: "http.disconnect" } as const);

/** The body of a platform's request as messages: read when `receive` is called, never before. */
export class RequestBody {
  readonly #request: globalThis.Request;
  readonly #onStream: () => void;
  readonly #onFailure: (reason: unknown) => void;
  #reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  #hasEnded = false;
  #isOver = false;
  /** The calls of {@link receive} that wait. */
  readonly #waiting = new Set<(message: ReceiveMessage) => void>();

  /**
   * @param onStream - Called before a part of a stream, or the end of the exchange, is waited for. A small body, which fails
   *   by itself when its client leaves, is read without it.
   * @param onFailure - Called when the body does not come whole: its client has gone.
   */
  constructor(request: globalThis.Request, onStream: () => void, onFailure: (reason: unknown) => void) {
    this.#request = request;
    this.#onStream = onStream;
    this.#onFailure = onFailure;
  }

  /** The next part of the body; behind its end, the end of the exchange. */
  receive(): Promise<ReceiveMessage> {
    if (this.#isOver) return Promise.resolve(DISCONNECT);
    try {
      return this.#next();
    } catch (error) {
      return Promise.resolve(this.#fail(error)); // Deno closes a request whose client has gone: its body throws
    }
  }

  #next(): Promise<ReceiveMessage> {
    if (this.#isWhole()) return this.#readWhole();
    this.#onStream();
    if (this.#isOver) return Promise.resolve(DISCONNECT);
    if (!this.#hasEnded && this.#request.body === null) {
      this.#hasEnded = true;
      return Promise.resolve({ type: "http.request", body: EMPTY, more_body: false });
    }
    // Not a race with a promise that lives as long as the request: that would keep every part of the body.
    return new Promise((resolve, reject) => {
      this.#waiting.add(resolve);
      if (!this.#hasEnded) this.#read(resolve, reject);
    });
  }

  /** `true` for a small body that has not been asked for: it comes as one part. */
  #isWhole(): boolean {
    if (this.#hasEnded || this.#reader !== null) return false;
    return Number(this.#request.headers.get("content-length") ?? Infinity) <= MAX_WHOLE_BYTES;
  }

  async #readWhole(): Promise<ReceiveMessage> {
    try {
      if (this.#request.bodyUsed) throwTaken();
      this.#hasEnded = true;
      const body = asBytes(new Uint8Array(await this.#request.arrayBuffer()));
      if (!this.#isOver) return { type: "http.request", body, more_body: false };
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      if (this.#isLocked()) throwTaken(error);
      return this.#fail(error);
    }
    return DISCONNECT;
  }

  /** `true` where somebody else has the body and has read none of it. Not asked in front: Bun makes a stream to answer. */
  #isLocked(): boolean {
    try {
      const { bodyUsed, body } = this.#request;
      return !bodyUsed && body?.locked === true;
    } catch {
      return false; // Deno has closed the request
    }
  }

  /** The body does not come whole. */
  #fail(reason: unknown): ReceiveMessage {
    this.end();
    this.#onFailure(reason);
    return DISCONNECT;
  }

  #read(resolve: (message: ReceiveMessage) => void, reject: (error: unknown) => void): void {
    const settle = (step: () => ReceiveMessage): void => {
      if (!this.#waiting.delete(resolve)) return;
      try {
        resolve(step());
      } catch (error) {
        reject(error);
      }
    };
    try {
      this.#reader ??= (this.#request.body as ReadableStream<Uint8Array>).getReader();
    } catch (error) {
      return settle(() => throwTaken(error));
    }
    this.#reader.read().then(
      ({ done, value }) => settle(() => (done ? this.#last() : part(value))),
      (reason: unknown) => void this.#fail(reason),
    );
  }

  #last(): ReceiveMessage {
    this.#hasEnded = true;
    return { type: "http.request", body: EMPTY, more_body: false };
  }

  /** Says to all who wait, and to all who ask later, that there is nothing more. */
  end(): void {
    this.#isOver = true;
    for (const resolve of this.#waiting) resolve(DISCONNECT);
    this.#waiting.clear();
  }

  /** Lets go of what has not been read. */
  release(): Promise<void> | void {
    this.end();
    if (this.#hasEnded) return;
    return this.#reader === null ? releaseBody(this.#request) : this.#reader.cancel();
  }
}

/** Lets go of a body that nobody has begun to read. A GET has none (Fetch §5.4), and to ask takes 10 µs on Deno. */
export function releaseBody(request: globalThis.Request): Promise<void> | void {
  if (request.method === "GET") return;
  const { body } = request;
  if (body !== null && !body.locked) return body.cancel();
}

function part(value: unknown): ReceiveMessage {
  if (!(value instanceof Uint8Array)) throw new ProtocolError(`Expected bytes in the body, not ${typeof value}.`);
  return { type: "http.request", body: asBytes(value), more_body: true };
}

function throwTaken(cause?: unknown): never {
  throw new ProtocolError("The body of the platform's request is already read, or being read.", { cause });
}
