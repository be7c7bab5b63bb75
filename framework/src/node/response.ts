/** The response of one exchange: the application's messages, checked and handed to the engine. @module */
import type { HeaderPair, HTTPResponseBodyMessage, HTTPResponseStartMessage, SendMessage } from "../asgi.js";
import { HeaderList } from "../datastructures.js";
import { ClientDisconnect } from "../exceptions.js";
import { markHandled } from "../promises.js";
import type { ResponseStream } from "./engine.js";
import type { ErrorResponse } from "./error-response.js";
import { ProtocolError } from "./errors.js";
import { checkHeaders, type ResponseHead, withoutHeader } from "./response-head.js";

const EMPTY = new Uint8Array(0);

/** How far a response has come. The head waits for the first body message, as ASGI asks. */
type Phase = "idle" | "started" | "streaming" | "complete";

/** Writes one response. */
export class ResponseWriter {
  readonly #stream: ResponseStream;
  readonly #isHead: boolean;
  #phase: Phase = "idle";
  #gone = false;
  #head: ResponseHead | null = null;
  #written = 0;

  constructor(stream: ResponseStream, isHead: boolean) {
    this.#stream = stream;
    this.#isHead = isHead;
  }

  /** Whether nothing of the response has left: another can still be sent in its place. */
  get untouched(): boolean {
    return this.#phase === "idle" || this.#phase === "started";
  }

  get complete(): boolean {
    return this.#phase === "complete";
  }

  /** Whether the response is a stream of server-sent events that goes on: one that may end at any event. */
  get streamsEvents(): boolean {
    if (this.#phase !== "streaming") return false;
    const raw = this.#head?.headers.raw ?? [];
    const at = raw.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === "content-type");
    return /^text\/event-stream[\t ]*(?:;|$)/i.test(raw[at + 1] ?? "");
  }

  /**
   * Takes one message. Returns nothing when it is written, a promise when the client has to be waited for.
   *
   * @throws ProtocolError for a message that ASGI or HTTP does not allow here.
   * @throws ClientDisconnect when the client went before the response was complete.
   */
  send(message: SendMessage): Promise<void> | void {
    if (this.#phase === "complete" && !this.#gone) return; // ASGI: what follows the last body is ignored
    if (this.#gone || this.#stream.destroyed) throw new ClientDisconnect();
    if (message.type === "http.response.body") return this.#body(message);
    if (message.type === "http.response.start") return this.#start(message);
    throw new ProtocolError(`Expected "http.response.start" or "http.response.body", not "${message.type}".`);
  }

  /** The client has gone: the application's messages are refused from now on. */
  disconnect(): void {
    this.#gone ||= this.#phase !== "complete";
  }

  /** Ends a stream where it stands. */
  finish(): void {
    this.#phase = "complete";
    this.#stream.end();
  }

  /** Answers in the application's place, while `untouched`. */
  replace({ head, body }: ErrorResponse): void {
    this.#phase = "complete";
    this.#gone = true;
    if (this.#isHead) this.#stream.respond({ ...head, bodyless: true }, EMPTY);
    else this.#stream.respond(head, body);
  }

  #start(message: HTTPResponseStartMessage): void {
    if (this.#phase !== "idle") throw new ProtocolError('"http.response.start" was sent twice.');
    const { status } = message;
    if (!Number.isInteger(status) || status < 200 || status > 599) {
      throw new ProtocolError(`Expected a status from 200 to 599 in "http.response.start", not ${String(status)}.`);
    }
    let headers = checkHeaders(message.headers);
    if (status === 204 && headers.contentLength !== -1) {
      headers = checkHeaders(new HeaderList(withoutHeader(headers.raw, "content-length"))); // RFC 9110 §8.6
    }
    const bodyless = this.#isHead || status === 204 || status === 304;
    this.#head = { status, headers, contentLength: headers.contentLength, bodyless };
    this.#phase = "started";
  }

  /** Takes a whole response with ASCII text. */
  sendText(status: number, headers: Iterable<HeaderPair>, text: string): Promise<void> | void {
    if (this.#phase === "complete" && !this.#gone) return;
    if (this.#gone || this.#stream.destroyed) throw new ClientDisconnect();
    this.#start({ type: "http.response.start", status, headers });
    const head = this.#head as ResponseHead;
    if (!head.bodyless) this.#count(head, text.length, true);
    return this.#whole(head, text);
  }

  #body(message: HTTPResponseBodyMessage): Promise<void> | void {
    const head = this.#head;
    if (head === null) throw new ProtocolError('"http.response.body" was sent before "http.response.start".');
    const body = message.body ?? EMPTY;
    const isLast = message.more_body !== true;
    if (!head.bodyless) this.#count(head, body.length, isLast);
    if (this.#phase === "started") {
      if (isLast) return this.#whole(head, body);
      this.#phase = "streaming";
      this.#stream.begin(head);
    }
    return this.#part(head.bodyless ? EMPTY : body, isLast);
  }

  /** Head and body in one go, which is what most responses are. */
  #whole(head: ResponseHead, body: Uint8Array | string): Promise<void> | void {
    this.#phase = "complete";
    const { status, headers, contentLength, bodyless } = head;
    // To HEAD the length that a body would have had, if it was made (RFC 9110 §9.3.2).
    const announces = contentLength === -1 && (!bodyless || (status !== 204 && status !== 304 && body.length > 0));
    this.#stream.respond(
      announces ? { status, headers, contentLength: body.length, bodyless } : head,
      bodyless ? EMPTY : body,
    );
    return this.#stream.flushed();
  }

  #part(body: Uint8Array, isLast: boolean): Promise<void> | void {
    if (isLast) {
      this.#phase = "complete";
      if (body.length > 0) this.#stream.write(body);
      this.#stream.end();
      return this.#stream.flushed();
    }
    if (!this.#stream.write(body)) return this.#flushed();
  }

  #flushed(): Promise<void> | undefined {
    const flushed = this.#stream.flushed();
    if (flushed === undefined) return undefined;
    return markHandled(
      flushed.then(() => {
        if (this.#gone || this.#stream.destroyed) throw new ClientDisconnect();
      }),
    );
  }

  /** RFC 9112 §6.3: a body unlike its `Content-Length` makes the client read the next response wrong. */
  #count({ contentLength }: ResponseHead, bytes: number, isLast: boolean): void {
    this.#written += bytes;
    if (contentLength === -1 || (isLast ? this.#written === contentLength : this.#written <= contentLength)) return;
    if (this.#phase === "streaming") this.#stream.destroy();
    throw new ProtocolError(
      `The body has ${isLast ? "" : "at least "}${this.#written} bytes, but Content-Length said ${contentLength}.`,
    );
  }
}
