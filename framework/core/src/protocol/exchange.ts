/** One request and its response, between a driver and the application: the state machine of ASGI's HTTP messages. @module */
import type { HeaderPair, HTTPResponseBodyMessage, HTTPScope, Receive } from "./asgi.js";
import { createBytes } from "./bytes.js";
import { encodeUTF8 } from "./header-list.js";
import { ClientDisconnect, ProtocolError } from "../common/exceptions.js";
import { logOnce } from "../common/logger.js";
import { markHandled } from "../common/promises.js";
import { clearTimeout, setTimeout } from "../common/timers.js";
import {
  ASCIIBody,
  contentOf,
  announceLength,
  createResponseHead,
  isEncoded,
  RESPONDER,
  type RespondingSend,
  responseFacts,
  type ServerResponseHead,
  streamsEvents,
} from "./response.js";
import type { ResponseStream } from "./engine.js";
import { ErrorResponse } from "./error-response.js";
import { EventBlocks } from "./event-blocks.js";
import { RequestBody } from "./request-body.js";
import { type MarkedState, type ServedCall, type ServerContext, WHEN_STOPPING } from "./server-context.js";

const EMPTY = createBytes(0);
const internalServerError = new ErrorResponse(500);
const stopped = new ErrorResponse(503, "The server stopped before the response was ready.");

/** The reason of a cut, for drivers that can pass it on. */
const serverStopped = () => new Error("The server stopped before the end of the response.");

/**
 * The state of a response. The head waits for the first body message, as ASGI asks.
 *
 * - `gone`: the client has disconnected, or the server has responded in place of the application.
 */
type Phase = "idle" | "started" | "streaming" | "complete" | "gone";

/** Calls the application for one request, and ensures that the client gets exactly one response. */
export class Exchange implements ServedCall {
  readonly #context: ServerContext;
  readonly #stream: ResponseStream;
  readonly #scope: HTTPScope;
  /** As the client sent it: the application may change its scope, and the client would read a body to HEAD as a response. */
  readonly #method: string;
  /** `null` until the application asks for the body, if the driver has not made it before. */
  #request: RequestBody | null;
  #phase: Phase = "idle";
  #head: ServerResponseHead | null = null;
  #writtenBytes = 0;
  /** The blocks of a stream that its client requests again by itself; `null` for any other response. */
  #blocks: EventBlocks | null = null;
  /** The client sends no more data: an application that ends its response now has not failed. */
  #mayEnd = false;
  /** The server has ended or cut the response because it stops. */
  #isStopped = false;

  /** @param body - The body of the request; `null` for no body, or if the stream is its source. */
  constructor(context: ServerContext, stream: ResponseStream, scope: HTTPScope, body: RequestBody | null) {
    this.#context = context;
    this.#stream = stream;
    this.#scope = scope;
    this.#method = scope.method;
    this.#request = body;
    this.send[RESPONDER] = this;
  }

  get name(): string {
    return `${this.#scope.method} ${this.#scope.path}`;
  }

  get hasLeft(): boolean {
    return this.#phase === "gone" || this.#mayEnd || (this.#stream.hasLeft ?? this.#stream.destroyed);
  }

  /** `true` while no part of the response has been sent: another can still be sent instead. */
  get untouched(): boolean {
    return this.#phase === "idle" || this.#phase === "started";
  }

  get hasBegun(): boolean {
    return this.#head !== null;
  }

  get complete(): boolean {
    return this.#phase === "complete";
  }

