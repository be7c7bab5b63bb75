/** The head of a request, checked in the same way for all drivers on Node. @module */
import { isAuthority } from "../../protocol/http-grammar.js";
import { ErrorResponse } from "../../protocol/error-response.js";
import { type HeaderSection, parseHeaderSection, type RequestLimits } from "./header-section.js";

/** A head that may reach the application. */
export interface RequestHead {
  readonly method: string;
  /** Path and query, in origin form, or `"*"`. */
  readonly target: string;
  /** The minor version of HTTP/1: 0 or 1. */
  readonly minorVersion: number;
  readonly section: HeaderSection;
}

/** Visible US-ASCII without `#`: RFC 9112 §3.2, and RFC 9110 §7.1 for the fragment. */
export const NOT_IN_TARGET = /[^!"$-~]/;
const BROKEN_ESCAPE = /%(?![0-9A-Fa-f]{2})/;
const ABSOLUTE_FORM = /^https?:\/\/([^/?]*)(.*)$/i;
const SLASH = 0x2f;

const errors = {
  target: new ErrorResponse(400, "The request target is malformed."),
  targetBytes: new ErrorResponse(414),
};

/**
 * Checks a head whose lines are well formed.
 *
 * @param headers - `[name, value, …]` as received.
 * @returns The head, or why it is refused.
 */
export function createHead(
  method: string,
  target: string,
  minorVersion: number,
  headers: readonly string[],
  limits: RequestLimits,
): RequestHead | ErrorResponse {
  const section = parseHeaderSection(headers, minorVersion, limits);
  if (section instanceof ErrorResponse) return section;
  if (target.charCodeAt(0) !== SLASH && !(target === "*" && method === "OPTIONS")) {
    return fromAbsoluteForm({ method, target, minorVersion, section });
  }
  return hasBrokenEscape(target) ? errors.target : { method, target, minorVersion, section };
}

/** The absolute form is brought into origin form. Its authority is used instead of `Host`: RFC 9112 §3.2.2. */
function fromAbsoluteForm(head: RequestHead): RequestHead | ErrorResponse {
  const { section } = head;
  const [, authority, rest] = ABSOLUTE_FORM.exec(head.target) ?? [];
  if (authority === undefined || rest === undefined || !isAuthority(authority)) return errors.target;
  const headers = ["host", authority];
  for (let index = 0; index < section.headers.length; index += 2) {
    const name = section.headers[index] ?? "";
    if (name.toLowerCase() !== "host") headers.push(name, section.headers[index + 1] ?? "");
  }
  const target = rest.startsWith("/") ? rest : `/${rest}`;
  return hasBrokenEscape(target) ? errors.target : { ...head, target, section: { ...section, headers } };
}

/** Tells if the path of a target has a `%` without a valid escape. */
export function hasBrokenEscape(target: string): boolean {
  if (!target.includes("%")) return false;
  const mark = target.indexOf("?");
  return BROKEN_ESCAPE.test(mark === -1 ? target : target.slice(0, mark));
}

/** Checks the characters and the length of a target that no parser has looked at. Returns why it is refused, or `null`. */
export function checkTarget(target: string, limits: RequestLimits): ErrorResponse | null {
  if (target.length > limits.targetBytes) return errors.targetBytes;
  return NOT_IN_TARGET.test(target) ? errors.target : null;
}
