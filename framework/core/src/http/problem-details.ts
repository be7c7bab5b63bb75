/** Errors as problem details. @module @see RFC 9457 */
import type { Fault } from "../common/exceptions.js";
import type { BodyFormat } from "../protocol/error-format.js";
import { sentPath } from "../protocol/scope.js";

/** The members that an `HTTPException` sets: its text, or an object of several. */
function membersOf(detail: unknown): Record<string, unknown> {
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

/**
 * The format of an App with the option `problemDetails`. An error can set any member except `status` and `instance`,
 * which are facts. Names that are not in the RFC are extension members (§3.2).
 */
export const PROBLEM_FORMAT: BodyFormat = {
  mediaType: "application/problem+json", // §6.1
  write: ({ status, title, detail, issues, scope, debug }) => {
    const { status: _, instance: __, ...given } = membersOf(detail);
    const { type = "about:blank", title: ownTitle = title, detail: text, ...members } = given;
    const instance = scope ? sentPath(scope) : undefined;
    const errors = issues?.map(({ type: code, loc, msg }) => ({ detail: msg, ...placeOf(loc), code }));
    return { type, title: ownTitle, status, detail: text, instance, errors, ...members, debug };
  },
};
