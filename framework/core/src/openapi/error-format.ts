/** `errorFormat()`: the format of an application's errors, for `new App({ errorFormat })`. @module */
import { assertOptions, expecting, FUNCTION, isObject, type OptionRules, whole } from "../common/options.js";
import type { BodyFormat, ErrorFacts } from "../protocol/error-format.js";
import { isFieldValue } from "../protocol/http-grammar.js";
import { isSchema, type Readable, type Schema, type SchemaInput } from "../schema/schema.js";

/** The options of {@link errorFormat}. */
export interface ErrorFormatOptions<S extends Schema = Schema, Body = Readable<SchemaInput<S>>> {
  /** The body of an error in the OpenAPI document and in typed clients. Its title is the name in the document. */
  readonly schema: S;
  /**
   * Returns the body of one error. It is called for every error, so it must not throw: if it does, or returns a promise
   * or a value that JSON cannot write, the body is the default one, and the log has the reason. The result is checked
   * against `schema` by its type only.
   */
  readonly write: (facts: ErrorFacts) => Body;
  /** The `Content-Type` of errors. Defaults to `application/json`. */
  readonly mediaType?: string;
  /** The status of a request with invalid parameters, from 400 to 499. Defaults to 422. */
  readonly validationStatus?: number;
}

/** The key of a format, by which an App knows one. */
const FORMAT: unique symbol = Symbol.for("tsgi.error-format");

/** A format that {@link errorFormat} has made. */
export interface ErrorFormat<S extends Schema = Schema> extends BodyFormat {
  readonly schema: S;
  /** The status of a request with invalid parameters; absent for 422. */
  readonly validationStatus?: number;
  readonly [FORMAT]: true;
}

/** Tells if a value is a format. */
export const isErrorFormat = (value: unknown): boolean => isObject(value) && FORMAT in value;

/** The rule of the option `validationStatus`. */
export const VALIDATION_STATUS = whole(400, 499);

/**
 * Makes a format for every error response of an App: to exceptions, validation errors, rejections of middleware, and
 * requests that the server itself rejects.
 *
 * @throws ConfigurationError for an unknown option, a missing one, or a value that cannot work.
 * @example
 * ```ts
 * import { App, errorFormat, t } from "tsgi";
 *
 * const errors = errorFormat({
 *   schema: t.Object({ code: t.Integer(), message: t.String() }, { title: "ErrorResponse" }),
 *   validationStatus: 400,
 *   write: ({ status, title, detail }) => ({ code: status, message: typeof detail === "string" ? detail : title }),
 * });
 * const app = new App({ errorFormat: errors });
 * ```
 */
export function errorFormat<S extends Schema, const Body extends Readable<SchemaInput<S>>>(
  options: ErrorFormatOptions<S, Body>,
): ErrorFormat<S> {
  const rules: OptionRules<ErrorFormatOptions> = {
    schema: expecting("a schema", isSchema),
    write: FUNCTION,
    mediaType: expecting(
      "a media type",
      (value) => typeof value === "string" && /^[^/\s]+\/\S/.test(value) && isFieldValue(value),
    ),
    validationStatus: VALIDATION_STATUS,
  };
  assertOptions("errorFormat()", options, rules);
  for (const option of ["schema", "write"] as const) rules[option]("errorFormat()", option, options[option]);
  const { mediaType = "application/json", ...others } = options;
  return Object.freeze({ ...others, mediaType, [FORMAT]: true as const });
}
