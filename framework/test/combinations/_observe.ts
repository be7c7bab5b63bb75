/** Compares a response with the row that expects it. @module */
import { gunzipSync } from "node:zlib";
import { expect } from "@jest/globals";
import type { Answer } from "../support/call.js";
import { EVERYWHERE, type Expected } from "./_calls.js";

/** Headers of the server itself, or of its connection. */
const OF_THE_SERVER = new Set(["connection", "date", "keep-alive", "transfer-encoding", "uwebsockets"]);

const TEXT = /^(?:text\/|application\/jsonl)/;

/** The whole of a response, as it is compared. */
export interface Seen {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** The header lines by their names in lower case; of several of one name, one line each. */
function headersOf(lines: Answer["headerLines"]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of lines) {
    const key = name.toLowerCase();
    if (OF_THE_SERVER.has(key)) continue;
    headers[key] = key in headers ? `${headers[key]}\n${value}` : value;
  }
  return headers;
}

/** The length that a server may add to a body of which it has the whole, though the application does not know it. */
function withoutAddedLength(headers: Record<string, string>, length: number): Record<string, string> {
  const { "content-length": added, ...others } = headers;
  return added === String(length) ? others : headers;
}

/**
 * The body: JSON as a value, text as a string, other bytes as a list. Compressed data is decompressed before it is
 * read.
 */
function bodyOf({ headers, body, json }: Answer): unknown {
  if (json !== undefined) return json;
  const isZipped = body[0] === 0x1f && body[1] === 0x8b; // RFC 1952 §2.3.1; supertest has unzipped it
  const read = isZipped ? gunzipSync(body) : body;
  return read.length === 0 || TEXT.test(headers["content-type"] ?? "") ? read.toString() : [...read];
}

export function seenOf(answer: Answer, { headers: wanted = {} }: Expected): Seen {
  const headers = headersOf(answer.headerLines);
  const seen = (wanted["content-length"] ?? null) !== null ? headers : withoutAddedLength(headers, answer.body.length);
  return { status: answer.status, headers: seen, body: bodyOf(answer) };
}

/** The expected value in the same form, for `toEqual`. @param added - Headers in addition to the row's. */
export function wantedOf({ status, headers = {}, body }: Expected, added: Expected["headers"] = {}): object {
  const all = Object.entries<string | RegExp | null>({ ...EVERYWHERE, ...headers, ...added }).filter(
    ([, value]) => value !== null,
  );
  const wanted = all.map(([name, value]) => [name, value instanceof RegExp ? expect.stringMatching(value) : value]);
  return { status, headers: Object.fromEntries(wanted) as object, body };
}
