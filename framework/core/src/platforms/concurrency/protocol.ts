/** The messages between a pool and its workers, and the context that goes with a call. @module */
import { HTTPException } from "../../common/exceptions.js";
import { containedErrors, errorText } from "../../common/logger.js";
import { LoopError } from "./errors.js";

/** A context in a form that travels, such as the headers of W3C Trace Context. */
export type CarriedContext = Readonly<Record<string, string>>;

/** Takes the current context along, and makes it current elsewhere. */
export interface ContextCarrier {
  /** The current context, or `undefined`. */
  inject(): CarriedContext | undefined;
  /** Calls a function in a context that was carried here. */
  run<Result>(context: CarriedContext, fn: () => Result): Result;
}

/** A property of the global object, so that two copies of this package meet: one of the worker, one of a bundle. */
const CARRIER: unique symbol = Symbol.for("tsgi.contextCarrier");

const globals: typeof globalThis & { [CARRIER]?: ContextCarrier } = globalThis;

/** Lets calls into workers take their context along. A worker has to set one as well. */
export function setContextCarrier(carrier: ContextCarrier): void {
  globals[CARRIER] = carrier;
}

/** The context for a call that is about to go to a worker. */
export function carriedContext(): CarriedContext | undefined {
  return globals[CARRIER]?.inject();
}

/** Calls a function in the context that arrived with its call. */
export function runInContext<Result>(context: CarriedContext | undefined, fn: () => Result): Result {
  const carrier = globals[CARRIER];
  return carrier === undefined || context === undefined ? fn() : carrier.run(context, fn);
}

/** The module of an application, which a worker imports. */
export interface EntryModule {
  /** An absolute URL. */
  readonly url: string;
  /** `false` for the program's main module, a guess: its App may be made after the import has ended. */
  readonly isNamed: boolean;
  /** The program's own main module, which programs compare themselves with. */
  readonly main: string | null;
}

/** The function to call: a module's export, or a route's handler. */
export type TaskTarget =
  | { readonly type: "export"; readonly module: string; readonly name: string }
  | { readonly type: "route"; readonly route: string };

/** A message to a worker. */
export type Order =
  | { readonly type: "start"; readonly entry: EntryModule | null }
  | { readonly type: "use"; readonly app: number }
  | RunOrder;

/** Calls a function. */
export interface RunOrder {
  readonly type: "run";
  readonly id: number;
  readonly target: TaskTarget;
  readonly args: readonly unknown[];
  /** The context of the caller. */
  readonly context: CarriedContext | undefined;
}

/** The routes of one App in a worker. */
export interface RouteTable {
  readonly title: string;
  readonly routes: readonly string[];
}

/** A message of a worker. */
export type Report =
  | { readonly type: "ready" }
  /** The Apps so far. With `isFinal` no other will come. */
  | { readonly type: "tables"; readonly tables: readonly RouteTable[]; readonly isFinal: boolean }
  | { readonly type: "failed"; readonly error: SentError }
  /** The task is here, and is called as soon as this is on its way: it must not be given to another from now on. */
  | { readonly type: "begun"; readonly id: number }
  | { readonly type: "done"; readonly id: number; readonly value: unknown; readonly elapsedMs: number }
  | { readonly type: "thrown"; readonly id: number; readonly error: SentError; readonly elapsedMs: number };

/** A wrapped report, so that a message of the application is never mistaken for one. */
export interface Envelope {
  readonly tsgiReport: Report;
}

/** Events of a started worker, as its pool hears them. */
export interface WorkerEvents {
  report(report: Report): void;
  /** It has ended, and everything that it sent has been reported. Called once. */
  gone(how: string): void;
}

/** A started worker, as its pool holds it: a process or a thread. */
export interface WorkerHandle {
  /** @throws when the order cannot be cloned. */
  send(order: Order): void;
  /** Terminates it immediately, even if it is busy. */
  kill(): void;
  /** Asks it to end, and kills it if it does not. `gone` is called when it has. */
  stop(): void;
}

/** Starts a worker, which does not keep this process alive. */
export type Spawn = (events: WorkerEvents) => WorkerHandle;

/** Hands on the report in a message of a worker; other messages are the application's own. */
export function deliver(message: unknown, events: WorkerEvents): void {
  const report = (message as { tsgiReport?: Report | null } | null | undefined)?.tsgiReport;
  if (report) events.report(report);
}

/** An error on its way between two loops. */
export interface SentError {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
  readonly cause?: SentError;
  /** The errors that an `AggregateError` contains. */
  readonly errors?: readonly SentError[];
  /** Further fields of an `HTTPException`. */
  readonly http?: { statusCode: number; detail: unknown; headers: Readonly<Record<string, string>> | undefined };
}

/** Causes behind an error that are sent with it. */
const MAX_CAUSES = 4;

/** Errors in an error that are sent with it. */
const MAX_CONTAINED = 4;

/** An error, or any other thrown value, in a form that can be sent. */
export function toSentError(thrown: unknown, depth = 0): SentError {
  try {
    if (!(thrown instanceof Error)) return { name: "Error", message: `Thrown: ${errorText(thrown)}`, stack: "" };
    // Of any type if the application has assigned another value.
    const { name, message, stack = "" }: Partial<Record<keyof Error, unknown>> = thrown;
    return {
      name: String(name),
      message: String(message),
      stack: String(stack),
      ...(depth >= MAX_CAUSES ? {} : linkedErrors(thrown, depth + 1)),
      ...(thrown instanceof HTTPException
        ? { http: { statusCode: thrown.statusCode, detail: thrown.detail, headers: thrown.headers } }
        : {}),
    };
  } catch {
    return { name: "Error", message: "An error that cannot be read was thrown.", stack: "" };
  }
}

function linkedErrors(thrown: Error, depth: number): Pick<SentError, "cause" | "errors"> {
  const { cause } = thrown;
  const errors = containedErrors(thrown).slice(0, MAX_CONTAINED);
  return {
    ...(cause === undefined ? {} : { cause: toSentError(cause, depth) }),
    ...(errors.length === 0 ? {} : { errors: errors.map((error) => toSentError(error, depth)) }),
  };
}

/** The error that was sent: an `HTTPException` or a `LoopError` as such, any other as an `Error` or `AggregateError` of its name. */
export function fromSentError(sent: SentError): Error {
  const cause = sent.cause === undefined ? undefined : fromSentError(sent.cause);
  const error = create(sent, cause);
  if (sent.stack !== "") error.stack = sent.stack;
  return error;
}

/** The error as it arrives from a worker: without its class, and without its additional properties. */
export function copyError(thrown: unknown): Error {
  return fromSentError(structuredClone(toSentError(thrown)));
}

function createPlain(message: string, errors: readonly SentError[] | undefined, cause: Error | undefined): Error {
  if (errors === undefined) return new Error(message, { cause });
  return new AggregateError(errors.map(fromSentError), message, { cause });
}

function create({ name, message, http, errors }: SentError, cause: Error | undefined): Error {
  if (http) return new HTTPException(http.statusCode, http.detail, { headers: http.headers, cause });
  const error = name === "LoopError" ? new LoopError("") : createPlain(message, errors, cause);
  Object.defineProperty(error, "name", { value: name, configurable: true, writable: true });
  error.message = message;
  return error;
}
