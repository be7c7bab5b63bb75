/** The body of a request, between a parser that pushes and an application that pulls. @module */
import type { HTTPDisconnectMessage, HTTPRequestMessage } from "../asgi.js";
import { ProtocolError } from "./errors.js";

const EMPTY = Buffer.alloc(0);
/** The answer to `receive` once the client has gone or the response is complete. */
const DISCONNECT: HTTPDisconnectMessage = Object.freeze({ type: "http.disconnect" });
/** Bytes that wait in memory before the client has to. */
const MAX_WAITING_BYTES = 65_536;
/** What a chunk takes beside its bytes, so that a body of single bytes is no way to fill memory. */
const CHUNK_BYTES = 100;
/** As many chunks are joined: what a parser has read already comes even where the client has to wait, byte by byte. */
const MAX_CHUNKS = 256;

type Message = HTTPRequestMessage | HTTPDisconnectMessage;

/** What is to be done before a body is read, such as to send `100 Continue`; gives why it cannot be read. */
export type FirstUse = () => ProtocolError | null;

/** What a body comes from. */
export interface BodyFlow {
  /** Whether all of it has come, as far as is known before it is taken: somebody else may have read it. */
  readonly complete?: boolean;
  /** Goes on, after {@link RequestBody.take} has asked to wait. */
  more(): void;
}

/**
 * Gives the body of one request as ASGI messages. What comes before it is asked for waits, up to a bound; then the client
 * does, so that a slow application slows its client down instead of filling memory.
 */
export class RequestBody {
  readonly #flow: BodyFlow;
  /** The `Content-Length`, or `NaN` where there is none. */
  readonly #announced: number;
  #onFirstUse: FirstUse | null;
  #received = 0;
  #waitingBytes = 0;
  #chunks: Uint8Array[] | null = null;
  #isPaused = false;
  #isComplete: boolean;
  #isRead = false;
  #isOver = false;
  #receiver: ((message: Message) => void) | null = null;

  /**
   * @param announced - How many bytes the body has; 0 for none, `NaN` where nobody said.
   * @param onFirstUse - Called when the application first asks for the body.
   */
  constructor(flow: BodyFlow, announced: number, onFirstUse: FirstUse | null) {
    this.#flow = flow;
    this.#announced = announced;
    this.#onFirstUse = onFirstUse;
    this.#isComplete = announced === 0;
  }

  /** Bytes that may still come from the client: 0 when all are here, `Infinity` when nobody said. */
  get outstanding(): number {
    if (this.#isComplete || this.#flow.complete === true) {
      return 0;
    }
    return Number.isNaN(this.#announced) ? Infinity : this.#announced - this.#received;
  }

  /** The next message. One call at a time. */
  receive(): Promise<Message> {
    if (this.#isOver) {
      return Promise.resolve(DISCONNECT);
    }
    if (this.#receiver !== null) {
      return Promise.reject(new ProtocolError("receive was called while an earlier call of it still waits."));
    }
    if (this.#onFirstUse !== null) {
      const fault = this.#onFirstUse();
      if (fault !== null) {
        return Promise.reject(fault);
      }
      this.#onFirstUse = null;
    }
    const message = this.#next();
    return message === null ? new Promise((resolve) => (this.#receiver = resolve)) : Promise.resolve(message);
  }

  /**
   * Takes what has come. The bytes are kept as they are.
   *
   * @returns Whether more may come; when not, the flow is told so later.
   */
  take(chunk: Uint8Array, isLast: boolean): boolean {
    this.#received += chunk.length;
    // The parser of node:http says that a message is complete in a later turn than its last bytes.
    this.#isComplete ||= isLast || this.#received === this.#announced;
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

  /** Answers whoever waits, and every later call, with `http.disconnect`. Gives whether this was the first time. */
  end(): boolean {
    const isFirst = !this.#isOver;
    this.#isOver = true;
    this.#chunks = null;
    this.#settle(DISCONNECT);
    return isFirst;
  }

  /** Lets what is left of the body pass by unread, so that the connection comes to its next request. */
  discard(): void {
    this.#isPaused = false;
    this.#flow.more();
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
      this.#flow.more();
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
