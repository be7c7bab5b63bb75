/** The body of a request, between a driver that has its bytes and an application that asks for them. @module */
import type { HTTPDisconnectMessage, HTTPRequestMessage } from "./asgi.js";
import { concatBytes, createBytes } from "./bytes.js";
import { ProtocolError } from "../common/exceptions.js";
import { Deferred, markHandled } from "../common/promises.js";

const EMPTY = createBytes(0);
/** The message after the client has disconnected or the response is complete. */
const DISCONNECT: HTTPDisconnectMessage = Object.freeze({ type: "http.disconnect" });
/** Bytes that wait in memory before the client has to wait. */
const MAX_WAITING_BYTES = 65_536;
/** Bytes that a chunk takes in addition to its content, so that a body of single bytes cannot fill the memory. */
const CHUNK_BYTES = 100;
/** If more chunks wait, they are joined: bytes that a parser has read still arrive while the client has to wait. */
const MAX_CHUNKS = 256;

const ALREADY_WAITING = "receive was called while an earlier call of it still waits.";

type Message = HTTPRequestMessage | HTTPDisconnectMessage;

/** The source of a request's body. */
export interface BodyFlow {
  /**
   * The application waits for a chunk of the body, or for the end of the exchange, but the queue is empty. Called for
   * each such wait.
   *
   * @returns Why the body cannot be read, or `null`.
   */
  want(body: RequestBody): Error | null;
  /** Goes on after `RequestBody.take` has returned `false`. */
  resume(): void;
}

/**
 * The body of one request as ASGI messages. Bytes that arrive before the application asks for them wait, up to a bound; then
 * the client waits, so that a slow application slows its client down instead of filling memory.
 */
export class RequestBody {
  readonly #flow: BodyFlow | null;
  #waitingBytes = 0;
  #chunks: Uint8Array[] | null = null;
  #isPaused = false;
  #isComplete: boolean;
  #isRead = false;
  #isHalfClosed = false;
  #isOver = false;
  #receiver: Deferred<Message> | null = null;

  /**
   * @param flow - The source of the body; `null` if all of it is here.
   * @param bodyBytes - Bytes of the body; `NaN` if they are not known.
   * @param whole - The body, if all of it is here.
   */
  constructor(flow: BodyFlow | null, bodyBytes: number, whole: Uint8Array | null = null) {
    this.#flow = flow;
    this.#isComplete = bodyBytes === 0 || whole !== null;
    if (whole !== null) this.#chunks = [whole];
  }

  /** The next message. One call at a time. */
  receive(): Promise<Message> {
    if (this.#isOver) return Promise.resolve(DISCONNECT);
    if (this.#receiver !== null) {
      return markHandled(Promise.reject(new ProtocolError(ALREADY_WAITING)));
    }
    const message = this.#next();
    if (message !== null) return Promise.resolve(message);
    return this.#isRead && this.#isHalfClosed ? Promise.resolve(DISCONNECT) : this.#wait();
  }

  #wait(): Promise<Message> {
    const receiver = (this.#receiver = new Deferred<Message>());
    const error = this.#flow?.want(this) ?? null;
    if (error !== null) this.fail(error);
    return receiver.promise;
  }

  /**
   * Takes bytes as they arrive. They are kept as they are.
   *
   * @returns Whether more may arrive; if not, the flow is resumed later.
   */
  take(chunk: Uint8Array, isLast: boolean): boolean {
    this.#isComplete ||= isLast;
    if (this.#isOver) return true;
    if (chunk.length > 0) {
      if (this.#chunks?.length === MAX_CHUNKS) this.#chunks = [concatBytes(this.#chunks)];
      (this.#chunks ??= []).push(chunk);
      this.#waitingBytes += chunk.length + CHUNK_BYTES;
    }
    const message = this.#receiver === null ? null : this.#next();
    if (message !== null) this.#deliver(message);
    this.#isPaused = !this.#isComplete && this.#waitingBytes >= MAX_WAITING_BYTES;
    return !this.#isPaused;
  }

  /** The body cannot be read: the call that waits rejects. */
  fail(error: Error): void {
    const receiver = this.#receiver;
    this.#receiver = null;
    receiver?.reject(error);
  }

  /** The client sends no more data after the body: `receive` returns `http.disconnect` once the body is read. */
  halfClose(): void {
    this.#isHalfClosed = true;
    if (this.#isRead) this.#deliver(DISCONNECT);
  }

  /** Every call of `receive`, the one that waits too, returns `http.disconnect` from now on. */
  end(): void {
    this.#isOver = true;
    this.#chunks = null;
    if (this.#receiver !== null) this.#deliver(DISCONNECT);
  }

  #next(): HTTPRequestMessage | null {
    const chunks = this.#chunks;
    if (this.#isRead || (chunks === null && !this.#isComplete)) return null;
    this.#chunks = null;
    this.#waitingBytes = 0;
    this.#isRead = this.#isComplete;
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#flow?.resume();
    }
    const body = chunks !== null && chunks.length > 1 ? concatBytes(chunks) : (chunks?.[0] ?? EMPTY);
    return { type: "http.request", body, more_body: !this.#isRead };
  }

  #deliver(message: Message): void {
    const receiver = this.#receiver;
    this.#receiver = null;
    receiver?.resolve(message);
  }
}
