/** The body of a request, between a parser that pushes and an application that pulls. @module */
import type { HTTPDisconnectMessage, HTTPRequestMessage } from "../asgi.js";
import type { BodyFlow } from "./engine.js";
import { markHandled } from "../promises.js";
import { ProtocolError } from "./errors.js";

const EMPTY = Buffer.alloc(0);
/** The answer to `receive` once the client has gone or the response is complete. */
const DISCONNECT: HTTPDisconnectMessage = Object.freeze({ type: "http.disconnect" });
/** Bytes that wait in memory before the client has to wait. */
const MAX_WAITING_BYTES = 65_536;
/** Bytes that a chunk takes beside its content, so that a body of single bytes cannot fill the memory. */
const CHUNK_BYTES = 100;
/** As many chunks are joined: what a parser has read already comes even where the client has to wait, byte by byte. */
const MAX_CHUNKS = 256;

type Message = HTTPRequestMessage | HTTPDisconnectMessage;

/**
 * Gives the body of one request as ASGI messages. Bytes that arrive before they are asked for wait, up to a bound; then the client
 * does, so that a slow application slows its client down instead of filling memory.
 */
export class RequestBody {
  readonly #flow: BodyFlow | null;
  #isStarted = false;
  #waitingBytes = 0;
  #chunks: Uint8Array[] | null = null;
  #isPaused = false;
  #isComplete: boolean;
  #isRead = false;
  #isHalfClosed = false;
  #isOver = false;
  #receiver: ((message: Message) => void) | null = null;

  /**
   * @param flow - The source of the body; `null` for none.
   * @param bodyBytes - Bytes of the body; `NaN` where nobody said.
   */
  constructor(flow: BodyFlow | null, bodyBytes: number) {
    this.#flow = flow;
    this.#isComplete = bodyBytes === 0;
  }

  /** The next message. One call at a time. */
  receive(): Promise<Message> {
    if (this.#isOver) {
      return Promise.resolve(DISCONNECT);
    }
    if (this.#receiver !== null) {
      return markHandled(
        Promise.reject(new ProtocolError("receive was called while an earlier call of it still waits.")),
      );
    }
    if (!this.#isStarted) {
      const fault = this.#flow?.start?.() ?? null;
      if (fault !== null) return markHandled(Promise.reject(fault));
      this.#isStarted = true;
    }
    const message = this.#next() ?? (this.#isRead && this.#isHalfClosed ? DISCONNECT : null);
    return message === null ? new Promise((resolve) => (this.#receiver = resolve)) : Promise.resolve(message);
  }

  /**
   * Takes bytes as they come. They are kept as they are.
   *
   * @returns Whether more may come; if not, the flow is resumed later.
   */
  take(chunk: Uint8Array, isLast: boolean): boolean {
    this.#isComplete ||= isLast;
    if (this.#isOver) {
      return true;
    }
    if (chunk.length > 0) {
      if (this.#chunks?.length === MAX_CHUNKS) this.#chunks = [Buffer.concat(this.#chunks)];
      (this.#chunks ??= []).push(chunk);
      this.#waitingBytes += chunk.length + CHUNK_BYTES;
    }
    const message = this.#receiver === null ? null : this.#next();
    if (message !== null) {
      this.#settle(message);
    }
    this.#isPaused = !this.#isComplete && this.#waitingBytes >= MAX_WAITING_BYTES;
    return !this.#isPaused;
  }

  /** The client sends nothing behind the body: `receive` says `http.disconnect` once the body is read. */
  halfClose(): void {
    this.#isHalfClosed = true;
    if (this.#isRead) this.#settle(DISCONNECT);
  }

  /** Answers the call that waits, and every later one, with `http.disconnect`. */
  end(): void {
    this.#isOver = true;
    this.#chunks = null;
    this.#settle(DISCONNECT);
  }

  #next(): HTTPRequestMessage | null {
    const chunks = this.#chunks;
    if (this.#isRead || (chunks === null && !this.#isComplete)) {
      return null;
    }
    this.#chunks = null;
    this.#waitingBytes = 0;
    this.#isRead = this.#isComplete;
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#flow?.resume();
    }
    return { type: "http.request", body: joined(chunks), more_body: !this.#isRead };
  }

  #settle(message: Message): void {
    const receiver = this.#receiver;
    this.#receiver = null;
    receiver?.(message);
  }
}

function joined(chunks: readonly Uint8Array[] | null): Uint8Array {
  if (chunks === null) {
    return EMPTY;
  }
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
}
