/** The application that a server serves, and the calls of it that run. @module */
import type { ASGIApp, HTTPScope, Receive, Scope, Send } from "./asgi.js";
import { type Logger, requestOf } from "../common/logger.js";
import { DEFAULT_WRITER, ERROR_WRITER, type ErrorWriter, type WithErrorWriter } from "./error-format.js";
import { Deferred, isFulfilled, peek, RESOLVED } from "../common/promises.js";

/**
 * Under this key the state of a request tells that its server accepts no more connections. Registered, so that any server
 * can set it.
 */
export const DRAINING: unique symbol = Symbol.for("tsgi.draining");

/** Under this key the state of a request has the rule of its route for a streamed response when the server stops. */
export const WHEN_STOPPING: unique symbol = Symbol.for("tsgi.whenStopping");

/** `finish` waits for the end of a response, and `end` ends it. */
export type WhenStopping = "finish" | "end";

/** The state of a request, with the keys of this module. */
export interface MarkedState {
  [DRAINING]?: true;
  [WHEN_STOPPING]?: WhenStopping;
}

/** Proxies whose headers about the client are used. */
export interface Proxies {
  /** Writes the client and the scheme that the headers report, if a trusted proxy sent them. */
  apply(scope: HTTPScope): void;
}

/** A call of the application: an HTTP exchange or a WebSocket session. */
export interface ServedCall {
  /** Its name in a log line: `"GET /items"`. */
  readonly name: string;
  /** `true` if the client has disconnected or ended its side: it does not wait for the response. */
  readonly hasLeft: boolean;
  /** For a WebSocket: calls back once the connection has ended. Messages may still wait for the application. */
  whenEnded?(callBack: () => void): void;
  /** The server is about to stop: ends a response that its client requests again. */
  drain(): void;
  /** The time to stop is nearly up: cuts the response if its client does not read the waiting data within `graceMs`. */
  cutUnread(graceMs: number): void;
  /** The time to stop is up: responds in place of the application, or cuts the response. */
  cut(): void;
  /**
   * The application has returned, or has failed.
   *
   * @returns A promise for the time until the system has all data of the application; undefined if it has it already.
   */
  settled(failure: { readonly error: unknown } | null): Promise<void> | undefined;
}

/** Under this key, a scope has its call, which knows more about the client than ASGI. Other servers do not set it. */
export const CALL: unique symbol = Symbol("tsgi.call");

/** A scope that may have its call. */
export interface CalledScope {
  [CALL]?: Pick<ServedCall, "hasLeft" | "whenEnded">;
}

/**
 * Under this key, a scope has a function for an error whose response no exception handler of the application has made: the
 * server may pass it to the code around it. Registered, so that an application of another copy of the package calls it too.
 */
export const UNEXPECTED: unique symbol = Symbol.for("tsgi.unexpected");

/** A scope whose server takes unexpected errors. */
export interface HostedScope {
  [UNEXPECTED]?: (error: unknown) => void;
}

/** Work of requests that have failed in the middle of their response. */
const unfinished = new WeakMap<object, Promise<unknown>>();

/**
 * Lets the server cut a response that has failed before it waits for work of its request: a client should not wait for
 * background tasks to learn of the failure. Call it before the error is thrown to the server.
 *
 * @param work - Does not reject.
 */
export function finishAfterCut(scope: HTTPScope, work: Promise<unknown> | undefined): void {
  const request = requestOf(scope);
  if (work !== undefined) unfinished.set(request, Promise.all([unfinished.get(request), work]));
}

/** Resolves at the end of the work that {@link finishAfterCut} was given; undefined without any. */
export function unfinishedWork(scope: object & { readonly headers?: unknown }): Promise<unknown> | undefined {
  return unfinished.get(requestOf(scope));
}

/** One application being served. All requests of a server share it. */
export class ServerContext {
  readonly app: ASGIApp;
  readonly logger: Logger;
  /** The lifespan's state, of which each request gets a shallow copy. */
  readonly state: Readonly<Record<string | symbol, unknown>>;
  /** Trusted proxies, or `null`. */
  readonly proxies: Proxies | null;
  /** `true` while the server drains: each response closes its connection. */
  draining = false;
  /** The calls that have not settled, background tasks included. */
  readonly running = new Set<ServedCall>();
  /** `null` until the end of all calls is awaited. */
  #idle: Deferred<void> | null = null;

  /** @param settings - The lifespan's state, and trusted proxies if there are any. */
  constructor(
    app: ASGIApp,
    logger: Logger,
    { state, proxies = null }: { state: Readonly<Record<string | symbol, unknown>>; proxies?: Proxies | null },
  ) {
    this.app = app;
    this.logger = logger;
    this.state = state;
    this.proxies = proxies;
  }

  /** The format of the errors of the application, or of the one inside it that has the lifespan. */
  get errorWriter(): ErrorWriter {
    const app: ASGIApp & WithErrorWriter = this.app;
    const state: WithErrorWriter = this.state;
    return app[ERROR_WRITER] ?? state[ERROR_WRITER] ?? DEFAULT_WRITER;
  }

  /** Calls the application. Never rejects. */
  async run(call: ServedCall, scope: Scope & CalledScope, receive: Receive, send: Send): Promise<void> {
    this.running.add(call);
    scope[CALL] = call;
    let failure: { readonly error: unknown } | null = null;
    try {
      const served = this.app(scope, receive, send);
      if (peek === null || !isFulfilled(served)) await served;
    } catch (error) {
      failure = { error };
    }
    try {
      const flushed = call.settled(failure);
      if (flushed !== undefined) await flushed;
    } catch (error) {
      // On another server, other code may have sent a head before.
      this.logger.error({ err: error }, `The response could not be sent: ${call.name}`);
    }
    if (failure !== null) await unfinishedWork(scope);
    this.running.delete(call);
    if (this.#idle === null || this.running.size > 0) return;
    this.#idle.resolve();
    this.#idle = null;
  }

  /** Responses close their connection from now on, and those that their clients request again end. */
  drain(): void {
    this.draining = true;
    for (const call of this.running) call.drain();
  }

  /** Cuts the responses whose clients do not read the waiting data within `graceMs`. */
  cutUnread(graceMs: number): void {
    for (const call of this.running) call.cutUnread(graceMs);
  }

  /** Ends the calls that have not ended by themselves. */
  cut(): void {
    for (const call of this.running) call.cut();
  }

  /** Waits until no call runs. */
  idle(): Promise<void> {
    return this.running.size === 0 ? RESOLVED : (this.#idle ??= new Deferred<void>()).promise;
  }
}
