/** The response of one exchange, written as the application's messages arrive. @module */
import type { HTTPResponseBodyMessage, HTTPResponseStartMessage, SendMessage } from "../asgi.js";
import { ClientDisconnect } from "../exceptions.js";
import { Deferred } from "./deferred.js";
import { ProtocolError } from "./errors.js";
import { checkHeader, toLatin1, toRawHeaders, withoutHeader } from "./headers.js";
import type { Refusal } from "./refusal.js";
import type { ResponseSink } from "./response-sink.js";

const EMPTY = new Uint8Array(0);
const NO_HEADERS: readonly string[] = [];

/**
 * Up to this many bytes a body goes out as text, which `node:http` joins to the head: one buffer for the system instead
 * of two. Measured 0.5 µs a response faster at 1 KiB, and slower from 4 KiB on.
 */
const MAX_TEXT_BYTES = 2048;

/** How far a response has come. The head waits for the first body message, as ASGI asks. */
type Phase = "idle" | "started" | "streaming" | "complete";

/** Who knows whether the response closes its connection. Asked when the head is written. */
export interface ResponseOwner {
  mustClose(): boolean;
}

/** Writes one response. */
export class ResponseWriter {
  readonly #res: ResponseSink;
  readonly #maxTextBytes: number;
  readonly #isHead: boolean;
  readonly #owner: ResponseOwner;
  #phase: Phase = "idle";
  #gone = false;
  #status = 0;
  #headers: readonly string[] = NO_HEADERS;
  /** The `Content-Length` that the application announced, or -1. */
  #announced = -1;
  #written = 0;
  #flushed: Deferred<void> | null = null;

  constructor(res: ResponseSink, isHead: boolean, owner: ResponseOwner, maxTextBytes = MAX_TEXT_BYTES) {
    this.#res = res;
    this.#maxTextBytes = maxTextBytes;
    this.#isHead = isHead;
    this.#owner = owner;
  }

  /** Whether nothing of the response has left: another can still be sent in its place. */
  get untouched(): boolean {
    return this.#phase === "idle" || this.#phase === "started";
  }

  get complete(): boolean {
    return this.#phase === "complete";
  }

  /** Settles once the last byte of a complete response is with the system, or the client has gone. */
  flushed(): Promise<void> | void {
    return this.#res.writableLength > 0 && !this.#gone ? this.#flush("finish") : undefined;
  }

  /**
   * Takes one message. Returns nothing when it is written, a promise when the socket asks to wait.
   *
   * @throws ProtocolError for a message that ASGI or HTTP does not allow here.
   * @throws ClientDisconnect when the client went before the response was complete.
   */
  send(message: SendMessage): Promise<void> | void {
    if (this.#phase === "complete") {
      return; // ASGI: what follows the last body is ignored
    }
    if (message.type === "http.response.body") {
      return this.#body(message);
    }
    if (message.type === "http.response.start") {
      return this.#start(message);
    }
    throw new ProtocolError(`Expected "http.response.start" or "http.response.body", not "${message.type}".`);
  }

  /** The client has gone: nothing is written from here on, and whoever waits for the socket is told. */
  disconnect(): void {
    this.#gone = true;
    const flushed = this.#flushed;
    this.#flushed = null;
    if (this.#phase === "complete") {
      flushed?.resolve();
    } else {
      flushed?.reject(new ClientDisconnect());
    }
  }

  /** The socket takes more. */
  drained(): void {
    this.#res.emit("drain");
  }

  /** Whether the response is a stream of server-sent events that goes on: one that may end at any event. */
  get streamsEvents(): boolean {
    const raw = this.#headers;
    return (
      this.#phase === "streaming" &&
      raw.some(
        (name, index) => index % 2 === 0 && name.toLowerCase() === "content-type" && isEventStream(raw[index + 1]),
      )
    );
  }

  /** Ends a stream where it stands. */
  finish(): void {
    this.#phase = "complete";
    this.#res.end();
  }

  /** Answers in the application's place, while `untouched`. The application's own messages are refused from then on. */
  replace(refusal: Refusal): void {
    this.#phase = "complete";
    this.#gone = true;
    refusal.answer(this.#res);
  }

  #start(message: HTTPResponseStartMessage): void {
    if (this.#gone || this.#res.destroyed) {
      throw new ClientDisconnect();
    }
    if (this.#phase !== "idle") {
      throw new ProtocolError('"http.response.start" was sent twice.');
    }
    const { status } = message;
    if (!Number.isInteger(status) || status < 200 || status > 599) {
      throw new ProtocolError(`Expected a status from 200 to 599 in "http.response.start", not ${String(status)}.`);
    }
    this.#status = status;
    this.#announced = -1;
    this.#headers = this.#checked(toRawHeaders(message.headers));
    this.#phase = "started";
  }

