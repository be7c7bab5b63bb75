import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import * as fc from "../../../../test/support/fast-check.js";
import { type ParsedHead, parseHead } from "../../../src/platforms/node/http1/parse-head.js";
import { DEFAULT_REQUEST_LIMITS, type RequestLimits } from "../../../src/platforms/node/header-section.js";
import { ErrorResponse } from "../../../src/protocol/error-response.js";
import { httpApp, readBody, respond, served, Wire, type Served } from "./_http.js";
import { accepted, HOST, refused } from "./_http1-table.js";
import { decodeInPieces, parseInPieces, parseWhole } from "./_http1-pieces.js";
import { chunkedBodies, inPieces, mutationsOf, requests, tableRequests } from "./_http1-mutations.js";

/** So small that ordinary requests meet them. */
const SMALL: RequestLimits = { targetBytes: 24, headerBytes: 80, headerCount: 4 };
const limits = fc.constantFrom(SMALL, DEFAULT_REQUEST_LIMITS);

const rules = [...refused, ...accepted].map(([rule, request]) => [rule, request] as const);

/** Possible continuations of a part of a head. */
const continuations = fc.oneof(
  fc.constantFrom("", "\r\n\r\n", "\n", "\r", "\r\n", "x".repeat(200), ` HTTP/1.1\r\n${HOST}\r\n`, `${HOST}\r\n`),
  mutationsOf(tableRequests),
);

describe("a head", () => {
  it.each(rules.filter(([, request]) => request.length <= 4000))(
    "is parsed the same byte by byte: %s",
    (_rule, request) => {
      for (const bounds of [DEFAULT_REQUEST_LIMITS, SMALL]) {
        expect(parseInPieces(request.split(""), bounds)).toEqual(parseWhole(request, bounds));
      }
    },
  );

  it("is parsed the same for any split", () => {
    fc.assert(
      fc.property(
        mutationsOf(tableRequests),
        fc.array(fc.nat(4000), { maxLength: 6 }),
        limits,
        (text, cuts, bounds) => {
          expect(parseInPieces(inPieces(text, cuts), bounds)).toEqual(parseWhole(text, bounds));
          expect(parseInPieces(text.split(""), bounds)).toEqual(parseWhole(text, bounds));
        },
      ),
      { numRuns: fc.runs(2000) },
    );
  });

  it("is rejected early only if every continuation is rejected with the same response", () => {
    fc.assert(
      fc.property(mutationsOf(tableRequests), fc.nat(150), continuations, limits, (text, length, rest, bounds) => {
        const part = parseWhole(text.slice(0, length), bounds);
        const whole = parseWhole(text.slice(0, length) + rest, bounds);
        expect(part instanceof ErrorResponse ? whole : part).toEqual(part);
      }),
      { numRuns: fc.runs(4000) },
    );
  });

  it.each([
    ["a method that nobody knows", "FOO "],
    ["a line that begins with a space", "GET / HTTP/1.1\r\n "],
    ["a space before the colon", "GET / HTTP/1.1\r\nHost "],
    ["a header line without a colon", `GET / HTTP/1.1\r\nfoo\r\n`],
    ["NUL in a value", `GET / HTTP/1.1\r\n${HOST}X: a\0`],
    ["a bare CR", `GET / HTTP/1.1\r\n${HOST}X: a\rY`],
    ["a bare LF", `GET / HTTP/1.1\r\n${HOST}X: a\n`],
  ])("is rejected before its end arrives: %s", (_what, part) => {
    expect(parseWhole(part, DEFAULT_REQUEST_LIMITS)).toMatchObject({ status: 400 });
  });

  it.each(["\n", "\nGET / HTTP/1.1\r\n", "\n\r\n\r\n"])("does not depend on the byte before it: %j", (text) => {
    const alone = parseWhole(text, DEFAULT_REQUEST_LIMITS);
    for (const before of ["a", "\r", "\n"]) {
      const bytes = Buffer.from(before + text);
      expect(parseHead(bytes, 1, DEFAULT_REQUEST_LIMITS)).toEqual(alone);
    }
  });

  it.each([0, 1, 2])("holds its limits to the byte, %i beyond", (excess) => {
    const target = `/${"a".repeat(SMALL.targetBytes - 1 + excess)}`;
    const value = "a".repeat(SMALL.headerBytes - HOST.length - "X: \r\n".length + excess);
    const targets = `GET ${target} HTTP/1.1\r\n${HOST}\r\n`;
    const headers = `GET / HTTP/1.1\r\n${HOST}X: ${value}\r\n\r\n`;
    for (const [text, status] of [
      [targets, 414],
      [headers, 431],
    ] as const) {
      const expected = excess === 0 ? expect.objectContaining({ method: "GET" }) : expect.objectContaining({ status });
      expect(parseWhole(text, SMALL)).toEqual(expected);
      expect(parseInPieces(text.split(""), SMALL)).toEqual(expected);
    }
  });
});

