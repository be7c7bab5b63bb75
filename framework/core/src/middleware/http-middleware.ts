/** `httpMiddleware`: a middleware as one function around `next()`. @module */
import type { ASGIApp, HTTPScope, Receive, ReceiveMessage, Send, SendMessage } from "../protocol/asgi.js";
import type { Middleware } from "./chain.js";
import { ClientDisconnect, configurationError } from "../common/exceptions.js";
import { Deferred, markHandled } from "../common/promises.js";
import { observedOf, runTasks } from "./observation/observed.js";
import { finishingSend, MARK_FINISHED, Request } from "../http/request.js";
import { responseOf } from "../http/response/web.js";
import type { Response } from "../http/response/response.js";
import type { ResponseHeaders } from "../http/response/headers.js";
import { finishAfterCut } from "../protocol/server-context.js";
import { headersOf, onHTTP, sendInOrder } from "./layer.js";
import { createBytes } from "../protocol/bytes.js";

/**
 * One `receive` for two readers: a middleware, which can read the body before the application does, and the
 * application, which still gets the whole body.
 */
class SharedReceive {
  readonly #receive: Receive;
  /** Messages that the application has not taken. */
  readonly #kept: ReceiveMessage[] = [];
  #pulling: Promise<ReceiveMessage> | null = null;
  #middlewareWaits = false;
  /** The part of the body that the application has taken past the middleware. */
  #missed: "nothing" | "an empty body" | "bytes" = "nothing";

  #gone = false;

  constructor(receive: Receive) {
    this.#receive = receive;
  }

  /** `true` after either reader was notified of the disconnect. */
  get gone(): boolean {
    return this.#gone;
  }

  /**
   * The reader of the middleware. It fails rather than waits for bytes that the application has taken, since the
   * application may be waiting for the middleware.
   */
  readonly forMiddleware: Receive = () => markHandled(this.#receiveForMiddleware());

  async #receiveForMiddleware(): Promise<ReceiveMessage> {
    if (this.#missed === "bytes") {
      throw new TypeError(
        "The application has already received the body. A middleware must read it before it calls next().",
      );
    }
    if (this.#missed === "an empty body") {
      this.#missed = "nothing";
      return { type: "http.request", body: createBytes(0), more_body: false };
    }
    this.#middlewareWaits = true;
    return this.#pull();
  }

  /** The reader of the application. */
  readonly forApplication: Receive = () => markHandled(this.#receiveForApplication());

  async #receiveForApplication(): Promise<ReceiveMessage> {
    for (;;) {
      const message = this.#kept.shift();
      if (message !== undefined) return message;
      await this.#pull();
    }
  }

  /** Takes one message from the server. Two readers at a time share it. */
  #pull(): Promise<ReceiveMessage> {
    return (this.#pulling ??= this.#receive().then(
      (message) => {
        this.#pulling = null;
        this.#gone ||= message.type === "http.disconnect";
        this.#kept.push(message);
        if (!this.#middlewareWaits) this.#miss(message);
        this.#middlewareWaits = false;
        return message;
      },
      (error: unknown) => {
        this.#pulling = null;
        throw error;
      },
    ));
  }

  #miss(message: ReceiveMessage): void {
    if (message.type !== "http.request") return;
    if (message.body !== undefined && message.body.length > 0) this.#missed = "bytes";
    else if (message.more_body !== true && this.#missed === "nothing") this.#missed = "an empty body";
  }
}

/** The head of a response that has not been sent yet. Changes to it reach the client. */
export interface ResponseHead {
  /** HTTP status code in range [200...599]. */
  statusCode: number;
  readonly headers: ResponseHeaders;
}

/** The results that the function may have. */
type HTTPMiddlewareResult = Response | globalThis.Response | ResponseHead | void;

/**
 * A middleware in the form of a function. `next()` calls the application and returns the head of its response, which is
 * sent when the function returns; the body follows then, in chunks.
 *
 * @returns undefined or the head, which sends the response of the application; or a `Response` to send instead.
 */
export type HTTPMiddlewareFunction = (
  request: Request,
  next: () => Promise<ResponseHead>,
) => Promise<HTTPMiddlewareResult> | HTTPMiddlewareResult;

/** A third argument, as Express's `next`, which is never passed. */
interface HTTPMiddlewareTakesRequestAndNext {
  readonly httpMiddlewareTakesRequestAndNext: never;
}