  get #isOver(): boolean {
    return this.#phase === "complete" || this.#phase === "gone";
  }

  /** Calls the application. Resolves, never with an error, once it has settled and its response is with the system. */
  run(): Promise<void> {
    return this.#context.run(this, this.#scope, this.#receive, this.send);
  }

  /**
   * Takes one message. Returns undefined if it is written, or a promise if the client has to be awaited.
   *
   * @throws ProtocolError for a message that ASGI or HTTP does not allow here.
   * @throws ClientDisconnect if the client disconnected before the response was complete.
   */
  readonly send: RespondingSend = (message) => {
    if (this.#phase === "complete") return; // ASGI: messages after the last body are ignored
    if (this.#phase === "gone" || this.#stream.destroyed) throw new ClientDisconnect();
    if (message.type === "http.response.body") return this.#body(message);
    if (message.type !== "http.response.start") {
      throw new ProtocolError(`Expected "http.response.start" or "http.response.body", not "${message.type}".`);
    }
    if (this.#phase !== "idle") throw new ProtocolError('"http.response.start" was sent twice.');
    this.#head = createResponseHead(message.status, message.headers, this.#method);
    this.#phase = "started";
  };

  /** @throws as {@link send} does. */
  respond(status: number, headers: Iterable<HeaderPair>, body: Uint8Array | string): Promise<void> | void {
    if (this.#phase === "complete") return;
    if (this.#phase === "gone" || this.#stream.destroyed) throw new ClientDisconnect();
    if (this.#phase !== "idle") throw new ProtocolError('"http.response.start" was sent twice.');
    this.#head = createResponseHead(status, headers, this.#method);
    this.#phase = "started";
    return this.#whole(this.#head, body);
  }

  readonly #receive: Receive = () => {
    if (this.#request === null) {
      const source = this.#stream.source ?? null;
      this.#request = new RequestBody(source, source === null ? 0 : Number.NaN);
      if (this.#isOver) this.#request.end();
      else if (this.#mayEnd) this.#request.halfClose();
    }
    return this.#request.receive();
  };

  /**
   * The client has disconnected: the application's messages are refused from now on. A client that has as many bytes as
   * `Content-Length` announced has the whole response, without the end that the application has not sent yet.
   */
  disconnect(): void {
    const isWhole = this.#phase === "streaming" && this.#head?.contentLength === this.#writtenBytes;
    this.#close(isWhole ? "complete" : "gone");
  }

  /** The client has ended its side and may still read: the application gets a disconnect, and can still respond. */
  halfClose(): void {
    this.#mayEnd = true;
    this.#request?.halfClose();
  }

  /**
   * The server is about to stop. A response finishes, unless its route has another rule or its client requests it again by
   * itself, as `EventSource` does (HTML §9.2.3). A client must not take a part for the whole: only one that can continue
   * after the last event gets the end of the body.
   */
  drain(): void {
    if (this.#phase !== "streaming") return;
    const when = (this.#scope.state as MarkedState | undefined)?.[WHEN_STOPPING];
    if (when === "end") this.#stop(true);
    else if (when === undefined && this.#blocks !== null) this.#stop(this.#blocks.canResume);
  }

  cut(): void {
    this.#isStopped = true;
    if (this.untouched) this.refuse(stopped);
    else if (this.#phase === "streaming") this.#stop(false);
  }

  /** Ends a response before its application does. @param mayEnd - Whether the end of a body without a length can be sent. */
  #stop(mayEnd: boolean): void {
    const { facts, contentLength } = this.#head as ServerResponseHead;
    const isWhole = facts.bodyless || (contentLength === -1 ? mayEnd : contentLength === this.#writtenBytes);
    this.#isStopped = true;
    this.#close("gone");
    if (isWhole) this.#stream.end();
    else this.#stream.destroy(serverStopped());
  }

  cutUnread(graceMs: number): void {
    const flushed = this.#stream.flushed();
    if (flushed === undefined) return;
    const timer = setTimeout(() => {
      this.#isStopped = true;
      this.#close("gone");
      this.#stream.destroy(serverStopped());
    }, graceMs);
    void flushed.then(() => clearTimeout(timer));
  }

  /** Responds in the application's place. Once the response has begun, only a cut tells the client that it is not whole. */
  refuse(error: ErrorResponse, reason?: unknown): void {
    if (!this.untouched) {
      this.#close("gone");
      this.#stream.destroy(reason);
      return;
    }
    this.#close("gone");
    const { head, body } = error.as(this.#context);
    const facts = responseFacts(head.status, this.#method);
    this.#stream.respond({ ...head, facts }, facts.bodyless ? EMPTY : body);
  }

  settled(failure: { readonly error: unknown } | null): Promise<void> | undefined {
    // A socket is destroyed a moment before its event.
    const hasLeft = this.#phase === "gone" || (this.#phase !== "complete" && this.#stream.destroyed);
    if (failure !== null) this.#failed(failure.error, hasLeft);
    else if (this.#phase !== "complete" && !hasLeft) this.#endInPlace();
    this.#request?.end();
    this.#stream.release?.();
    return this.#stream.flushed();
  }

  /** The application has returned without the end of its response. */
  #endInPlace(): void {
    if (!this.#mayEnd) {
      const missing = `The application returned without ${this.untouched ? "a response" : "the end of its response"}`;
      const { path } = this.#scope;
      this.#context.logger.error({ path }, `${missing}: ${this.name}`);
      this.refuse(internalServerError, new ProtocolError(`${missing}.`));
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
    if (this.#isStopped && error instanceof ClientDisconnect) return;
    if (hasLeft && !(error instanceof ProtocolError)) {
      logger.debug({ err: error, path }, `The application threw after its client had disconnected: ${this.name}`);
      return;
    }
    logOnce(logger, error, {
      scope: this.#scope,
      fields: { path },
      message: `The application threw: ${this.name}`,
    });
    if (!hasLeft && !this.#isOver) this.refuse(internalServerError, error);
  }

  /** No more data is sent: `receive` returns a disconnect. The first call decides the phase. */
  #close(phase: "complete" | "gone"): void {
    if (!this.#isOver) this.#phase = phase;
    this.#request?.end();
  }

  #body(message: HTTPResponseBodyMessage): Promise<void> | void {
    const head = this.#head;
    if (head === null) throw new ProtocolError('"http.response.body" was sent before "http.response.start".');
    const content = message instanceof ASCIIBody ? (message.ascii ?? message.body) : contentOf(message);
    const isLast = message.more_body !== true;
    if (isLast && this.#phase === "started") return this.#whole(head, content);
    const body = typeof content === "string" ? encodeUTF8(content) : content;
    if (!head.facts.bodyless) this.#count(head, body.length, isLast);
    if (this.#phase === "started") this.#begin(head);
    this.#blocks?.add(body);
    const written = this.#part(head.facts.bodyless ? EMPTY : body, isLast);
    if (this.#context.draining) this.drain();
    return written;
  }

  #begin(head: ServerResponseHead): void {
    this.#phase = "streaming";
    this.#stream.begin(head);
    if (this.#isOver) throw new ClientDisconnect(); // `fetch` learns of it only now
    if (this.#method === "GET" && streamsEvents(head)) this.#blocks = new EventBlocks(isEncoded(head));
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

  /** Head and body in one go, as most responses are. */
  #whole(head: ServerResponseHead, body: Uint8Array | string): Promise<void> | void {
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
  #count({ contentLength }: ServerResponseHead, bytes: number, isLast: boolean): void {
    this.#writtenBytes += bytes;
    const written = this.#writtenBytes;
    if (contentLength === -1 || (isLast ? written === contentLength : written <= contentLength)) return;
    const error = new ProtocolError(
      `The body has ${isLast ? "" : "at least "}${written} bytes, but Content-Length said ${contentLength}.`,
    );
    if (this.#phase === "streaming") this.#stream.destroy(error);
    throw error;
  }
}
