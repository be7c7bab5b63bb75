/**
 * A decoder of chunked bodies to compare with: the grammar of RFC 9112 §7.1, an expression for each rule, on a text that
 * was received at once.
 *
 * @module
 */
import type { RequestLimits } from "../../../src/platforms/node/header-section.js";
import { FIELD_LINE, Refusal, TOKEN } from "./_http1-grammar.js";

/** A body, and the position of the first byte after it. */
export interface DecodedBody {
  readonly data: string;
  readonly end: number;
}

/** RFC 9110 §5.6.4. */
const QUOTED_STRING = '"(?:[\\t \\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t\\x20-\\x7e\\x80-\\xff])*"';
const BWS = "[ \\t]*";
const EXTENSION = `${BWS};${BWS}${TOKEN}(?:${BWS}=${BWS}(?:${TOKEN}|${QUOTED_STRING}))?`;
const CHUNK_LINE = new RegExp(`^([0-9A-Fa-f]+)((?:${EXTENSION})*)$`);
const MAX_LINE_BYTES = 4096;
const MAX_EXTENSION_BYTES = 16_384;
const MAX_SIZE = 2 ** 52 - 1;

/** RFC 9110 §6.5.1. */
const FORBIDDEN_TRAILER =
  /^(?:authorization|connection|content-length|cookie|expect|host|keep-alive|max-forwards|proxy-authorization|proxy-connection|set-cookie|te|trailer|transfer-encoding|upgrade)$/i;

/** Decodes the body at the start of a text; `null` if the text may be the beginning of one. */
export function decodeReference(text: string, limits: RequestLimits): DecodedBody | Refusal | null {
  let data = "";
  let extensionBytes = 0;
  let at = 0;
  for (;;) {
    const line = lineAt(text, at, MAX_LINE_BYTES);
    if (line === null) return null;
    if (line === TOO_LONG) return new Refusal(400, 413);
    const [, digits, extensions] = CHUNK_LINE.exec(line) ?? [];
    const size = Number.parseInt(digits ?? "", 16);
    if (extensions === undefined || size > MAX_SIZE) return new Refusal(400);
    extensionBytes += extensions.length;
    if (extensionBytes > MAX_EXTENSION_BYTES) return new Refusal(413);
    at += line.length + 2;
    if (size === 0) return readTrailers(text, at, data, limits);
    data += text.slice(at, at + size);
    const end = text.slice(at + size, at + size + 2);
    if (!"\r\n".startsWith(end)) return new Refusal(400);
    if (end !== "\r\n") return null;
    at += size + 2;
  }
}

function readTrailers(text: string, start: number, data: string, limits: RequestLimits): DecodedBody | Refusal | null {
  let at = start;
  for (let count = 0; ; count++) {
    const line = lineAt(text, at, Math.max(0, limits.headerBytes - (at - start)));
    if (line === null) return null;
    if (line === TOO_LONG) return new Refusal(400, 431);
    at += line.length + 2;
    if (line === "") return { data, end: at };
    const name = FIELD_LINE.exec(line)?.[1];
    if (name === undefined || FORBIDDEN_TRAILER.test(name)) return new Refusal(400);
    if (count === limits.headerCount) return new Refusal(431);
  }
}

const TOO_LONG = Symbol("too long");

/** The text up to the next CR LF; `null` if that may still arrive. */
function lineAt(text: string, at: number, maxBytes: number): string | typeof TOO_LONG | null {
  const end = text.indexOf("\r\n", at);
  const line = end === -1 ? text.slice(at).replace(/\r$/, "") : text.slice(at, end);
  if (line.length > maxBytes) return TOO_LONG;
  return end === -1 ? null : line;
}