describe("a chunked body", () => {
  it("is parsed the same for any split", () => {
    fc.assert(
      fc.property(mutationsOf(chunkedBodies), fc.array(fc.nat(400), { maxLength: 6 }), limits, (text, cuts, bounds) => {
        const whole = decodeInPieces([text], bounds);
        expect(decodeInPieces(inPieces(text, cuts), bounds)).toEqual(whole);
        expect(decodeInPieces(text.split(""), bounds)).toEqual(whole);
      }),
      { numRuns: fc.runs(2000) },
    );
  });

  it("is rejected early only if every continuation is rejected with the same response", () => {
    fc.assert(
      fc.property(
        mutationsOf(chunkedBodies),
        fc.nat(60),
        mutationsOf(chunkedBodies),
        limits,
        (text, length, rest, bounds) => {
          const part = decodeInPieces([text.slice(0, length)], bounds);
          const whole = decodeInPieces([text.slice(0, length) + rest], bounds);
          expect(part.end instanceof ErrorResponse ? whole : part).toEqual(part);
        },
      ),
      { numRuns: fc.runs(2000) },
    );
  });

  it.each([
    ["a line of 4,096 bytes", `1;${"a".repeat(4094)}\r\na\r\n0\r\n\r\n`, "a"],
    ["a line of 4,097 bytes", `1;${"a".repeat(4095)}\r\na\r\n0\r\n\r\n`, 413],
    ["a line of 4,096 bytes and a bare CR", `1;${"a".repeat(4094)}\r\r\na\r\n0\r\n\r\n`, 413],
    ["extensions of 16,384 bytes", `${`1;${"a".repeat(4094)}\r\na\r\n`.repeat(4)}1;aaa\r\na\r\n0\r\n\r\n`, "aaaaa"],
    ["extensions of 16,385 bytes", `${`1;${"a".repeat(4094)}\r\na\r\n`.repeat(4)}1;aaaa\r\na\r\n0\r\n\r\n`, 413],
    ["a trailer section of 80 bytes", `0\r\nX: ${"a".repeat(75)}\r\n\r\n`, ""],
    ["a trailer section of more", `0\r\nX: ${"a".repeat(78)}\r\n\r\n`, 431],
    ["a trailer of 80 bytes and a bare CR", `0\r\nX: ${"a".repeat(77)}\r\r\n\r\n`, 431],
    ["four trailers", `0\r\n${"X: a\r\n".repeat(4)}\r\n`, ""],
    ["five trailers", `0\r\n${"X: a\r\n".repeat(5)}\r\n`, 431],
    ["the largest size that a number holds", `${"f".repeat(13)}\r\n`, ""],
    ["a larger size", `1${"0".repeat(13)}\r\n`, 400],
    ["many zeros before a size", `${"0".repeat(4000)}1\r\na\r\n0\r\n\r\n`, "a"],
  ])("holds its limits to the byte: %s", (_what, text, expected) => {
    const result = typeof expected === "number" ? { end: { status: expected } } : { data: expected };
    expect(decodeInPieces([text], SMALL)).toMatchObject(result);
    expect(decodeInPieces(text.split(""), SMALL)).toMatchObject(result);
  });
});

