/** One request and its response, between an engine and the application. @module */
import type { HeaderPair, HTTPResponseBodyMessage, HTTPScope, ReceiveMessage, Send, SendMessage } from "../asgi.js";
import { ClientDisconnect } from "../exceptions.js";
import { logOnce } from "../logger.js";
import { markHandled } from "../promises.js";
import { responseFacts } from "../response-facts.js";
import type { Call, ServerContext } from "./context.js";
import type { ResponseStream } from "./engine.js";
import { ErrorResponse } from "./error-response.js";
import { ProtocolError } from "./errors.js";
import { RequestBody } from "./request-body.js";
import { announceLength, createResponseHead, type ResponseHead, streamsEvents } from "./response-head.js";

const EMPTY = new Uint8Array(0);
const TEXT_BODY = 'Expected the body of "http.response.body" to be bytes, not text.';
const internalServerError = new ErrorResponse(500);

/**
 * The state of a response. The head waits for the first body message, as ASGI asks.
 *
 * - `gone`: the client has gone, or was answered in the application's place.
 */
type Phase = "idle" | "started" | "streaming" | "complete" | "gone";

/** Calls the application for one request, and ensures that the client gets exactly one response. */
export class Exchange implements Call {
  readonly #context: ServerContext;
  readonly #stream: ResponseStream;
  readonly #scope: HTTPScope;
  /** As the client sent it: the application may change its scope, and the client would read a body to HEAD as a response. */
  readonly #method: string;
  /** Made at first use where the request has no body. */
  #request: RequestBody | null;
  #phase: Phase = "idle";
  #head: ResponseHead | null = null;
  #writtenBytes = 0;
  /** The client sends nothing more, or the server stops: an application that ends its response here has not failed. */
  #mayEnd = false;

  /** @param body - The body, or `null` where the request has none. */
  constructor(context: ServerContext, stream: ResponseStream, scope: HTTPScope, body: RequestBody | null) {
    this.#context = context;
    this.#stream = stream;
    this.#scope = scope;
    this.#method = scope.method;
    this.#request = body;
  }

  get name(): string {
    return `${this.#scope.method} ${this.#scope.path}`;
  }

  /** `true` while nothing of the response has left: another can still be sent in its place. */
  get untouched(): boolean {
    return this.#phase === "idle" || this.#phase === "started";
  }

  get complete(): boolean {
    return this.#phase === "complete";
  }

