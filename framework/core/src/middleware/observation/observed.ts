/** A request or WebSocket under observation: its route, its steps and its end. @module */
import type {
  ASGIApp,
  HeaderPair,
  HTTPResponseBodyMessage,
  HTTPScope,
  Receive,
  Send,
  WebSocketHTTPResponseBodyMessage,
  WebSocketScope,
} from "../../protocol/asgi.js";
import { type BackgroundTasks, RUN_STEPS } from "../../http/background.js";
import { ClientDisconnect } from "../../common/exceptions.js";
import { FROM_LIST, GET_LIST, ResponseHeaders } from "../../http/response/headers.js";
import type { Instrumentation, StepKind, Observation } from "./types.js";
import { type Logger, errorText } from "../../common/logger.js";
import { markHandled } from "../../common/promises.js";
import { relaying } from "../../protocol/response.js";
import { CALL, type CalledScope, unfinishedWork } from "../../protocol/server-context.js";

/** The key of a scope under which its observation is found. */
export const OBSERVED: unique symbol = Symbol("tsgi.observed");

/** A scope that may be observed. */
export interface ObservedScope {
  [OBSERVED]?: Observed;
}

/** The observation of a scope; `null` if it is not observed. */
export function observedOf(scope: object): Observed | null {
  const marked: object & ObservedScope = scope;
  return marked[OBSERVED] ?? null;
}

/** Status of a handshake that the application closes before it accepts (ASGI, "Close - send event"). */
const CLOSED_HANDSHAKE = 403;

/** One request or WebSocket, as the instrumentations of one App observe it. */
export class Observed {
  /** `true` once the request is over. */
  isOver = false;
  /** Bytes of the body sent so far, or of the messages for a WebSocket. */
  bytesSent = 0;
  /** The id from the middleware `requestId`. */
  requestId: string | undefined;
  /** The id of the trace that the request is a part of, where something traces it. */
  traceId: string | undefined;
  /** `true` once an access log has written the line of this request. */
  isLogged = false;
  readonly #watches: readonly Watch[];
  /** The observation by the App around this one, which hears of routes, steps and errors too. */
  readonly #outer: Observed | null;
  #failure: { readonly error: unknown } | null = null;
  #hasResponded = false;

  constructor(watches: readonly Watch[], outer: Observed | null) {
    this.#watches = watches;
    this.#outer = outer;
    this.requestId = outer?.requestId;
    this.traceId = outer?.traceId;
  }