describe("a connection", () => {
  let server: Served;
  beforeAll(async () => {
    const echo = httpApp(async (scope, receive, send) => {
      const body = await readBody(receive);
      await respond(send, 200, `<${scope.method} ${scope.path} ${body.toString("latin1")}>`);
    });
    server = await served(echo);
  });
  afterAll(() => server.close());

  /** The server's reaction to a text that arrives in these pieces: its statuses and bodies, in order. */
  async function answers(parts: readonly string[]): Promise<string[]> {
    await using wire = new Wire(server.port);
    for (const part of parts) {
      if (wire.socket.closed) break;
      await new Promise((resolve) => wire.socket.write(part, "latin1", resolve));
      if (parts.length > 1) await new Promise((resolve) => setImmediate(resolve));
    }
    wire.socket.end();
    const text = await wire.closed;
    return Array.from(
      text.matchAll(/HTTP\/1\.1 (\d{3}) [^]*?\r\n\r\n([^]*?)(?=HTTP\/1\.1 |$)/g),
      (match) => `${match[1]} ${match[2]}`,
    );
  }

  const short = rules.filter(([, request]) => request.length <= 1000);
  it.each(short)("is the same byte by byte and in one packet: %s", async (_rule, request) => {
    const expected = await answers([request]);
    expect(expected).not.toEqual([]);
    expect(await answers(request.split(""))).toEqual(expected);
  });

  it("is the same for any split of pipelined requests", async () => {
    const all = fc.array(mutationsOf(requests, 1), { minLength: 1, maxLength: 4 }).map((each) => each.join(""));
    await fc.assert(
      fc.asyncProperty(all, fc.array(fc.nat(4000), { maxLength: 4 }), async (text, cuts) => {
        expect(await answers(inPieces(text, cuts))).toEqual(await answers([text]));
      }),
      { numRuns: fc.runs(150) },
    );
  });
});

describe("a head with the same header lines as the previous one", () => {
  const bounds = DEFAULT_REQUEST_LIMITS;
  const parse = (text: string, previous: ParsedHead | null) =>
    parseHead(Buffer.from(text, "latin1"), 0, bounds, 0, previous);
  const lines = [
    "Host: a\r\n",
    "Host: a\r\nContent-Length: 3\r\n",
    "Host: a\r\nConnection: close\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n",
    "Host: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n",
  ];
  const requestLines = [
    "GET /a?b HTTP/1.1\r\n",
    "POST /b HTTP/1.1\r\n",
    "GET http://b/c HTTP/1.1\r\n",
    "OPTIONS * HTTP/1.1\r\n",
    "GET /%zz HTTP/1.1\r\n",
    "GET * HTTP/1.1\r\n",
    "FOO / HTTP/1.1\r\n",
    "GET  / HTTP/1.1\r\n",
    "GET / HTTP/1.2\r\n",
    "GET / HTTP/1.0\r\n",
    "CONNECT a:1 HTTP/1.1\r\n",
  ];
  const pairs = lines.flatMap((fields) => requestLines.map((line) => [line.trim(), fields, line] as const));

  it.each(pairs)("is parsed like a single one: %s with %j", (_title, fields, line) => {
    for (const first of requestLines) {
      const previous = parse(`${first}${fields}\r\n`, null);
      if (previous === null || previous instanceof ErrorResponse) continue;
      for (const rest of ["", "body", "x".repeat(5000)]) {
        const text = `${line}${fields}\r\n${rest}`;
        const alone = parse(text, null);
        const repeated = parse(text, previous);
        if (alone === null || alone instanceof ErrorResponse) expect(repeated).toBe(alone);
        else expect(repeated).toEqual(alone);
      }
    }
  });
});