/**
 * Makes a middleware of a function, for everyday use.
 *
 * - An error of the application is thrown from `next()`. (An App inside has made a response of it already.)
 * - A `Response` that is returned without a call of `next()` is sent instead of calling the application. If it is
 *   returned after `next()`, it replaces the application's response; the application sees a disconnect, so that its
 *   cleanup runs.
 * - You can read the body before `next()`; the application still gets it.
 *
 * @throws ConfigurationError when it is given no function.
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { httpMiddleware } from "tsgi/middleware";
 *
 * const app = new App();
 * app.addMiddleware(
 *   httpMiddleware(async (request, next) => {
 *     const start = performance.now();
 *     const response = await next();
 *     response.headers.set("server-timing", `app;dur=${performance.now() - start}`);
 *   }),
 * );
 * ```
 */
export function httpMiddleware(
  fn: (
    ...args: [...Parameters<HTTPMiddlewareFunction>, ...none: HTTPMiddlewareTakesRequestAndNext[]]
  ) => ReturnType<HTTPMiddlewareFunction>,
): Middleware;
export function httpMiddleware(fn: HTTPMiddlewareFunction): Middleware {
  if (typeof fn !== "function") throw configurationError("TSGI_MIDDLEWARE_NOT_A_FUNCTION.http", fn);
  return onHTTP((app) => (scope, receive, send) => new Execution(scope, receive, send).run(fn, app));
}

/** One request in the function. */
class Execution {
  readonly #scope: HTTPScope;
  readonly #send: Send;
  readonly #receive: SharedReceive;
  readonly #request: Request;
  /** Settles with the head of the application's response. */
  readonly #head = new Deferred<ResponseHead>();
  /** Resolves when the function has returned and the response can be sent; rejects if it is dropped. */
  readonly #exit = new Deferred<void>();
  #inner: Promise<void> | null = null;
  #isOver = false;

  constructor(scope: HTTPScope, receive: Receive, send: Send) {
    this.#scope = scope;
    this.#receive = new SharedReceive(receive);
    this.#request = new Request(scope, this.#receive.forMiddleware);
    this.#send = send;
  }

  async run(fn: HTTPMiddlewareFunction, app: ASGIApp): Promise<void> {
    try {
      const result = await fn(this.#request, () => this.#next(app));
      const response = responseOf(result);
      if (response !== null) return await this.#replace(response);
      await this.#assertHead(result);
      this.#exit.resolve();
      await this.#inner;
    } catch (error) {
      this.#exit.reject(new ClientDisconnect());
      await Promise.allSettled([this.#inner]);
      throw error;
    } finally {
      this.#request[MARK_FINISHED]();
      await this.#request.close();
    }
  }

  #next(app: ASGIApp): Promise<ResponseHead> {
    if (this.#inner !== null) {
      return markHandled(Promise.reject(new TypeError("next() was called twice. A request has only one response.")));
    }
    const take = (message: SendMessage) => this.#take(message);
    const call = async (): Promise<void> => app(this.#scope, this.#receive.forApplication, sendInOrder(take));
    this.#inner = call();
    const over = (error: unknown) => {
      this.#isOver = true;
      this.#head.reject(error);
    };
    this.#inner.then(() => over(this.#absence()), over);
    return this.#head.promise;
  }

  /** The reason for a missing response: the client has disconnected, or the application sent no response. */
  #absence(): Error {
    return this.#receive.gone ? new ClientDisconnect() : new Error("The application returned without a response.");
  }

  #take(message: SendMessage): Promise<void> | void {
    if (message.type !== "http.response.start") {
      if (message.type === "http.response.body" && message.more_body !== true) this.#request[MARK_FINISHED]();
      return this.#send(message);
    }
    const head: ResponseHead = { statusCode: message.status, headers: headersOf(message) };
    this.#head.resolve(head);
    return this.#exit.promise.then(() =>
      this.#send({ ...message, status: head.statusCode, headers: head.headers.toList() }),
    );
  }

  /** Rejects a value that a function may return by mistake: the application's response would still be sent. */
  async #assertHead(result: unknown): Promise<void> {
    if (this.#inner === null) {
      throw new TypeError("The middleware returned without a response. Call next(), or return a Response.");
    }
    if (result !== undefined && result !== (await this.#head.promise)) {
      throw new TypeError(
        `The middleware returned a ${typeof result}. Return undefined, the result of next(), or a Response.`,
      );
    }
  }

  async #replace(response: Response): Promise<void> {
    // If the application has already thrown, next() has rethrown the error, and the response is the one for the error.
    const inner = this.#isOver ? null : this.#inner;
    this.#exit.reject(new ClientDisconnect());
    const runOwnTasks = () => runTasks(response.background, observedOf(this.#scope));
    try {
      await response.send(finishingSend(this.#request, this.#send), this.#scope.method === "HEAD", this.#request);
      await inner?.catch((error: unknown) => {
        if (!(error instanceof ClientDisconnect)) throw error;
      });
    } catch (error) {
      finishAfterCut(this.#scope, runOwnTasks());
      throw error;
    }
    await runOwnTasks();
  }
}
