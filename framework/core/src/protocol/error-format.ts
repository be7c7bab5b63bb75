/** The format of the error responses of an application, and of the server that serves it. @module */
import { type Fault, statusPhrase } from "../common/exceptions.js";
import { consoleLogger, type Logger } from "../common/logger.js";
import { markHandled } from "../common/promises.js";
import type { HTTPScope, WebSocketScope } from "./asgi.js";

/** The facts about one error response, for {@link BodyFormat.write}. */
export interface ErrorFacts {
  /** HTTP status code in range [400...599]. */
  readonly status: number;
  /** The phrase of the status, such as `"Not Found"`. */
  readonly title: string;
  /** The text of the error, or the `detail` of an `HTTPException` if that is not text. */
  readonly detail: unknown;
  /** The validation errors of the request, translated if the App translates them; `null` for any other error. */
  readonly issues: readonly Fault[] | null;
  /** The value that was thrown; `null` if a middleware or the server rejects the request. */
  readonly error: unknown;
  /** The scope of the request; `null` if the server responds without the application. */
  readonly scope: HTTPScope | WebSocketScope | null;
  /** The lines of the stack of an unexpected error, with the option `debug`. */
  readonly debug?: readonly string[];
}

/** The facts that differ from one error to the next. The detail is the phrase of the status by default. */
export type GivenFacts = Pick<ErrorFacts, "status"> & Partial<Omit<ErrorFacts, "title">>;

/** A way to write the bodies of errors. */
export interface BodyFormat {
  /** The `Content-Type` of the bodies. */
  readonly mediaType: string;
  /** Returns the body, a value that JSON can write. Synchronous: the server has no time to wait. */
  readonly write: (facts: ErrorFacts) => unknown;
}

/** A body that was written. */
export interface WrittenError {
  readonly text: string;
  readonly mediaType: string;
}

/**
 * Returns the text of a validation error in the language of the client, or `undefined` for the original one.
 *
 * @param issue - The entry of the 422: `type`, `loc`, `msg` and `input`.
 * @param languages - The tags of `Accept-Language`, the preferred one first, without those that the client rejects.
 */
export type Translate = (issue: Fault, languages: readonly string[]) => string | undefined;

/**
 * The key of the error writer of an App: on the App itself and in the state of its lifespan, where its server finds it,
 * also through middleware that is a plain function; and in each scope that the App has taken, where its middleware and
 * handlers find it. Registered, so that any server can read it.
 */
export const ERROR_WRITER: unique symbol = Symbol.for("tsgi.error-writer");

/** An object that may have an error writer. */
export interface WithErrorWriter {
  readonly [ERROR_WRITER]?: ErrorWriter | undefined;
}

/** The status of a request with invalid parameters. */
const VALIDATION_STATUS = 422;

/** `{"detail": …}` */
const DETAIL_FORMAT: BodyFormat = {
  mediaType: "application/json",
  write: ({ detail, issues, debug }) => ({ detail: issues ?? detail, debug }),
};

/** The settings of an {@link ErrorWriter}. */
export interface ErrorWriterSettings {
  readonly format?: BodyFormat | undefined;
  readonly validationStatus?: number | undefined;
  readonly translate?: Translate | undefined;
  readonly logger?: Logger;
}

/** Writes the bodies of the errors of one App. */
export class ErrorWriter {
  /** The status of a request with invalid parameters. */
  readonly validationStatus: number;
  readonly translate: Translate | undefined;
  readonly #format: BodyFormat;
  readonly #logger: Logger;

  constructor({ format = DETAIL_FORMAT, validationStatus, translate, logger = consoleLogger }: ErrorWriterSettings) {
    this.#format = format;
    this.validationStatus = validationStatus ?? VALIDATION_STATUS;
    this.translate = translate;
    this.#logger = logger;
  }

  /**
   * Writes a body. If the format fails, it is the default body.
   *
   * @throws TypeError if JSON cannot write the detail of the error.
   */
  write(facts: GivenFacts): WrittenError {
    const title = statusPhrase(facts.status);
    const whole = { title, detail: title, issues: null, error: null, scope: null, ...facts };
    if (this.#format !== DETAIL_FORMAT) {
      try {
        return writtenBy(this.#format, whole);
      } catch (err) {
        this.#logger.error({ err }, `errorFormat() failed to write a ${facts.status}: it is sent as usual`);
      }
    }
    return writtenBy(DETAIL_FORMAT, whole);
  }
}

/** @throws TypeError if the result is not JSON. */
function writtenBy({ mediaType, write }: BodyFormat, facts: ErrorFacts): WrittenError {
  const body = write(facts);
  const text = body instanceof Promise ? void markHandled(body) : (JSON.stringify(body) as string | undefined);
  if (text === undefined) throw new TypeError("The result is not JSON");
  return { mediaType, text };
}

/** The writer of an App without options. */
export const DEFAULT_WRITER = new ErrorWriter({});
