/** One request and its response, between an engine and the application. @module */
import type { HTTPScope, ReceiveMessage, Send } from "../asgi.js";
import { logOnce } from "../logger.js";
import type { Call, ServerContext } from "./context.js";
import type { ResponseStream } from "./engine.js";
import { ErrorResponse } from "./error-response.js";
import { ProtocolError } from "./errors.js";
import { RequestBody } from "./request-body.js";
import { ResponseWriter } from "./response.js";

const internalServerError = new ErrorResponse(500);

/** Calls the application for one request, and ensures that the client gets exactly one response. */
export class Exchange implements Call {
  readonly scope: HTTPScope;
  readonly #context: ServerContext;
  readonly #stream: ResponseStream;
  readonly #response: ResponseWriter;
  /** Made at first use where the request has no body. */
  #body: RequestBody | null;
  /** The client has gone, or was answered in the application's place. */
  #gone = false;
  /** The client sends nothing more, or the server stops: an application that ends its response here has not failed. */
  #mayEnd = false;
  /** Whether `receive` has nothing more to give. */
  #isOver = false;
  #isCompleted = false;

  /** @param body - The body, or `null` where the request has none. */
  constructor(context: ServerContext, stream: ResponseStream, scope: HTTPScope, body: RequestBody | null) {
    this.scope = scope;
    this.#context = context;
    this.#stream = stream;
    this.#body = body;
    this.#response = new ResponseWriter(stream, scope.method === "HEAD");
  }

  get name(): string {
    return `${this.scope.method} ${this.scope.path}`;
  }

  /** Calls the application. Never throws; the exchange leaves the context when the application's promise settles. */
  run(): void {
    const context = this.#context;
    context.running.add(this);
    const send: Send = (message) => this.#sent(this.#response.send(message));
    send.text = (status, headers, text) => this.#sent(this.#response.sendText(status, headers, text));
    let result: Promise<void>;
    try {
      result = context.app(this.scope, () => this.#receive(), send);
    } catch (error) {
      this.#failed(error);
      return;
    }
    Promise.resolve(result).then(
      () => this.#returned(),
      (error: unknown) => this.#failed(error),
    );
  }

  /** The client has gone. */
  disconnect(): void {
    this.#gone = !this.#response.complete;
    this.#response.disconnect();
    this.#endBody();
  }

  /** The client has ended its side, and may still read: the application is told, and can answer all the same. */
  halfClose(): void {
    this.#mayEnd = true;
    this.#body?.halfClose();
  }

  /**
   * The server is about to stop. A stream of events has no end of its own, so its application is told that the client
   * has gone; everything else may finish.
   */
  drain(): void {
    if (this.#response.streamsEvents) this.halfClose();
  }

  /** Answers in the application's place; once the response has begun, a cut is all that says that it is not whole. */
  refuse(error: ErrorResponse): void {
    if (this.#response.untouched) {
      this.#gone = true;
      this.#response.replace(error);
      this.#completed();
    } else {
      this.#stream.destroy();
    }
  }

  #receive(): Promise<ReceiveMessage> {
    if (this.#body === null) {
      this.#body = new RequestBody(null, 0);
      if (this.#isOver) this.#body.end();
      else if (this.#mayEnd) this.#body.halfClose();
    }
    return this.#body.receive();
  }

  /** A message was given to the response. */
  #sent(done: Promise<void> | void): Promise<void> | void {
    if (this.#response.complete && !this.#isCompleted) this.#completed();
    return done;
  }

  /** The application has sent its last message: `receive` says so, and the engine goes on. */
  #completed(): void {
    this.#isCompleted = true;
    this.#endBody();
    this.#stream.completed();
  }

  #endBody(): void {
    this.#isOver = true;
    this.#body?.end();
  }

  /** The socket is destroyed a moment before it says so. */
  get #hasLeft(): boolean {
    return this.#gone || this.#stream.destroyed;
  }

  #returned(): void {
    if (!this.#response.complete && !this.#hasLeft) this.#endInPlace();
    this.#leave();
  }

  /** The application has returned without the end of its response. */
  #endInPlace(): void {
    if (this.#mayEnd && !this.#response.untouched) {
      this.#response.finish();
      this.#completed();
    } else if (this.#mayEnd) {
      this.#stream.destroy();
    } else {
      const missing = this.#response.untouched ? "a response" : "the end of its response";
      const { path } = this.scope;
      this.#context.logger.error({ path }, `The application returned without ${missing}: ${this.name}`);
      this.refuse(internalServerError);
    }
  }

  #failed(error: unknown): void {
    const { logger } = this.#context;
    const { path } = this.scope;
    if (this.#hasLeft && !(error instanceof ProtocolError)) {
      logger.debug({ err: error, path }, `The application threw after its client had gone: ${this.name}`);
    } else {
      logOnce(logger, error, this.scope, { path }, `The application threw: ${this.name}`);
      if (!this.#response.complete && !this.#hasLeft) this.refuse(internalServerError);
    }
    this.#leave();
  }

  #leave(): void {
    this.#endBody();
    const flushed = this.#gone ? undefined : this.#stream.flushed();
    if (flushed === undefined) this.#context.finished(this);
    else void flushed.then(() => this.#context.finished(this));
  }
}
