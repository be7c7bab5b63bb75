/** The servers of one statement, their clients, and their logs. @module */
import type { ASGIApp, LifespanScope, Receive, Scope, Send } from "../../src/protocol/asgi.js";
import type { ClientResponse, HandshakeResponse, TextHeaders } from "@tsgi/conformance";
import type { Logger } from "../../src/common/logger.js";
import { Deferred, markHandled, nextTurn } from "../../src/common/promises.js";
import { body, type Call, type HTTPCall, start, text, type WebSocketCall } from "./_calls.js";
import { type Driver, type Endpoint, type Handshake, type Request, type Settings, Surplus } from "./_driver.js";
import { PROBE } from "./_http1-client.js";

/** The handlers of an application, by type of scope. */
export interface Parts {
  readonly http?: (call: HTTPCall) => Promise<void>;
  readonly websocket?: (call: WebSocketCall) => Promise<void>;
}

/** Options of a server. */
export interface ServerOptions {
  /** State of the lifespan. Empty by default. */
  readonly state?: Record<string, unknown>;
  /** Defaults to one that keeps its lines. */
  readonly logger?: Logger;
  /** Milliseconds that it may take to stop, if the driver is in this process. */
  readonly shutdownTimeoutMs?: number;
}

/** A response that was read to its end. */
export interface Whole {
  readonly status: number;
  readonly headers: TextHeaders;
  /** Latin-1. */
  readonly body: string;
  /** `"whole"`, `"cut"`, or the data after the response. One that is cut may have no status. */
  readonly end: string;
}

const LOST: Whole = { status: 0, headers: [], body: "", end: "cut" };

/** A logger that keeps its lines as `level message | error`, without those about the server itself. */
class StatementLog implements Logger {
  readonly lines: string[] = [];
  readonly debug = (fields: object, message: string): void => this.#add("debug", fields, message);
  readonly info = (): void => {};
  readonly warn = (fields: object, message: string): void => this.#add("warn", fields, message);
  readonly error = (fields: object, message: string): void => this.#add("error", fields, message);

  #add(level: string, fields: object, message: string): void {
    this.lines.push(`${level} ${message}${"err" in fields ? ` | ${String(fields.err)}` : ""}`);
  }
}

/** A server that runs one application. */
export class Server {
  /** Types of the messages of the lifespan, in the order of their arrival. */
  readonly lifespan: string[] = [];
  readonly #parts: Parts;
  readonly #state: Record<string, unknown>;
  readonly #log = new StatementLog();
  readonly #logger: Logger;
  readonly #shutdownTimeoutMs: number | undefined;
  readonly #calls: Promise<unknown>[] = [];
  /** Ends the calls that wait for something which a failed statement never does. */
  readonly #abandoned = new Deferred<void>();
  #endpoint!: Endpoint;

  private constructor(parts: Parts, { state = {}, logger, shutdownTimeoutMs }: ServerOptions) {
    this.#parts = parts;
    this.#state = state;
    this.#logger = logger ?? this.#log;
    this.#shutdownTimeoutMs = shutdownTimeoutMs;
  }

  static async start(driver: Driver, parts: Parts, options: ServerOptions): Promise<Server> {
    const server = new Server(parts, options);
    server.#endpoint = await driver.start(server.#app, server.#settings);
    return server;
  }

  get #settings(): Settings {
    const ms = this.#shutdownTimeoutMs;
    const settings = { logger: this.#logger, state: this.#state };
    return ms === undefined ? settings : { ...settings, shutdownTimeoutMs: ms };
  }

  /** Not `async`: an application that throws before it returns a promise is one of the statements. */
  readonly #app: ASGIApp = (scope, receive, send) => {
    if (scope.type === "lifespan") return this.#runLifespan(scope, receive, send);
    if (scope.path === PROBE) return respond(send, 204);
    const call = Promise.race([this.#call({ scope, receive, send }), this.#abandoned.promise]);
    this.#calls.push(call.catch(() => {}));
    return call;
  };

  #call(call: Call<Scope>): Promise<void> {
    const { http, websocket } = this.#parts;
    if (call.scope.type === "http" && http !== undefined) return http(call as HTTPCall);
    if (call.scope.type === "websocket" && websocket !== undefined) return websocket(call as WebSocketCall);
    throw new Error(`The statement has no application for the scope "${call.scope.type}".`);
  }

