/** Headers that the application gives, as `[name, value, …]`. @module */
import type { HeaderPair } from "../asgi.js";
import { HeaderList } from "../datastructures.js";
import { ProtocolError } from "./errors.js";

const NONE: readonly string[] = [];

/** RFC 9110 §5.6.2: what the name of a header or of a subprotocol is made of. */
export const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** RFC 9110 §5.5: whatever else ends the line or the head, and lets a value write headers of its own. */
const UNSAFE_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** The names and values of pairs of bytes; those of a `HeaderList` as they are, without a detour over bytes. */
export function toRawHeaders(headers: Iterable<HeaderPair> | undefined): readonly string[] {
  if (headers === undefined) {
    return NONE;
  }
  if (headers instanceof HeaderList) {
    return headers.raw;
  }
  const raw: string[] = [];
  for (const [name, value] of headers) {
    raw.push(toLatin1(name), toLatin1(value));
  }
  return raw;
}

/** @throws ProtocolError when the name is none, or the value would break out of its line. */
export function checkHeader(name: string, value: string): void {
  if (!TOKEN.test(name)) {
    throw new ProtocolError(`${JSON.stringify(name)} is no header name.`);
  }
  if (UNSAFE_VALUE.test(value)) {
    throw new ProtocolError(`The header ${name} has a control character or one beyond latin-1 in its value.`);
  }
}

/** The headers but those of this name, which is in lower case. */
export function withoutHeader(headers: readonly string[], name: string): readonly string[] {
  return headers.filter((_, index) => headers[index & ~1]?.toLowerCase() !== name);
}

/** Decodes latin-1 bytes, whatever view they come in. */
export function toLatin1(bytes: Uint8Array): string {
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return buffer.toString("latin1");
}