  #body(message: HTTPResponseBodyMessage): Promise<void> | void {
    if (this.#phase === "idle") {
      throw new ProtocolError('"http.response.body" was sent before "http.response.start".');
    }
    if (this.#gone || this.#res.destroyed) {
      throw new ClientDisconnect();
    }
    const body = message.body ?? EMPTY;
    const more = message.more_body === true;
    if (this.#phase === "started") {
      if (!more) {
        return this.#whole(body);
      }
      this.#writeHead(this.#headers);
      this.#phase = "streaming";
    }
    return more ? this.#chunk(body) : this.#last(body);
  }

  /** Head and body in one go, which is what most responses are. */
  #whole(body: Uint8Array): Promise<void> | void {
    const carries = this.#carriesBody();
    let headers = this.#headers;
    if (carries) {
      this.#count(body, true);
    }
    if (this.#announced === -1 && (carries || (this.#isHead && body.length > 0))) {
      headers = [...headers, "content-length", String(body.length)];
    }
    headers = this.#closing(headers);
    this.#phase = "complete";
    this.#sendWhole(headers, carries ? body : EMPTY);
    return this.flushed();
  }

  #sendWhole(headers: readonly string[], body: Uint8Array): void {
    const res = this.#res;
    const content = body.length <= this.#maxTextBytes ? toLatin1(body) : body;
    if (res.sendWhole !== undefined) {
      res.sendWhole(this.#status, headers, content);
      return;
    }
    res.writeHead(this.#status, headers as string[]);
    if (content.length === 0) {
      res.end();
    } else if (typeof content === "string") {
      res.end(content, "latin1");
    } else {
      res.end(content);
    }
  }

  #chunk(body: Uint8Array): Promise<void> | void {
    if (!this.#carriesBody()) {
      return;
    }
    this.#count(body, false);
    if (body.length === 0) {
      this.#res.flushHeaders();
    } else if (!this.#res.write(body)) {
      return this.#flush("drain");
    }
  }

  #last(body: Uint8Array): Promise<void> | void {
    const carries = this.#carriesBody();
    if (carries) {
      this.#count(body, true);
    }
    this.#phase = "complete";
    this.#res.end(carries && body.length > 0 ? body : undefined);
    return this.flushed();
  }

  #flush(event: "drain" | "finish"): Promise<void> {
    if (this.#flushed === null) {
      this.#flushed = new Deferred();
      this.#res.once(event, () => {
        this.#flushed?.resolve();
        this.#flushed = null;
      });
    }
    return this.#flushed.promise;
  }

  /** RFC 9110 §6.4.1: no content in answers to HEAD, in 204 and in 304. */
  #carriesBody(): boolean {
    return !this.#isHead && this.#status !== 204 && this.#status !== 304;
  }

  /** RFC 9112 §6.3: a body unlike its `Content-Length` makes the client read the next response wrong. */
  #count(body: Uint8Array, last: boolean): void {
    this.#written += body.length;
    if (this.#announced !== -1 && (this.#written > this.#announced || (last && this.#written !== this.#announced))) {
      if (this.#phase === "streaming") {
        this.#res.destroy();
      }
      throw new ProtocolError(
        `The body has ${last ? "" : "at least "}${this.#written} bytes, but Content-Length said ${this.#announced}.`,
      );
    }
  }

  #writeHead(headers: readonly string[]): void {
    // Node reads the list and does not keep it; its type asks for a mutable array all the same.
    this.#res.writeHead(this.#status, this.#closing(headers) as string[]);
  }

  /** The headers, with word of the end of the connection where it is near. */
  #closing(headers: readonly string[]): readonly string[] {
    return this.#owner.mustClose() ? [...withoutHeader(headers, "connection"), "connection", "close"] : headers;
  }

  /** Refuses what would break the message, and drops what is the server's to say. */
  #checked(raw: readonly string[]): readonly string[] {
    let headers = raw;
    for (let index = 0; index < raw.length; index += 2) {
      const name = raw[index] as string;
      const value = raw[index + 1] as string;
      checkHeader(name, value);
      if (name.length === 17 && name.toLowerCase() === "transfer-encoding") {
        headers = withoutHeader(headers, "transfer-encoding");
      } else if (name.length === 7 && name.toLowerCase() === "trailer") {
        headers = withoutHeader(headers, "trailer");
      } else if (name.length === 14 && name.toLowerCase() === "content-length") {
        this.#announce(value);
        if (this.#status === 204) {
          headers = withoutHeader(headers, "content-length");
        }
      }
    }
    return headers;
  }

  #announce(value: string): void {
    const length = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (Number.isNaN(length) || (this.#announced !== -1 && this.#announced !== length)) {
      throw new ProtocolError(`Expected one number of bytes as Content-Length, not ${JSON.stringify(value)}.`);
    }
    this.#announced = length;
  }
}

function isEventStream(contentType = ""): boolean {
  return /^text\/event-stream\s*(?:;|$)/i.test(contentType);
}
