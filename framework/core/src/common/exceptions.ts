/** The errors that an application throws, and those that the framework throws at its author. @module */
import {
  type Catalogue,
  codeOf,
  type ErrorCode,
  type Facts,
  type FactsOf,
  formatMessage,
  type MessageKey,
  messageOf,
} from "./error-codes.js";
import { findCopies, markCopy } from "./copies.js";

/**
 * The phrases that Node's servers write behind each status, for the default `detail` of an error. They are those of the
 * registry of RFC 9110 §16.2.1, except for 413 and 422, which RFC 9110 renamed.
 */
const STATUS_PHRASES: Readonly<Record<number, string>> = {
  200: "OK",
  201: "Created",
  202: "Accepted",
  203: "Non-Authoritative Information",
  204: "No Content",
  205: "Reset Content",
  206: "Partial Content",
  207: "Multi-Status",
  208: "Already Reported",
  226: "IM Used",
  300: "Multiple Choices",
  301: "Moved Permanently",
  302: "Found",
  303: "See Other",
  304: "Not Modified",
  305: "Use Proxy",
  307: "Temporary Redirect",
  308: "Permanent Redirect",
  400: "Bad Request",
  401: "Unauthorized",
  402: "Payment Required",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  406: "Not Acceptable",
  407: "Proxy Authentication Required",
  408: "Request Timeout",
  409: "Conflict",
  410: "Gone",
  411: "Length Required",
  412: "Precondition Failed",
  413: "Payload Too Large",
  414: "URI Too Long",
  415: "Unsupported Media Type",
  416: "Range Not Satisfiable",
  417: "Expectation Failed",
  418: "I'm a Teapot",
  421: "Misdirected Request",
  422: "Unprocessable Entity",
  423: "Locked",
  424: "Failed Dependency",
  425: "Too Early",
  426: "Upgrade Required",
  428: "Precondition Required",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  451: "Unavailable For Legal Reasons",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
  505: "HTTP Version Not Supported",
  506: "Variant Also Negotiates",
  507: "Insufficient Storage",
  508: "Loop Detected",
  510: "Not Extended",
  511: "Network Authentication Required",
};

/** The reason phrase of a status, or `"Unknown Status"`. */
export function statusPhrase(statusCode: number): string {
  return STATUS_PHRASES[statusCode] ?? "Unknown Status";
}

/**
 * Ends the request with a status and `{"detail": …}`. Throw it from a handler or a dependency.
 *
 * @example
 * ```ts
 * import { App, HTTPException } from "tsgi";
 *
 * const app = new App();
 * app.get("/me", async () => {
 *   throw new HTTPException(401, "Could not validate credentials", { headers: { "WWW-Authenticate": "Bearer" } });
 * });
 * ```
 */
export class HTTPException extends Error {
  static {
    markCopy(this);
  }

  override readonly name: string = "HTTPException";
  /** HTTP status code in range [200...599]. */
  readonly statusCode: number;
  /** The member `detail` of the response: text, or any JSON value. */
  readonly detail: unknown;
  /** Headers to add to the response. */
  readonly headers: Readonly<Record<string, string>> | undefined;

  /**
   * @param statusCode - HTTP status code in range [200...599].
   * @param detail - The member `detail` of the response. Defaults to the status's reason phrase.
   * @param options - Headers to add, and the cause, which is never sent, and is logged from 500 on.
   * @throws RangeError when the status is not an integer from 200 to 599.
   */
  constructor(
    statusCode: number,
    detail: unknown = statusPhrase(statusCode),
    options: { headers?: Readonly<Record<string, string>>; cause?: unknown } = {},
  ) {
    super(
      typeof detail === "string" ? detail : statusPhrase(statusCode),
      "cause" in options ? { cause: options.cause } : undefined,
    );
    if (!Number.isInteger(statusCode) || statusCode < 200 || statusCode > 599) {
      throw new RangeError(`HTTPException needs a status code from 200 to 599, not ${String(statusCode)}.`);
    }
    this.statusCode = statusCode;
    this.detail = detail;
    this.headers = options.headers;
  }
}