  get #isOver(): boolean {
    return this.#phase === "complete" || this.#phase === "gone";
  }

  /** Calls the application. */
  run(): void {
    // In front of `send`: a function that is younger than the object which holds it outlives collections in V8 14. A third of
    // Deno's processor time, a seventh of Node 26's, went into them.
    const text: Send["text"] = (status, headers, content) => {
      if (this.#takes()) return this.#whole(this.#start(status, headers), content);
    };
    const send: Send = (message) => this.send(message);
    send.text = text;
    void this.#context.run(this, this.#scope, () => this.#receive(), send);
  }

  /**
   * Takes one message. Returns nothing when it is written, a promise when the client has to be waited for.
   *
   * @throws ProtocolError for a message that ASGI or HTTP does not allow here.
   * @throws ClientDisconnect when the client went before the response was complete.
   */
  send(message: SendMessage): Promise<void> | void {
    if (!this.#takes()) return;
    if (message.type === "http.response.body") return this.#body(message);
    if (message.type !== "http.response.start") {
      throw new ProtocolError(`Expected "http.response.start" or "http.response.body", not "${message.type}".`);
    }
    this.#start(message.status, message.headers);
  }

  /** The client has gone: the application's messages are refused from now on. */
  disconnect(): void {
    this.#close("gone");
  }

  /** The client has ended its side, and may still read: the application gets a disconnect, and can answer all the same. */
  halfClose(): void {
    this.#mayEnd = true;
    this.#request?.halfClose();
  }

  /**
   * The server is about to stop. A stream of events has no end of its own, so its application gets the message that the client
   * has gone; everything else may finish.
   */
  drain(): void {
    if (this.#phase === "streaming" && streamsEvents(this.#head)) this.halfClose();
  }

  cutUnread(): void {
    if (this.#stream.flushed() !== undefined) this.#stream.destroy();
  }

  /** Answers in the application's place; once the response has begun, a cut is all that says that it is not whole. */
  refuse({ head, body }: ErrorResponse): void {
    if (!this.untouched) {
      this.#stream.destroy();
      return;
    }
    this.#close("gone");
    const facts = responseFacts(head.status, this.#method);
    this.#stream.respond({ ...head, facts }, facts.bodyless ? EMPTY : body);
  }

  settled(failure: { readonly error: unknown } | null): Promise<void> | undefined {
    const hasLeft = this.#phase === "gone" || this.#stream.destroyed; // a socket is destroyed a moment before its event
    if (failure !== null) this.#failed(failure.error, hasLeft);
    else if (this.#phase !== "complete" && !hasLeft) this.#endInPlace();
    this.#request?.end();
    return this.#phase === "gone" ? undefined : this.#stream.flushed();
  }

  /** The application has returned without the end of its response. */
  #endInPlace(): void {
    if (!this.#mayEnd) {
      const missing = this.untouched ? "a response" : "the end of its response";
      const { path } = this.#scope;
      this.#context.logger.error({ path }, `The application returned without ${missing}: ${this.name}`);
      this.refuse(internalServerError);
    } else if (this.untouched) {
      this.#stream.destroy();
    } else {
      this.#close("complete");
      this.#stream.end();
    }
  }

  #failed(error: unknown, hasLeft: boolean): void {
    const { logger } = this.#context;
    const { path } = this.#scope;
    if (hasLeft && !(error instanceof ProtocolError)) {
      logger.debug({ err: error, path }, `The application threw after its client had gone: ${this.name}`);
      return;
    }
    logOnce(logger, error, this.#scope, { path }, `The application threw: ${this.name}`);
    if (!hasLeft && !this.#isOver) this.refuse(internalServerError);
  }

  #receive(): Promise<ReceiveMessage> {
    if (this.#request === null) {
      this.#request = new RequestBody(null, 0);
      if (this.#isOver) this.#request.end();
      else if (this.#mayEnd) this.#request.halfClose();
    }
    return this.#request.receive();
  }

  /** Nothing more is sent: `receive` gives a disconnect. The first time counts. */
  #close(phase: "complete" | "gone"): void {
    if (!this.#isOver) this.#phase = phase;
    this.#request?.end();
  }

  /** Tells if a message counts. Messages after the last body are ignored, as ASGI asks. */
  #takes(): boolean {
    if (this.#phase === "complete") return false;
    if (this.#phase === "gone" || this.#stream.destroyed) throw new ClientDisconnect();
    return true;
  }

  #start(status: number, headers: Iterable<HeaderPair> | undefined): ResponseHead {
    if (this.#phase !== "idle") throw new ProtocolError('"http.response.start" was sent twice.');
    this.#head = createResponseHead(status, headers, this.#method);
    this.#phase = "started";
    return this.#head;
  }

  #body(message: HTTPResponseBodyMessage): Promise<void> | void {
    const head = this.#head;
    if (head === null) throw new ProtocolError('"http.response.body" was sent before "http.response.start".');
    const body = message.body ?? EMPTY;
    if (typeof body === "string") throw new ProtocolError(TEXT_BODY);
    const isLast = message.more_body !== true;
    if (isLast && this.#phase === "started") return this.#whole(head, body);
    if (!head.facts.bodyless) this.#count(head, body.length, isLast);
    if (this.#phase === "started") {
      this.#phase = "streaming";
      this.#stream.begin(head);
    }
    return this.#part(head.facts.bodyless ? EMPTY : body, isLast);
  }

  #part(body: Uint8Array, isLast: boolean): Promise<void> | void {
    if (!isLast) return this.#stream.write(body) ? undefined : this.#written();
    if (body.length > 0) this.#stream.write(body);
    this.#close("complete");
    this.#stream.end();
    return this.#stream.flushed();
  }

  #written(): Promise<void> | undefined {
    const flushed = this.#stream.flushed();
    if (flushed === undefined) return undefined;
    return markHandled(
      flushed.then(() => {
        if (this.#phase === "gone" || this.#stream.destroyed) throw new ClientDisconnect();
      }),
    );
  }

  /** Head and body in one go, which is what most responses are. */
  #whole(head: ResponseHead, body: Uint8Array | string): Promise<void> | void {
    const { length } = body;
    if (head.facts.bodyless) {
      announceLength(head, length);
    } else if (head.contentLength === -1) {
      head.contentLength = length;
    } else if (head.contentLength !== length) {
      this.#count(head, length, true);
    }
    this.#phase = "complete";
    this.#request?.end();
    this.#stream.respond(head, head.facts.bodyless ? EMPTY : body);
    return this.#stream.flushed();
  }

  /** RFC 9112 §6.3: a body unlike its `Content-Length` makes the client read the next response wrong. */
  #count({ contentLength }: ResponseHead, bytes: number, isLast: boolean): void {
    this.#writtenBytes += bytes;
    const written = this.#writtenBytes;
    if (contentLength === -1 || (isLast ? written === contentLength : written <= contentLength)) return;
    if (this.#phase === "streaming") this.#stream.destroy();
    throw new ProtocolError(
      `The body has ${isLast ? "" : "at least "}${written} bytes, but Content-Length said ${contentLength}.`,
    );
  }
}
