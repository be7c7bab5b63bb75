/** The body of a request on uWebSockets.js. @module */
import type { HTTPDisconnectMessage, HTTPRequestMessage } from "../../asgi.js";
import { ProtocolError } from "../errors.js";
import type { BodySource } from "../exchange.js";
import type { UwsResponse } from "./module.js";

const EMPTY = Buffer.alloc(0);
const DISCONNECT: HTTPDisconnectMessage = Object.freeze({ type: "http.disconnect" });
/** Bytes that are kept before the client has to wait. */
const MAX_QUEUED_BYTES = 65_536;

type Message = HTTPRequestMessage | HTTPDisconnectMessage;

/** Gives the body as ASGI messages. What comes before it is asked for waits in memory, up to a bound; then the client does. */
export class UwsBody implements BodySource {
  readonly #res: UwsResponse;
  /** The `Content-Length`, or `NaN` for a chunked body. */
  readonly #announced: number;
  #received = 0;
  #chunks: Uint8Array[] = [];
  #queuedBytes = 0;
  #isPaused = false;
  #isComplete: boolean;
  #isRead = false;
  #isOver = false;
  #waiting: ((message: Message) => void) | null = null;

  /** To be made while the request's handler is being called. @param announced - 0 where there is no body. */
  constructor(res: UwsResponse, announced: number) {
    this.#res = res;
    this.#announced = announced;
    this.#isComplete = announced === 0;
    if (announced !== 0) {
      res.onData((chunk, isLast) => this.#take(chunk, isLast));
    }
  }

  get outstanding(): number {
    if (this.#isComplete) {
      return 0;
    }
    return Number.isNaN(this.#announced) ? Infinity : this.#announced - this.#received;
  }

  receive(): Promise<Message> {
    if (this.#isOver) {
      return Promise.resolve(DISCONNECT);
    }
    if (this.#waiting !== null) {
      return Promise.reject(new ProtocolError("receive was called while an earlier call of it still waits."));
    }
    const message = this.#next();
    return message === null ? new Promise((resolve) => (this.#waiting = resolve)) : Promise.resolve(message);
  }

  end(): boolean {
    const isFirst = !this.#isOver;
    this.#isOver = true;
    this.#chunks = [];
    this.#settle(DISCONNECT);
    return isFirst;
  }

  /** What is left is dropped as it comes. */
  discard(): void {}

  #next(): HTTPRequestMessage | null {
    if (this.#isRead || (this.#chunks.length === 0 && !this.#isComplete)) {
      return null;
    }
    const body = this.#chunks.shift() ?? EMPTY;
    this.#queuedBytes -= body.length;
    this.#isRead = this.#isComplete && this.#chunks.length === 0;
    if (this.#isPaused && this.#queuedBytes < MAX_QUEUED_BYTES && !this.#isComplete) {
      this.#isPaused = false;
      this.#res.resume();
    }
    return { type: "http.request", body, more_body: !this.#isRead };
  }

  #take(chunk: ArrayBuffer, isLast: boolean): void {
    this.#received += chunk.byteLength;
    this.#isComplete = isLast;
    if (this.#isOver) {
      return;
    }
    if (chunk.byteLength > 0) {
      this.#chunks.push(Buffer.from(new Uint8Array(chunk))); // a copy: the bytes are uWebSockets' own again after this
      this.#queuedBytes += chunk.byteLength;
    }
    const message = this.#waiting === null ? null : this.#next();
    if (message !== null) {
      this.#settle(message);
    }
    if (!isLast && this.#queuedBytes >= MAX_QUEUED_BYTES) {
      this.#isPaused = true;
      this.#res.pause();
    }
  }

  #settle(message: Message): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.(message);
  }
}
