/** Responses that are recorded while they are sent, and sent again. @module */
import type { HTTPResponseStartMessage, Send, SendMessage } from "../../protocol/asgi.js";
import { ClientDisconnect } from "../../common/exceptions.js";
import { concatBytes, decodeLatin1, encodeLatin1 } from "../../protocol/bytes.js";
import { encodeUTF8, HeaderList, rawHeaders } from "../../protocol/header-list.js";

/** A response in the form of text. */
export interface RecordedResponse {
  readonly status: number;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** In base64; `null` if it is too large. */
  readonly body: string | null;
}

/** The most bytes of a body that are recorded: the store of an application has to hold all responses of `ttlSeconds`. */
const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** RFC 9110 §7.6.1: headers of one connection. `Date` is the time of a message (§6.6.1), which the server adds again. */
const NOT_REPEATED = new Set(
  "connection date keep-alive proxy-connection te trailer transfer-encoding upgrade idempotency-replayed".split(" "),
);

/** Called once: with the response before its last message is sent, or with `null` if the response is incomplete. */
type Finish = (response: RecordedResponse | null) => Promise<void>;

/** Records a response. Its end is sent after it was stored, so that a client that has it can repeat the request. */
export class Recording {
  readonly #send: Send;
  readonly #finish: Finish;
  readonly #chunks: Uint8Array[] = [];
  #start: HTTPResponseStartMessage | null = null;
  #length = 0;
  #isFinished = false;
  /** The error of a client that has disconnected before the body; `null` without one. */
  #left: ClientDisconnect | null = null;

  constructor(send: Send, finish: Finish) {
    this.#send = send;
    this.#finish = finish;
  }

  /** Records a message, and sends it. */
  async take(message: SendMessage): Promise<void> {
    if (message.type === "http.response.start") return this.#begin(message);
    if (message.type === "http.response.body") {
      const { body = new Uint8Array(), ascii } = message;
      this.#add(typeof ascii === "string" ? encodeUTF8(ascii) : body);
      if (message.more_body !== true) await this.#end(this.#recorded());
    }
    if (this.#left !== null) throw this.#left;
    await this.#send(message);
  }

  /**
   * A client that has disconnected is the one that repeats its request, and the work is done: a whole response is
   * recorded nevertheless. A stream ends with its first chunk.
   */
  async #begin(message: HTTPResponseStartMessage): Promise<void> {
    this.#start = message;
    try {
      await this.#send(message);
    } catch (error) {
      if (!(error instanceof ClientDisconnect)) throw error;
      this.#left = error;
    }
  }

  /** Ends the recording of a response that was not sent to its end. */
  abandon(): Promise<void> {
    return this.#end(null);
  }

  /** A server may reuse the memory of a chunk after it was sent. */
  #add(chunk: Uint8Array): void {
    this.#length += chunk.length;
    if (this.#length > MAX_BODY_BYTES) this.#chunks.length = 0;
    else if (chunk.length > 0) this.#chunks.push(chunk.slice());
  }

  #recorded(): RecordedResponse | null {
    if (this.#start === null) return null;
    const raw = rawHeaders(this.#start.headers);
    const headers = raw.filter((_, index) => !NOT_REPEATED.has((raw[index & ~1] ?? "").toLowerCase()));
    const isTooLarge = this.#length > MAX_BODY_BYTES;
    return {
      status: this.#start.status,
      headers,
      body: isTooLarge ? null : btoa(decodeLatin1(concatBytes(this.#chunks))),
    };
  }

  async #end(response: RecordedResponse | null): Promise<void> {
    if (this.#isFinished) return;
    this.#isFinished = true;
    await this.#finish(response);
  }
}

/** Sends a recorded response again. */
export async function replay({ status, headers }: RecordedResponse, body: string, send: Send): Promise<void> {
  const list = new HeaderList([...headers, "idempotency-replayed", "true"]);
  await send({ type: "http.response.start", status, headers: list });
  await send({ type: "http.response.body", body: encodeLatin1(atob(body)), more_body: false });
}
