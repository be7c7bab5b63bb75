/** The body of a request, pulled chunk by chunk. @module */
import type { IncomingMessage } from "node:http";
import type { HTTPDisconnectMessage, HTTPRequestMessage } from "../asgi.js";
import { ProtocolError } from "./errors.js";

const EMPTY = new Uint8Array(0);

/** The answer to `receive` once the client has gone or the response is complete. */
export const DISCONNECT: HTTPDisconnectMessage = Object.freeze({ type: "http.disconnect" });

type Message = HTTPRequestMessage | HTTPDisconnectMessage;

/**
 * Gives the body of one request as ASGI messages. The next chunk is taken from the socket only when it is asked for,
 * so a slow application slows its client down instead of filling memory.
 */
export class RequestBody {
  readonly #req: IncomingMessage;
  #listening = false;
  #done: boolean;
  #over = false;
  #waiting: ((message: Message) => void) | null = null;

  constructor(req: IncomingMessage, hasBody: boolean) {
    this.#req = req;
    this.#done = !hasBody;
  }

  /** The first message of a request without a body needs no stream. */
  receive(first: boolean): Promise<Message> {
    if (this.#over) {
      return Promise.resolve(DISCONNECT);
    }
    if (this.#done) {
      return first ? Promise.resolve({ type: "http.request", body: EMPTY, more_body: false }) : this.#wait();
    }
    const message = this.#take();
    return message === null ? this.#wait() : Promise.resolve(message);
  }

  /** Answers whoever waits, and every later call, with `http.disconnect`. */
  end(): void {
    this.#over = true;
    this.#settle(DISCONNECT);
  }

  #wait(): Promise<Message> {
    if (this.#waiting !== null) {
      return Promise.reject(new ProtocolError("receive was called while an earlier call of it still waits."));
    }
    if (!this.#listening && !this.#done) {
      this.#listening = true;
      this.#req.on("readable", () => this.#onReadable());
    }
    return new Promise((resolve) => (this.#waiting = resolve));
  }

  #onReadable(): void {
    if (this.#waiting !== null && !this.#done) {
      const message = this.#take();
      if (message !== null) {
        this.#settle(message);
      }
    }
  }

  #take(): Message | null {
    const chunk = this.#req.read() as Buffer | null;
    const last = this.#req.complete && this.#req.readableLength === 0;
    if (chunk === null && !last) {
      return null;
    }
    this.#done = last;
    return { type: "http.request", body: chunk ?? EMPTY, more_body: !last };
  }

  #settle(message: Message): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.(message);
  }
}