  /** Tells if an instrumentation observes this request already: one may be given to an App and to one mounted in it. */
  isSeenBy(instrumentation: Instrumentation): boolean {
    return (
      this.#watches.some((watch) => watch.instrumentation === instrumentation) ||
      (this.#outer?.isSeenBy(instrumentation) ?? false)
    );
  }

  route(pattern: string, name: string): void {
    for (const watch of this.#watches) watch.route(pattern, name);
    this.#outer?.route(pattern, name);
  }

  /** `true` if an observer needs steps. */
  get hasSteps(): boolean {
    return this.#watches.some((watch) => watch.hasSteps) || (this.#outer?.hasSteps ?? false);
  }

  /** Begins a step. Gives what ends it. */
  step(kind: StepKind, name: string): (error?: unknown) => void {
    const ends = this.#watches.map((watch) => watch.step(kind, name));
    if (this.#outer !== null) ends.push(this.#outer.step(kind, name));
    return ends.length === 1 ? ends[0]! : (error) => ends.forEach((end) => end(error));
  }

  /** Takes the id of the request, for logs. */
  identify(requestId: string): void {
    this.requestId = requestId;
    this.#outer?.identify(requestId);
  }

  /** Takes the id of the trace, for logs. */
  trace(traceId: string): void {
    this.traceId ??= traceId;
    this.#outer?.trace(traceId);
  }

  /** Marks the request as written to an access log, for the access logs around this one. */
  markLogged(): void {
    this.isLogged = true;
    this.#outer?.markLogged();
  }

  /** Takes the error that `end` is called with. The first one is used: it causes the later ones. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#outer?.fail(error);
  }

  /** Runs everything of the request, and ends with it. */
  async run(scope: RequestScope, serve: () => Promise<void>): Promise<void> {
    let unfinished: Promise<unknown> | undefined;
    try {
      let run = serve;
      for (const watch of this.#watches.toReversed()) {
        const inner = run;
        if (watch.hasContext) run = () => watch.run(inner);
      }
      await run();
    } catch (error) {
      if (!(error instanceof ClientDisconnect)) this.#failure ??= { error };
      unfinished = unfinishedWork(scope);
      throw error;
    } finally {
      if (unfinished === undefined) this.#end();
      else void unfinished.then(() => this.#end());
    }
  }

  #end(): void {
    this.isOver = true;
    for (const watch of this.#watches) watch.end(this.#failure?.error);
  }

  /** A `send` that observes what passes. */
  tracking(scope: RequestScope & CalledScope, send: Send): Send {
    const tracked: Send = (message) => {
      switch (message.type) {
        case "http.response.start":
        case "websocket.http.response.start":
          return send({ ...message, headers: this.#respond(scope, message.status, message.headers) });
        case "websocket.accept":
          return send({ ...message, headers: this.#respond(scope, 101, message.headers) });
        case "websocket.close":
          this.#respond(scope, CLOSED_HANDSHAKE, undefined);
          return send(message);
        case "http.response.body":
        case "websocket.http.response.body":
          if (this.#hasResponded) this.bytesSent += sizeOf(message);
          return send(message);
        default:
          return send(message);
      }
    };
    return relaying(tracked, send, (next) => (status, headers, body) => {
      const shown = this.#respond(scope, status, headers);
      if (this.#hasResponded) this.bytesSent += body.length;
      return next.respond(status, shown, body);
    });
  }

  /**
   * Shows the head to the instrumentations, unless the client has disconnected before it. Returns the headers with the
   * additions.
   */
  #respond(
    scope: RequestScope & CalledScope,
    status: number,
    list: Iterable<HeaderPair> | undefined,
  ): Iterable<HeaderPair> {
    if (this.#hasResponded || scope[CALL]?.hasLeft) return list ?? [];
    this.#hasResponded = true;
    const headers = ResponseHeaders[FROM_LIST](list);
    for (const watch of this.#watches) watch.response(status, headers);
    return headers[GET_LIST]();
  }
}

function sizeOf(message: HTTPResponseBodyMessage | WebSocketHTTPResponseBodyMessage): number {
  const { length } = ("ascii" in message ? message.ascii : null) ?? message.body ?? "";
  return length;
}

/**
 * Runs a function as one step.
 *
 * @param errorOf - Gives the error that a result stands for.
 */
export function stepped<Result>(
  observed: Observed,
  kind: StepKind,
  name: string,
  fn: () => Result,
  errorOf: (result: Awaited<Result>) => unknown = () => undefined,
): Result {
  if (!observed.hasSteps) return fn();
  const end = observed.step(kind, name);
  let result: Result;
  try {
    result = fn();
  } catch (error) {
    end(error);
    throw error;
  }
  if (!(result instanceof Promise)) {
    end(errorOf(result as Awaited<Result>));
    return result;
  }
  return result.then(
    (value: Awaited<Result>) => {
      end(errorOf(value));
      return value;
    },
    (error: unknown) => {
      end(error);
      throw error;
    },
  ) as Result;
}

/** Runs background tasks, each as one step. */
export function runTasks(
  tasks: BackgroundTasks | null | undefined,
  observed: Observed | null,
): Promise<void> | undefined {
  return observed === null ? tasks?.run() : tasks?.[RUN_STEPS]((name) => observed.step("background", name));
}

type RequestScope = HTTPScope | WebSocketScope;

/** An application under observation, for scopes that belong to it: the observation is put on them. */
export function observing(
  app: ASGIApp,
  instrumentations: readonly Instrumentation[],
  logger: Logger,
): (scope: RequestScope, receive: Receive, send: Send) => Promise<void> {
  const instruments = instrumentations.map((instrumentation) => new Instrument(instrumentation, logger));
  return (scope, receive, send) => {
    const outer = observedOf(scope);
    const watches: Watch[] = [];
    for (const instrument of instruments) {
      const watch = outer?.isSeenBy(instrument.instrumentation) ? null : instrument.start(scope);
      if (watch !== null) watches.push(watch);
    }
    if (watches.length === 0) return app(scope, receive, send);
    const observed = new Observed(watches, outer);
    const marked: RequestScope & ObservedScope = scope;
    marked[OBSERVED] = observed;
    const tracked = observed.tracking(scope, send);
    // Async, so that an error which the application throws synchronously is a rejection too.
    return observed.run(scope, async () => app(scope, receive, tracked));
  };
}

function ignore(): void {}

/** An instrumentation whose errors reach no request. */
class Instrument {
  readonly instrumentation: Instrumentation;
  readonly #logger: Logger;
  /** The methods of which an error is in the log. */
  readonly #reported = new Set<string>();

  constructor(instrumentation: Instrumentation, logger: Logger) {
    this.instrumentation = instrumentation;
    this.#logger = logger;
  }

  /** The observation of a scope; `null` if it should not be observed. */
  start(scope: HTTPScope | WebSocketScope): Watch | null {
    const observation = this.attempt("start", () => this.instrumentation.start(scope));
    return isObservation(observation) ? new Watch(observation, this) : null;
  }

  /**
   * Calls a method; `undefined` if it fails. The rejection of a method that was written as an async function, which would
   * end the process, is taken too.
   */
  attempt(method: string, call: () => unknown): unknown {
    try {
      const result = call();
      if (result instanceof Promise) result.then(undefined, (error: unknown) => this.#report(method, error));
      return result;
    } catch (error) {
      return this.#report(method, error);
    }
  }

  /** Logs the first error of a method. */
  #report(method: string, error: unknown): undefined {
    if (this.#reported.has(method)) return;
    this.#reported.add(method);
    const message = `${method}() of an instrumentation failed, and is not logged again: ${errorText(error)}`;
    this.#logger.error({ err: error }, message);
  }
}

/** Distinguishes it from undefined, and from the promise of an async `start`. */
function isObservation(value: unknown): value is Observation {
  return typeof value === "object" && value !== null && !(value instanceof Promise);
}

/** An observation whose errors reach no request. */
class Watch {
  readonly #observation: Observation;
  readonly #instrument: Instrument;

  constructor(observation: Observation, instrument: Instrument) {
    this.#observation = observation;
    this.#instrument = instrument;
  }

  get instrumentation(): Instrumentation {
    return this.#instrument.instrumentation;
  }

  get hasContext(): boolean {
    return this.#observation.run !== undefined;
  }

  get hasSteps(): boolean {
    return this.#observation.step !== undefined;
  }

  route(pattern: string, name: string): void {
    this.#instrument.attempt("route", () => this.#observation.route?.(pattern, name));
  }

  step(kind: StepKind, name: string): (error?: unknown) => void {
    const end = this.#instrument.attempt("step", () => this.#observation.step?.(kind, name));
    if (typeof end !== "function") return ignore;
    return (error) => void this.#instrument.attempt("step", () => Reflect.apply(end, undefined, [error]));
  }

  response(status: number, headers: ResponseHeaders): void {
    this.#instrument.attempt("response", () => this.#observation.response?.(status, headers));
  }

  end(error: unknown): void {
    this.#instrument.attempt("end", () => this.#observation.end?.(error));
  }

  /** Serves the request inside `run` once, even if `run` throws before or after it, or does not call it. */
  run(serve: () => Promise<void>): Promise<void> {
    const calls: Promise<void>[] = [];
    const once = () => {
      if (calls.length === 0) calls.push(serve());
      return calls[0] as Promise<void>;
    };
    this.#instrument.attempt("run", () => {
      const result: unknown = this.#observation.run?.(once);
      // The error of the request is not one of the instrumentation.
      return calls.length > 0 && result instanceof Promise ? void markHandled(result) : result;
    });
    return once();
  }
}
