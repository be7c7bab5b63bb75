import { decodeLatin1, decodeUTF8, FormData } from "../datastructures.js";
import { HTTPException } from "../exceptions.js";

/**
 * The names and values of a query string or a form. `URLSearchParams` would take a question mark at the beginning for
 * one that introduces a query, though here it is part of the first name.
 */
export function parsePairs(text: string): URLSearchParams {
  return new URLSearchParams(text.startsWith("?") ? `&${text}` : text);
}

/**
 * Parses `application/x-www-form-urlencoded` (WHATWG URL §5.1).
 *
 * @throws HTTPException 413 when there are more than `maxParts` fields.
 */
export function parseURLEncoded(bytes: Uint8Array, maxParts: number): FormData {
  const text = decodeUTF8(bytes) ?? decodeLatin1(bytes);
  let parts = 1;
  for (let index = text.indexOf("&"); index >= 0; index = text.indexOf("&", index + 1)) {
    if (++parts > maxParts) throw new HTTPException(413, `The form has more than ${maxParts} parts`);
  }
  return new FormData(parsePairs(text));
}
