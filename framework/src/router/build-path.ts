/** The way back: from a pattern and values to a path for a URL. @module */
import { ConfigurationError } from "../exceptions.js";
import { decodeSegment } from "./path.js";
import { isWellFormed, parsePattern } from "./pattern.js";
import type { SegmentOptions } from "./pattern.js";

/** A value that can stand in a path. */
export type PathValue = string | number | bigint | boolean;

/** RFC 3986 §3.3: what `encodeURIComponent` escapes although a segment may have it as it is. */
const ALLOWED_IN_SEGMENT = /%(?:3A|40|24|26|2B|2C|3B|3D)/g;

/**
 * Builds the path that a pattern and its values stand for, percent-encoded: each value becomes one segment, a `/` in
 * it `%2F`. Of `"/users/{id}/files/{name}"` and `{ id: 7, name: "a/b c" }` it makes `"/users/7/files/a%2Fb%20c"`.
 *
 * @param pattern - A route's whole pattern.
 * @param params - A value for each name of the pattern, and nothing else.
 * @throws ConfigurationError when a name is missing or unknown, or a value is empty, no text or number, not
 *   well-formed Unicode, or `.` or `..`, which clients take out of a path whatever their spelling (RFC 3986 §5.2.4).
 */
export function buildPath(
  pattern: string,
  params: Readonly<Record<string, PathValue>> = {},
  options: SegmentOptions = {},
): string {
  const unused = new Set(Object.keys(params));
  const segments = parsePattern(pattern, "urlPathFor", options).map(({ text, isParam }) => {
    if (!isParam) {
      return encodeURIComponent(decodeSegment(text)).replace(ALLOWED_IN_SEGMENT, decodeURIComponent);
    }
    unused.delete(text);
    return encodeValue(text, Object.hasOwn(params, text) ? params[text] : undefined, pattern);
  });
  for (const name of unused) {
    throw new ConfigurationError(
      `urlPathFor ${pattern}: the pattern has no parameter ${JSON.stringify(name)}. ` +
        "Leave it out, or add it to the query string.",
      { code: "TSGI_UNKNOWN_URL_PARAMETER" },
    );
  }
  return `/${segments.join("/")}`;
}

function encodeValue(name: string, value: PathValue | undefined, pattern: string): string {
  const where = `urlPathFor ${pattern}: the parameter ${JSON.stringify(name)}`;
  if (value === undefined || value === null) {
    throw new ConfigurationError(`${where} is missing. Pass a value for each name of the pattern.`, {
      code: "TSGI_MISSING_URL_PARAMETER",
    });
  }
  if (
    typeof value !== "string" &&
    typeof value !== "number" &&
    typeof value !== "bigint" &&
    typeof value !== "boolean"
  ) {
    throw new ConfigurationError(`${where} needs text, a number or a boolean, not ${typeof value}.`, {
      code: "TSGI_INVALID_URL_PARAMETER",
    });
  }
  const text = String(value);
  if (text === "") {
    throw new ConfigurationError(
      `${where} is empty, and a path parameter never is. ` +
        "Give it a character at least, or leave the segment to another route.",
      { code: "TSGI_INVALID_URL_PARAMETER" },
    );
  }
  if (text === "." || text === "..") {
    throw new ConfigurationError(
      `${where} is ${JSON.stringify(text)}, which a client takes out of the path. Send it in the query string.`,
      { code: "TSGI_INVALID_URL_PARAMETER" },
    );
  }
  if (!isWellFormed(text)) {
    throw new ConfigurationError(`${where} has a lone surrogate, which has no UTF-8 form. Write whole characters.`, {
      code: "TSGI_INVALID_URL_PARAMETER",
    });
  }
  return encodeURIComponent(text);
}
