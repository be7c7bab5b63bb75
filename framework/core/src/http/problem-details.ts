/** Errors as problem details, and translated messages. @module @see RFC 9457 */
import { type Fault, type HTTPException, type RequestValidationError, statusPhrase } from "../common/exceptions.js";
import type { HTTPScope, WebSocketScope } from "../protocol/asgi.js";
import { PROBLEM_TYPE } from "../protocol/error-response.js";
import { headerValue } from "../protocol/header-list.js";
import type { HeadersInit } from "./response/headers.js";
import { JSONResponse } from "./response/kinds.js";
import { parseWeighted } from "../protocol/http-grammar.js";
import { sentPath } from "../protocol/scope.js";

/**
 * Returns the text of a validation error in the language of the client, or `undefined` for the original one.
 *
 * @param issue - The entry of the 422: `type`, `loc`, `msg` and `input`.
 * @param languages - The tags of `Accept-Language`, the preferred one first, without those that the client rejects.
 */
export type Translate = (issue: Fault, languages: readonly string[]) => string | undefined;

/** The format of the errors of an App. */
export interface ErrorFormat {
  /** `true` sends every error as `application/problem+json`. */
  readonly problemDetails: boolean;
  readonly translate: Translate | null;
}

/** The key under which an App marks the scopes of its requests, if its errors have a custom format. */
export const ERROR_FORMAT: unique symbol = Symbol("tsgi.error-format");

type AnyScope = HTTPScope | WebSocketScope;

/** A scope that may be marked. */
export interface FormattedScope {
  [ERROR_FORMAT]?: ErrorFormat | undefined;
}

/** The part of a request or WebSocket that an error response uses. */
export interface ErrorSource {
  readonly scope: AnyScope & FormattedScope;
}

/** Members of a problem that an error can set. Any other name is an extension member (RFC 9457 §3.2). */
interface Given {
  readonly type?: unknown;
  readonly title?: unknown;
  readonly detail?: unknown;
}

/** The members that an `HTTPException` sets: its text, or an object of several. */
function membersOf(detail: unknown): Given & Record<string, unknown> {
  if (typeof detail === "string") return { detail };
  if (Array.isArray(detail)) return { errors: detail };
  return typeof detail === "object" && detail !== null ? { ...detail } : { detail: String(detail) };
}

/** A JSON Pointer in its plain form. @see RFC 6901 §3 */
function pointerOf(names: Fault["loc"]): string {
  return names.map((name) => `/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** The place of a validation error: a pointer into the JSON body, or the name of a parameter or form field. */
function placeOf([source, ...names]: Fault["loc"]): { pointer?: string; parameter?: string } {
  if (source === "body") return { pointer: pointerOf(names) };
  return names.length === 0 ? {} : { parameter: String(names[0]) };
}

/** The response to an `HTTPException` if the scope is marked; `null` for the default one. */
export function problemOfException(error: HTTPException, source: ErrorSource | undefined): JSONResponse | null {
  return problemOfStatus(source, error.statusCode, membersOf(error.detail), error.headers);
}

/**
 * The response to any other status and text; `null` for the default one. `status` and `instance` are facts, and not the
 * error's to set.
 */
export function problemOfStatus(
  source: ErrorSource | undefined,
  statusCode: number,
  given: Given & Record<string, unknown>,
  headers?: HeadersInit,
): JSONResponse | null {
  if (!source?.scope[ERROR_FORMAT]?.problemDetails) return null;
  const { type = "about:blank", title = statusPhrase(statusCode), detail, status: _, instance: __, ...members } = given;
  const content = { type, title, status: statusCode, detail, instance: sentPath(source.scope), ...members };
  return new JSONResponse(content, { statusCode, headers, mediaType: PROBLEM_TYPE });
}

/** The response to an invalid request if the scope is marked; `null` for the default one. */
export function formattedInvalid(
  { errors }: RequestValidationError,
  source: ErrorSource | undefined,
): JSONResponse | null {
  const format = source?.scope[ERROR_FORMAT];
  if (source === undefined || format === undefined) return null;
  const { translate } = format;
  const translated = translate === null ? errors : translateAll(errors, source, translate);
  const problem = problemOfStatus(source, 422, {
    detail: "The request is invalid",
    errors: translated.map(({ type, loc, msg }) => ({ detail: msg, ...placeOf(loc), code: type })),
  });
  const response = problem ?? new JSONResponse({ detail: translated }, { statusCode: 422 });
  if (translate !== null) response.headers.append("vary", "Accept-Language");
  return response;
}

function translateAll(errors: readonly Fault[], { scope }: ErrorSource, translate: Translate): readonly Fault[] {
  const languages = acceptedLanguages(headerValue(scope.headers ?? [], "accept-language"));
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
