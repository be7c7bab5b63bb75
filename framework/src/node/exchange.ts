/** One request and its response, between `node:http` and the application. @module */
import type { HTTPScope, Receive, Send } from "../asgi.js";
import { logOnce } from "../logger.js";
import type { Call, Line } from "./connection.js";
import { ProtocolError } from "./errors.js";
import { Refusal } from "./refusal.js";
import type { RequestBody } from "./request-body.js";
import { ResponseWriter, type ResponseOwner } from "./response.js";
import type { ResponseSink } from "./response-sink.js";
import type { Service } from "./service.js";

const internalServerError = new Refusal(500);

/**
 * Bytes of an unread body that are let pass by so that the connection can be kept. Beyond that closing it is cheaper
 * than waiting for what nobody wants, and is all that helps against a body without an end.
 */
const MAX_DISCARDED_BYTES = 65_536;

/** Calls the application for one request, and sees to it that the client gets exactly one answer. */
export class Exchange implements Call, ResponseOwner {
  readonly scope: HTTPScope;
  readonly #service: Service;
  readonly #connection: Line;
  readonly #body: RequestBody;
  readonly #res: ResponseSink;
  readonly #response: ResponseWriter;
  #gone = false;
  #ending = false;

  constructor(
    service: Service,
    connection: Line,
    scope: HTTPScope,
    body: RequestBody,
    res: ResponseSink,
    maxTextBytes?: number,
  ) {
    this.scope = scope;
    this.#service = service;
    this.#connection = connection;
    this.#body = body;
    this.#res = res;
    this.#response = new ResponseWriter(res, scope.method === "HEAD", this, maxTextBytes);
  }

  /** What this exchange is called in a log line: `"GET /items"`. */
  get name(): string {
    return `${this.scope.method} ${this.scope.path}`;
  }

  /** Whether the whole request has come in. */
  get received(): boolean {
    return this.#body.outstanding === 0;
  }

  /** Whether the whole response has left. */
  get answered(): boolean {
    return this.#response.complete && this.#res.writableLength === 0;
  }

  mustClose(): boolean {
    if (this.#service.draining || this.#body.outstanding > MAX_DISCARDED_BYTES) {
      this.#connection.closing = true;
    }
    return this.#connection.closing && !this.#connection.refuses;
  }

  /** Starts the application. Never throws; the exchange leaves its service when the application's promise settles. */
  run(): void {
    this.#connection.calls.push(this);
    const receive: Receive = () => this.#body.receive();
    const send: Send = (message) => {
      const done = this.#response.send(message);
      if (this.#response.complete) {
        this.#completed();
      }
      return done;
    };
    let result: Promise<void>;
    try {
      result = this.#service.app(this.scope, receive, send);
    } catch (error) {
      this.#failed(error);
      return;
    }
    Promise.resolve(result).then(
      () => this.#returned(),
      (error: unknown) => this.#failed(error),
    );
  }

  /** The client has gone. Nobody waits for the rest of the response then, and what its loss makes fail is no fault. */
  disconnect(): void {
    this.#gone = !this.#response.complete;
    this.#body.end();
    this.#response.disconnect();
  }

  /**
   * The server is about to stop. A stream of events has no end of its own, so its application is told that the client
   * has gone; everything else is let finish.
   */
  drain(): void {
    if (this.#response.streamsEvents) {
      this.#ending = true;
      this.#body.end();
    }
  }

  drained(): void {
    this.#response.drained();
  }

  /** Answers in the application's place; once the response has begun, a cut is all that says that it is not whole. */
  refuse(refusal: Refusal): void {
    if (this.#response.untouched) {
      this.#response.replace(refusal);
      this.#gone = true;
      this.#completed();
    } else {
      this.#connection.destroy();
    }
  }

  /** The application has sent its last message: `receive` says so, and what it did not read of the body is dealt with. */
  #completed(): void {
    if (!this.#body.end()) {
      return;
    }
    if (this.#body.outstanding > 0) {
      if (this.#gone || this.#body.outstanding > MAX_DISCARDED_BYTES) {
        this.#connection.closeAfter(this.#res);
      }
      this.#body.discard();
    }
  }

  #returned(): void {
    if (this.#ending && !this.#response.complete && !this.#gone) {
      this.#response.finish();
    } else if (!this.#response.complete && !this.#gone) {
      const missing = this.#response.untouched ? "a response" : "the end of its response";
      this.#service.logger.error(
        { path: this.scope.path },
        `The application returned without ${missing}: ${this.name}`,
      );
      this.refuse(internalServerError);
    }
    this.#finish();
  }

  #failed(error: unknown): void {
    const { logger } = this.#service;
    const fields = { err: error, path: this.scope.path };
    if (this.#gone && !(error instanceof ProtocolError)) {
      logger.debug(fields, `The application threw after its client had gone: ${this.name}`);
    } else {
      logOnce(logger, error, { path: this.scope.path }, `The application threw: ${this.name}`);
      if (!this.#response.complete && !this.#gone) {
        this.refuse(internalServerError);
      }
    }
    this.#finish();
  }

  #finish(): void {
    this.#body.end();
    const flushed = this.#response.flushed();
    if (flushed === undefined) {
      this.#leave();
    } else {
      flushed.then(
        () => this.#leave(),
        () => this.#leave(),
      );
    }
  }

  #leave(): void {
    this.#connection.delete(this);
    this.#service.finished();
  }
}
