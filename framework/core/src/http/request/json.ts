/** JSON bodies: media types, and a parser with limits. @module */
import { decodeUTF8 } from "../../protocol/header-list.js";
import { parseMediaType } from "../../protocol/http-grammar.js";

/** A JSON text that does not parse, is nested too deeply, or is not UTF-8. */
export class JSONError extends Error {
  override readonly name = "JSONError";
}

/** The media type of JSON, RFC 8259 §11. */
export const JSON_TYPE = "application/json";

/** Tells a `Content-Type` of JSON: `application/json`, or one with the suffix of RFC 6839 §3.1. */
export function isJSON(contentType: string | undefined): boolean {
  const type = parseMediaType(contentType);
  return type === JSON_TYPE || (type.startsWith("application/") && type.endsWith("+json"));
}

/** Anything that could spell the key `__proto__`, plainly or through an escape. */
const PROTO = /__proto__|\\u00(?:5[fF]|[67][0-9a-fA-F])/;

const QUOTE = 34;
const BACKSLASH = 92;

/** Tells if a text opens more brackets than `limit`. Most do not, and need not be read character by character. */
function opensMore(text: string, limit: number): boolean {
  let count = 0;
  for (const bracket of ["{", "["]) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) if (++count > limit) return true;
  }
  return false;
}

/** Tells if brackets are nested deeper than `limit`, in one pass over the text, before anything is built from it. */
function isDeeper(text: string, limit: number): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) {
      for (index++; index < text.length && text.charCodeAt(index) !== QUOTE; index++) {
        if (text.charCodeAt(index) === BACKSLASH) index++;
      }
    } else if (code === 91 || code === 123) {
      if (++depth > limit) return true;
    } else if (code === 93 || code === 125) depth--;
  }
  return false;
}

/** Removes the own keys `__proto__`: a later spread or assignment would take one for the object's prototype. */
function dropProto(value: unknown): void {
  const waiting = [value];
  // No recursion: `jsonDepth` can be raised beyond the size of the stack.
  for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
    if (typeof item !== "object" || item === null) continue;
    if (Object.hasOwn(item, "__proto__")) delete (item as Record<string, unknown>)["__proto__"];
    for (const inner of Object.values(item)) if (typeof inner === "object" && inner !== null) waiting.push(inner);
  }
}

/**
 * Parses JSON strictly: valid UTF-8 (RFC 8259 §8.1), at most `maxDepth` levels, keys `__proto__` dropped.
 *
 * @throws JSONError with a message for the client.
 */
export function parseJSON(bytes: Uint8Array, maxDepth: number): unknown {
  const text = decodeUTF8(bytes);
  if (text === null) throw new JSONError("JSON should be valid UTF-8");
  // A text of depth d has at least 2d characters.
  if (text.length > maxDepth * 2 && opensMore(text, maxDepth) && isDeeper(text, maxDepth))
    throw new JSONError(`JSON should be nested at most ${maxDepth} levels deep`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new JSONError(`JSON decode error${positionOf(error)}`, { cause: error });
  }
  if (PROTO.test(text)) dropProto(value);
  return value;
}

/** The position in the message of V8, without the piece of the text that it repeats. */
function positionOf(error: unknown): string {
  const match = /at position (\d+)/.exec(String(error));
  return match ? ` at character ${match[1]}` : "";
}