/** Closes a WebSocket with a code, or is thrown by a call on a WebSocket that is not open. */
export class WebSocketException extends Error {
  static {
    markCopy(this);
  }

  override readonly name: string = "WebSocketException";
  /** RFC 6455 §7.4 close code. */
  readonly code: number;
  /** At most 123 bytes of UTF-8, RFC 6455 §5.5. */
  readonly reason: string;

  constructor(code: number, reason = "") {
    super(reason || `WebSocket closed with code ${code}`);
    this.code = code;
    this.reason = reason;
  }
}

/** RFC 6455 §5.5: a control frame has 125 bytes, two of them the code. */
const MAX_REASON_BYTES = 123;

/**
 * The problem with the code or the reason of a close frame; `null` if they are valid.
 *
 * @see RFC 6455 §7.4: 1004 is reserved; 1005, 1006 and 1015 are never sent; 2999 and below are the RFC's
 */
export function findCloseFault(code: number, reason: string): string | null {
  const isRegistered = code >= 1000 && code <= 1014 && code !== 1004 && code !== 1005 && code !== 1006;
  if (!Number.isInteger(code) || !(isRegistered || (code >= 3000 && code <= 4999))) {
    return `Expected a close code of 1000 to 1003, 1007 to 1014 or 3000 to 4999, not ${code}.`;
  }
  return reason.length * 3 <= MAX_REASON_BYTES || new TextEncoder().encode(reason).length <= MAX_REASON_BYTES
    ? null
    : `Expected a reason of at most ${MAX_REASON_BYTES} bytes.`;
}

/** The error of an application for a scope that it does not serve, which ASGI asks it to refuse. */
export function unknownScope(type: unknown, served: string): TypeError {
  return new TypeError(`Unknown scope type ${JSON.stringify(type)}: expected ${served}.`);
}

/**
 * One validation error of a request: a member of the `detail` list of a 422 response.
 *
 * @example
 *
 * ```ts
 * import { RequestValidationError, type ValidationIssue } from "tsgi";
 *
 * const issue: ValidationIssue = { type: "value_error", loc: ["query", "to"], msg: "`to` is before `from`" };
 * const error = new RequestValidationError([issue]);
 * console.log(error.errors[0]?.msg); // `to` is before `from`
 * ```
 */
export interface ValidationIssue {
  /** One of the documented error types: `missing`, `int_parsing`, `string_type`, … */
  type: string;
  /** Path to the value: `path query header cookie body form file`, then the names and indexes below it. */
  loc: (string | number)[];
  /** One sentence for a person. */
  msg: string;
  /** The received value, where it may be shown: never a password-like field, never more than 200 characters. */
  input?: unknown;
}

/** The older name of {@link ValidationIssue}. */
export type Fault = ValidationIssue;

function toText(faults: readonly Fault[]): string {
  return faults.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; ");
}

/** A request whose parameters do not fit. Results in 422 with all its errors, unless a handler is registered for it. */
export class RequestValidationError extends Error {
  static {
    markCopy(this);
  }

  override readonly name = "RequestValidationError";
  /** Every error of the request, in the order of the parameters. */
  readonly errors: readonly Fault[];

  constructor(errors: readonly Fault[]) {
    super(toText(errors));
    this.errors = errors;
  }
}

/** A handler's result that does not fit the `returns` of its route. Results in 500; the errors are only logged. */
export class ResponseValidationError extends Error {
  override readonly name = "ResponseValidationError";
  readonly errors: readonly Fault[];

  /** @param what - The beginning of the message. */
  constructor(errors: readonly Fault[], what = "The result does not fit `returns`") {
    super(`${what}: ${toText(errors)}`);
    this.errors = errors;
  }
}

