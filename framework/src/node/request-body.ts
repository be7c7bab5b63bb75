/** The body of a request, pulled chunk by chunk. @module */
import type { IncomingMessage } from "node:http";
import type { HTTPDisconnectMessage, HTTPRequestMessage } from "../asgi.js";
import { ProtocolError } from "./errors.js";

const EMPTY = Buffer.alloc(0);
/** The answer to `receive` once the client has gone or the response is complete. */
const DISCONNECT: HTTPDisconnectMessage = Object.freeze({ type: "http.disconnect" });

type Message = HTTPRequestMessage | HTTPDisconnectMessage;

/** How much of a body has been given out. */
type Phase = "unread" | "reading" | "read" | "over";

/**
 * Gives the body of one request as ASGI messages. The next chunk is taken from the socket only when it is asked for,
 * so a slow application slows its client down instead of filling memory.
 */
export class RequestBody {
  readonly #req: IncomingMessage;
  readonly #hasBody: boolean;
  readonly #onFirstUse: (() => void) | null;
  #phase: Phase = "unread";
  /** The `Content-Length`, or `NaN` where there is none. */
  #announced = Number.NaN;
  #received = 0;
  #waiting: ((message: Message) => void) | null = null;

  /** @param onFirstUse - Called when the application first asks for the body: where `100 Continue` is sent. */
  constructor(req: IncomingMessage, hasBody: boolean, onFirstUse: (() => void) | null) {
    this.#req = req;
    this.#hasBody = hasBody;
    if (hasBody) {
      this.#announced = Number(req.headers["content-length"]);
    }
    this.#onFirstUse = onFirstUse;
  }

  /** Bytes of the body that may still come from the client: 0 when it is all here, `Infinity` when nobody said. */
  get outstanding(): number {
    if (!this.#hasBody || this.#req.complete) {
      return 0;
    }
    return Number.isNaN(this.#announced) ? Infinity : this.#announced - this.#received;
  }

  /** The next message. One call at a time. */
  receive(): Promise<Message> {
    if (this.#phase === "over") {
      return Promise.resolve(DISCONNECT);
    }
    if (this.#waiting !== null) {
      return Promise.reject(new ProtocolError("receive was called while an earlier call of it still waits."));
    }
    if (this.#phase === "unread") {
      if (!this.#hasBody) {
        this.#phase = "read";
        return Promise.resolve({ type: "http.request", body: EMPTY, more_body: false });
      }
      if (this.#req.readableDidRead) {
        return Promise.reject(
          new ProtocolError("The body is already read: put this handler in front of body parsers."),
        );
      }
      this.#begin();
    }
    const message = this.#phase === "reading" ? this.#take() : null;
    return message === null ? new Promise((resolve) => (this.#waiting = resolve)) : Promise.resolve(message);
  }

  /** Answers whoever waits, and every later call, with `http.disconnect`. Gives whether this was the first time. */
  end(): boolean {
    const first = this.#phase !== "over";
    this.#phase = "over";
    this.#settle(DISCONNECT);
    return first;
  }

  /** Lets what is left of the body pass by unread, so that the connection comes to its next request. */
  discard(): void {
    this.#req.removeAllListeners("readable");
    this.#req.resume();
  }

  #begin(): void {
    this.#phase = "reading";
    this.#onFirstUse?.();
    this.#req.on("readable", () => {
      const message = this.#waiting === null || this.#phase !== "reading" ? null : this.#take();
      if (message !== null) {
        this.#settle(message);
      }
    });
  }

  #take(): HTTPRequestMessage | null {
    const chunk = this.#req.read() as Buffer | null;
    this.#received += chunk?.length ?? 0;
    // The parser says that a message is complete in a later turn than its last bytes.
    const last = this.#received === this.#announced || (this.#req.complete && this.#req.readableLength === 0);
    if (chunk === null && !last) {
      return null;
    }
    if (last) {
      this.#phase = "read";
    }
    return { type: "http.request", body: chunk ?? EMPTY, more_body: !last };
  }

  #settle(message: Message): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.(message);
  }
}