  async #runLifespan(scope: LifespanScope, receive: Receive, send: Send): Promise<void> {
    this.lifespan.push((await receive()).type);
    Object.assign(scope.state ?? {}, this.#state);
    await send({ type: "lifespan.startup.complete" });
    this.lifespan.push((await receive()).type);
    await send({ type: "lifespan.shutdown.complete" });
  }

  /** Sends a request, and resolves with the head of the response. */
  request(request: Request = {}): Promise<ClientResponse> {
    return this.#endpoint.request(request);
  }

  /** Sends a request, and reads the response to its end. */
  async whole(request: Request = {}): Promise<Whole> {
    return readWhole(this.request(request));
  }

  /** Sends a handshake. */
  async websocket(handshake: Handshake = {}): Promise<HandshakeResponse> {
    if (this.#endpoint.websocket === undefined) throw new Error("The driver opens no WebSockets.");
    return this.#endpoint.websocket(handshake);
  }

  /** Waits until the server has handled everything that was sent before. */
  async fence(): Promise<void> {
    await this.whole({ target: PROBE });
  }

  /** Stops the server as a signal does. */
  stop(): Promise<void> {
    return markHandled(this.#endpoint.stop()); // a statement that fails before does not wait for it
  }

  /** The lines of the log, after every call of the application has settled. */
  async log(): Promise<readonly string[]> {
    await Promise.all(this.#calls);
    await nextTurn(); // the driver logs in the turn in which the call settles
    await this.#endpoint.syncLog?.();
    return this.#log.lines;
  }

  /** Ends what still runs. */
  async end(): Promise<void> {
    this.#abandoned.resolve();
    await nextTurn();
    this.#endpoint.cut();
    await this.#endpoint.stop().catch(() => {}); // stopping is a separate statement
  }
}

async function respond(send: Send, status: number): Promise<void> {
  await send(start(status));
  await send(body());
}

/** Reads a response to its end. */
export async function readWhole(response: Promise<ClientResponse>): Promise<Whole> {
  let whole: Whole = LOST;
  try {
    const { body: parts, ...head } = await response;
    whole = { ...head, body: "", end: "cut" };
    for await (const bytesOfPart of parts) whole = { ...whole, body: whole.body + text(bytesOfPart) };
    return { ...whole, end: "whole" };
  } catch (error) {
    return error instanceof Surplus ? { ...whole, end: error.message } : whole;
  }
}

/** The servers of one statement. */
export class Stage {
  readonly driver: Driver;
  readonly #servers: Server[] = [];

  constructor(driver: Driver) {
    this.driver = driver;
  }

  /** Starts a server for an application. */
  async start(parts: Parts, options: ServerOptions = {}): Promise<Server> {
    const server = await Server.start(this.driver, parts, options);
    this.#servers.push(server);
    return server;
  }

  /** Waits until a promise settles, or for some turns of the event loop. Tells if the promise still waits. */
  async isWaiting(promise: Promise<unknown>): Promise<boolean> {
    const turns = async (): Promise<boolean> => {
      for (let turn = 0; turn < 20; turn++) await (this.driver.turn?.() ?? nextTurn());
      return true;
    };
    const settled = () => false;
    return Promise.race([promise.then(settled, settled), turns()]);
  }

  /** Ends every server. */
  async end(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.end()));
  }
}

/** An exchange: the application's side of it, and the client's. */
export interface Exchange<Value> {
  /** The result of the application, or its error. */
  readonly value: Promise<Value>;
  readonly response: Whole;
  readonly log: readonly string[];
}

/** Sends one request to an application. */
export async function exchange<Value>(
  stage: Stage,
  request: Request,
  handle: (call: HTTPCall) => Promise<Value>,
): Promise<Exchange<Value>> {
  const value = new Deferred<Value>();
  const http = async (call: HTTPCall): Promise<void> => {
    const result = handle(call);
    void result.then(value.resolve, value.reject);
    await result;
  };
  const server = await stage.start({ http });
  const response = await server.whole(request);
  return { value: value.promise, response, log: await server.log() };
}
