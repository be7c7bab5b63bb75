/** Error responses in the format of an application, and translated validation errors. @module */
import type { Fault, RequestValidationError } from "../common/exceptions.js";
import type { HTTPScope, WebSocketScope } from "../protocol/asgi.js";
import {
  DEFAULT_WRITER,
  ERROR_WRITER,
  type ErrorWriter,
  type GivenFacts,
  type Translate,
  type WithErrorWriter,
  type WrittenError,
} from "../protocol/error-format.js";
import { headerValue } from "../protocol/header-list.js";
import { parseWeighted } from "../protocol/http-grammar.js";
import type { HeadersInit } from "./response/headers.js";
import { Response, withCharset } from "./response/response.js";

/** The part of a request or WebSocket that an error response uses. */
export interface ErrorSource {
  readonly scope: (HTTPScope | WebSocketScope) & WithErrorWriter;
}

/** The writer of the App that has taken a request. */
export function errorWriterOf(source: ErrorSource | undefined): ErrorWriter {
  return source?.scope[ERROR_WRITER] ?? DEFAULT_WRITER;
}

/** The body of an error in the format of the App that has taken the request. */
export function writeError(source: ErrorSource | undefined, facts: GivenFacts): WrittenError {
  return errorWriterOf(source).write({ ...facts, scope: source?.scope ?? null });
}

/**
 * An error response in the format of the App that has taken the request.
 *
 * @param headers - `Content-Type` and `Content-Length` are replaced by the headers of the body.
 * @throws TypeError if JSON cannot write the detail, or a header is not allowed in HTTP.
 */
export function errorResponse(source: ErrorSource | undefined, facts: GivenFacts, headers?: HeadersInit): Response {
  const { text, mediaType } = writeError(source, facts);
  return describingBody(new Response(text, { statusCode: facts.status, headers }), mediaType);
}

/**
 * Replaces the headers of an error about its body. Attack: with the length of another body, a client takes the rest of this
 * one for the next response (RFC 9112 §6.3).
 */
export function describingBody(response: Response, mediaType: string): Response {
  response.headers.delete("content-length");
  response.headers.set("content-type", withCharset(mediaType));
  return response;
}

/** The response to an invalid request. */
export function invalidResponse(error: RequestValidationError, source: ErrorSource | undefined): Response {
  const { validationStatus: status, translate } = errorWriterOf(source);
  const issues = translate ? translated(error.errors, source?.scope.headers, translate) : error.errors;
  const response = errorResponse(source, { status, detail: "The request is invalid", issues, error });
  if (translate) response.headers.append("vary", "Accept-Language");
  return response;
}

function translated(
  errors: readonly Fault[],
  headers: HTTPScope["headers"] = [],
  translate: Translate,
): readonly Fault[] {
  const languages = acceptedLanguages(headerValue(headers, "accept-language"));
  return errors.map((issue) => ({ ...issue, msg: translate(issue, languages) ?? issue.msg }));
}

/** RFC 4647 §2.1 `language-range`, without `*`. */
const TAG = /^[a-z]{1,8}(?:-[a-z\d]{1,8})*$/i;

/** More tags than these are ignored: the list is passed on for every validation error. */
const MAX_LANGUAGES = 20;

/**
 * The language tags of a header, the preferred one first. Tags of the same weight keep their order. `*`, tags with the
 * weight 0, and malformed parts are left out.
 */
function acceptedLanguages(header: string | undefined): readonly string[] {
  return parseWeighted(header ?? "")
    .filter(([tag, weight]) => TAG.test(tag) && weight > 0)
    .slice(0, MAX_LANGUAGES)
    .toSorted(([, left], [, right]) => right - left)
    .map(([tag]) => tag);
}
