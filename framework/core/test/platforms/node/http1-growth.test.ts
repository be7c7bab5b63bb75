/** The work of the parsers of HTTP/1.1 grows in proportion to their input. */
import { describe, expect, it } from "@jest/globals";
import { DEFAULT_REQUEST_LIMITS, type RequestLimits } from "../../../src/platforms/node/header-section.js";
import { ChunkedDecoder } from "../../../src/platforms/node/http1/parse-chunked.js";
import { type ParsedHead, parseHead } from "../../../src/platforms/node/http1/parse-head.js";
import { ErrorResponse } from "../../../src/protocol/error-response.js";
import { isLinear } from "../../../../test/support/growth.js";
import { CountingBuffer } from "./_counting-buffer.js";

/** Parses heads, one after another. Returns their number. */
function parseAll(bytes: Buffer, limits: RequestLimits): number {
  let previous: ParsedHead | null = null;
  let at = 0;
  for (let count = 0; ; count++) {
    const head: ParsedHead | ErrorResponse | null = parseHead(bytes, at, limits, 0, previous);
    if (head === null || head instanceof ErrorResponse) return count;
    at = head.end;
    previous = head;
  }
}

/** The bytes that the parser reads of heads that are received in one packet. */
function readsOf(text: string): number {
  const counting = new CountingBuffer(Buffer.from(text, "latin1"));
  parseAll(counting.bytes, DEFAULT_REQUEST_LIMITS);
  return counting.reads;
}

describe("heads in one packet", () => {
  const get = "GET /a HTTP/1.1\r\nHost: a\r\n\r\n";
  it.each([
    ["the same header lines", get.repeat(2)],
    ["methods in turn", `${get}POST /a HTTP/1.1\r\nHost: a\r\n\r\n`],
    ["header lines in turn", `${get}GET /a HTTP/1.1\r\nHost: b\r\n\r\n`],
    ["no header lines", "GET / HTTP/1.0\r\n\r\nPUT / HTTP/1.0\r\n\r\n"],
    ["a long cookie in turn", `${get}GET /?b HTTP/1.1\r\nHost: a\r\nCookie: ${"c".repeat(1500)}\r\n\r\n`],
  ])("take at most 2.5 times the work if they are twice as many: %s", (_what, pair) => {
    expect(parseAll(Buffer.from(pair.repeat(400)), DEFAULT_REQUEST_LIMITS)).toBe(800);
    for (const count of [100, 200, 400]) {
      expect(readsOf(pair.repeat(2 * count))).toBeLessThanOrEqual(2.5 * readsOf(pair.repeat(count)));
    }
  });
});

/** So large that the parsers read all of an input. */
const LIMITLESS: RequestLimits = { targetBytes: 1e9, headerBytes: 1e9, headerCount: 1e9 };

describe("the expressions of the parsers", () => {
  it.each<[string, (size: number) => string]>([
    ["a long method", (size) => "G".repeat(size)],
    ["a long target", (size) => `GET /${"a".repeat(size)}`],
    [
      "a target of escapes that ends with half of one",
      (size) => `GET /${"%41".repeat(size)}% HTTP/1.1\r\nHost: a\r\n\r\n`,
    ],
    ["spaces", (size) => `GET ${" ".repeat(size)}\r\n\r\n`],
    ["a long name without a colon", (size) => `GET / HTTP/1.1\r\n${"a".repeat(size)}\r\n\r\n`],
    ["a long value before NUL", (size) => `GET / HTTP/1.1\r\nX: ${"a".repeat(size)}\0\r\n\r\n`],
    ["a value of blanks", (size) => `GET / HTTP/1.1\r\nX: ${" ".repeat(size)}a\r\n\r\n`],
    ["a value of colons", (size) => `GET / HTTP/1.1\r\nX${":".repeat(size)}\r\n\r\n`],
    ["many lines before a malformed one", (size) => `GET / HTTP/1.1\r\n${"X: a\r\n".repeat(size)}X\r\n\r\n`],
    ["many lines without an end", (size) => `GET / HTTP/1.1\r\n${"X: a\r\n".repeat(size)}`],
    [
      "many options of Connection", // an option takes 0.2 µs: more of them would be near the limit for linear work
      (size) => `GET / HTTP/1.1\r\nHost: a\r\nConnection: ${"\t,".repeat(size / 4)}\r\n\r\n`,
    ],
    ["a long Host", (size) => `GET / HTTP/1.1\r\nHost: ${"a.".repeat(size)}:x\r\n\r\n`],
    [
      "a Content-Length of zeros",
      (size) => `GET / HTTP/1.1\r\nHost: a\r\nContent-Length: ${"0".repeat(size)}x\r\n\r\n`,
    ],
    ["CR in turn with LF", (size) => "\r\n".repeat(size)],
  ])("read a head in proportion to its length: %s", async (_what, text) => {
    const prepare = (size: number) => {
      const bytes = Buffer.from(text(size), "latin1");
      return () => parseHead(bytes, 0, LIMITLESS);
    };
    expect(await isLinear(prepare, 4000)).toBe(true);
  });

  it.each<[string, (size: number) => string]>([
    ["chunks of a byte", (size) => "1\r\na\r\n".repeat(size)],
    ["chunks with an extension", (size) => "1;a\r\na\r\n".repeat(size)],
    ["zeros before a size", (size) => `${"0".repeat(4000)}1\r\na\r\n`.repeat(Math.ceil(size / 4000))],
    ["trailers", (size) => `0\r\n${"X: a\r\n".repeat(size)}`],
    ["a trailer without a colon", (size) => `0\r\n${"a".repeat(size)}\r\n`],
    ["a trailer of blanks before NUL", (size) => `0\r\nX:${" ".repeat(size)}\0\r\n`],
  ])("read a chunked body in proportion to its length: %s", async (_what, text) => {
    const prepare = (size: number) => {
      const bytes = Buffer.from(text(size), "latin1");
      return () => new ChunkedDecoder(LIMITLESS).decode(bytes, 0, () => {});
    };
    expect(await isLinear(prepare, 4000)).toBe(true);
  });
});
