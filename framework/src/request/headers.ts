import type { HeaderPair } from "../asgi.js";
import { decodeLatin1, HeaderList, rawHeaders } from "../datastructures.js";
import { parseMediaType } from "../http-grammar.js";

/** Separator of the values of a repeated header: RFC 9110 §5.3; for cookies RFC 6265 §5.4. */
const separatorOf = (name: string) => (name === "cookie" ? "; " : ", ");

/** All headers as a record without prototype: lower-case names, latin-1 values, repeated ones joined. */
export function parseHeaders(headers: Iterable<HeaderPair> | undefined): Record<string, string> {
  const record: Record<string, string> = Object.create(null) as Record<string, string>;
  const raw = rawHeaders(headers);
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] as string).toLowerCase();
    const value = raw[index + 1] as string;
    const known = record[name];
    record[name] = known === undefined ? value : known + separatorOf(name) + value;
  }
  return record;
}

/** Tells if the bytes spell the lower-case ASCII name, in any case. */
function spells(bytes: Uint8Array, name: string): boolean {
  if (bytes.length !== name.length) return false;
  for (let index = 0; index < name.length; index++) {
    const byte = bytes[index] as number;
    const code = name.charCodeAt(index);
    if (byte !== code && (byte < 65 || byte > 90 || byte + 32 !== code)) return false;
  }
  return true;
}

/**
 * The values of one header, in their order, without parsing the others.
 *
 * @param name - In lower case.
 */
export function headerValues(headers: Iterable<HeaderPair>, name: string): string[] {
  const values: string[] = [];
  if (headers instanceof HeaderList) {
    const { raw } = headers;
    for (let index = 0; index + 1 < raw.length; index += 2) {
      const key = raw[index] as string;
      if (key.length === name.length && (key === name || key.toLowerCase() === name)) {
        values.push(raw[index + 1] as string);
      }
    }
  } else {
    for (const [key, value] of headers) if (spells(key, name)) values.push(decodeValue(value));
  }
  return values;
}

/** One header, its repeated values joined, or `undefined`. */
export function headerValue(headers: Iterable<HeaderPair>, name: string): string | undefined {
  const values = headerValues(headers, name);
  return values.length > 1 ? values.join(separatorOf(name)) : values[0];
}

const JSON_TYPE = "application/json";

/** Decodes a value. `application/json`, which most bodies have, is compared instead: 15 ns against 100. */
function decodeValue(value: Uint8Array): string {
  if (value.length !== JSON_TYPE.length) return decodeLatin1(value);
  for (let index = 0; index < value.length; index++) {
    if (value[index] !== JSON_TYPE.charCodeAt(index)) return decodeLatin1(value);
  }
  return JSON_TYPE;
}

/** The media type of a `Content-Type`, in lower case and without parameters: `""` when there is none. RFC 9110 §8.3.1. */
export function mediaTypeOf(contentType: string | undefined): string {
  return contentType === JSON_TYPE ? JSON_TYPE : parseMediaType(contentType);
}

/** Tells if the media type is JSON: `application/json`, or one with the suffix of RFC 6839 §3.1. */
export function isJSON(mediaType: string): boolean {
  return mediaType === JSON_TYPE || (mediaType.startsWith("application/") && mediaType.endsWith("+json"));
}
