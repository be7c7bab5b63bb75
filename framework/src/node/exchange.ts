/** One request and its response, between `node:http` and the application. @module */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { HTTPScope, Receive, Send } from "../asgi.js";
import type { Connection } from "./connection.js";
import { ClientDisconnectError } from "./errors.js";
import { RequestBody } from "./request-body.js";
import { ResponseWriter } from "./response.js";
import type { Service } from "./service.js";

const INTERNAL_SERVER_ERROR = Buffer.from('{"detail":"Internal Server Error"}');

/** Calls the application for one request, and sees to it that the client gets exactly one answer. */
export class Exchange {
  readonly scope: HTTPScope;
  readonly #service: Service;
  readonly #connection: Connection;
  readonly #body: RequestBody;
  readonly #response: ResponseWriter;
  #firstReceive = true;
  #gone = false;

  constructor(
    service: Service,
    connection: Connection,
    scope: HTTPScope,
    req: IncomingMessage,
    res: ServerResponse,
    hasBody: boolean,
  ) {
    this.scope = scope;
    this.#service = service;
    this.#connection = connection;
    this.#body = new RequestBody(req, hasBody);
    this.#response = new ResponseWriter(res, scope.method === "HEAD", () => service.draining);
  }

  /** What this exchange is called in a log line: `"GET /items"`. */
  get name(): string {
    return `${this.scope.method} ${this.scope.path}`;
  }

  /** Starts the application. Never throws; the exchange leaves its service when the application's promise settles. */
  run(): void {
    this.#service.running.add(this);
    this.#connection.add(this);
    const receive: Receive = () => this.#receive();
    const send: Send = (message) => {
      const done = this.#response.send(message);
      if (this.#response.complete) {
        this.#body.end();
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

  /** The client has gone. */
  disconnect(): void {
    this.#gone = true;
    this.#body.end();
    this.#response.disconnect();
  }

  #receive(): ReturnType<Receive> {
    const first = this.#firstReceive;
    this.#firstReceive = false;
    return this.#body.receive(first);
  }

  #returned(): void {
    if (!this.#response.complete && !this.#gone) {
      this.#service.logger.error(
        { path: this.scope.path },
        `The application returned without ${this.#response.untouched ? "a response" : "the end of its response"}: ${this.name}`,
      );
      this.#giveUp();
    }
    this.#finish();
  }

  #failed(error: unknown): void {
    if (!(this.#gone && error instanceof ClientDisconnectError)) {
      this.#service.logger.error({ error, path: this.scope.path }, `The application threw: ${this.name}`);
    }
    if (!this.#response.complete && !this.#gone) {
      this.#giveUp();
    }
    this.#finish();
  }

  /** A 500 while that is still possible; after that a cut is all that tells the client that the body is not whole. */
  #giveUp(): void {
    if (this.#response.untouched) {
      this.#response.replace(
        500,
        ["content-type", "application/json", "content-length", String(INTERNAL_SERVER_ERROR.length)],
        INTERNAL_SERVER_ERROR,
      );
    } else {
      this.#connection.socket.destroy();
    }
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
    this.#service.finish(this);
  }
}