/** Frames in the stack of a mistake: the line to fix is called through more frames of the framework than V8's 10. */
const SHOWN_FRAMES = 50;

/** Takes the stack again, with more frames. V8 has no way to ask for them but `Error.stackTraceLimit`. */
function showCaller(error: Error, below: Function): void {
  const { stackTraceLimit } = Error;
  if (typeof Error.captureStackTrace !== "function" || !(stackTraceLimit < SHOWN_FRAMES)) return;
  // With --frozen-intrinsics the limit cannot be set.
  if (!Reflect.set(Error, "stackTraceLimit", SHOWN_FRAMES)) return;
  Error.captureStackTrace(error, below);
  Error.stackTraceLimit = stackTraceLimit;
}

/** Options of a `ConfigurationError`. */
export interface ConfigurationErrorOptions extends ErrorOptions {
  /** The code of the mistake. */
  code?: ErrorCode | (string & {}) | undefined;
}

/** A mistake in the registration of an application. The message has what to write instead. */
export class ConfigurationError extends Error {
  override readonly name: string = "ConfigurationError";
  /**
   * The code of the mistake, such as `"TSGI_DUPLICATE_ROUTE"`: it stays when the message changes. It is a heading on
   * the page of errors in the documentation, and `tsgi explain CODE` prints its section. A class of an application can
   * have its own, or omit it.
   */
  declare readonly code?: ErrorCode | (string & {});

  constructor(message?: string, { code, ...options }: ConfigurationErrorOptions = {}) {
    super(message, options);
    if (code !== undefined) this.code = code;
    showCaller(this, this.constructor);
  }
}

/** Makes an error of the catalogue, with the facts of this case. If a fact is from another copy of tsgi, it makes that error. */
export function configurationError<Key extends MessageKey>(key: Key, ...facts: Facts<Key>): ConfigurationError {
  const [error] = facts.flatMap((fact) => foreignError(fact) ?? []);
  return error ?? new ConfigurationError(messageOf(key, ...facts), { code: codeOf(key) });
}

/** The error for a class or an object of another copy of tsgi; `null` for any other value. */
export function foreignError(value: unknown): ConfigurationError | null {
  const copies = findCopies(value);
  return copies && Object.assign(configurationError("TSGI_TWO_COPIES", ...copies), { cause: value });
}

/** Makes an error of a catalogue, with the facts of this case. */
export type ErrorMaker<C extends Catalogue> = <Key extends keyof C & string>(
  key: Key,
  ...facts: FactsOf<C[Key]>
) => ConfigurationError;

/** Creates the errors of a package with its own catalog. */
export function errorsOf<C extends Catalogue>(catalogue: C): ErrorMaker<C> {
  return (key, ...facts) => new ConfigurationError(formatMessage(catalogue, key, facts), { code: codeOf(key) });
}

/** Makes the handler of an import that fails: it throws the error that says which package to install. */
export function missingPackage(makeError: () => ConfigurationError): (cause: unknown) => never {
  return (cause) => {
    throw Object.assign(makeError(), { cause });
  };
}

/** Calls `work`, and prepends the place to the message of its `ConfigurationError`, unless it is already there. */
export function withPlace<T>(place: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof ConfigurationError && !error.message.startsWith(place)) {
      // If a message begins with the path to a dependency, the place is prepended to that path.
      error.message = `${place}${error.message.startsWith(" → ") ? "" : ": "}${error.message}`;
    }
    throw error;
  }
}

/** Dependencies that depend on each other in a circle. The message has the chain. */
export class RecursionError extends ConfigurationError {
  override readonly name = "RecursionError";
}

/** The client went before its request was complete. Not an error of the application: it is not logged as one. */
export class ClientDisconnect extends Error {
  override readonly name = "ClientDisconnect";

  constructor() {
    super("The client has disconnected");
  }
}

/** The application sent what ASGI or HTTP does not allow. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}
