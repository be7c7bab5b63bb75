/** Heads of requests for the fuzzer: {@link parseHead}, compared with the grammar of RFC 9112 §2 to §6. @module */
import assert from "node:assert/strict";
import * as fc from "../../../../test/support/fast-check.js";
import { decodeLatin1 } from "../../../src/protocol/bytes.js";
import { DEFAULT_REQUEST_LIMITS, type RequestLimits } from "../../../src/platforms/node/header-section.js";
import { type ParsedHead, parseHead } from "../../../src/platforms/node/http1/parse-head.js";
import { ErrorResponse } from "../../../src/protocol/error-response.js";
import { CountingBuffer } from "./_counting-buffer.js";
import { createTarget, type OpenTarget, rarely } from "./_fuzz-target.js";
import { parseReference } from "./_head-reference.js";
import { Refusal } from "./_http1-grammar.js";
import { inPieces, mutated, tableRequests } from "./_http1-mutations.js";

/** Limits that short inputs reach. */
const SMALL: RequestLimits = { targetBytes: 24, headerBytes: 120, headerCount: 4 };

/** Heads, one after another, with the packets and the limits to parse them with. */
export interface HeadInput {
  /** The end of a body that is in the first packet. */
  readonly before: string;
  readonly text: string;
  readonly cuts: readonly number[];
  readonly limits: RequestLimits;
}

const words = (text: string): fc.Arbitrary<string> => fc.constantFrom(...text.split("|"));

const methods = rarely(
  words("GET|GET|GET|GET|POST|OPTIONS|HEAD|QUERY|M-SEARCH|LABEL|PURGE|VERSION-CONTROL|UPDATEREDIRECTREF"),
  words("CONNECT|PRI|FOO|get|GE|GETT||G\0T|\xe9|A-VERY-LONG-METHOD-OF-A-CLIENT-THAT-IS-NONE"),
);
const lengths = fc.constantFrom(8191, 8192, 8193, 23, 24, 25);
const targets = rarely(
  words("/|/a|/a/b?c=d|/%41?%zz|/?|//a|/a:b@c;d|http://a|HTTP://a:80/b?c|https://[::1]:8443/|http://a?b|http://a%20b/"),
  fc.oneof(
    words(
      "*|a:443||/#|/%4|/%zz|/\xe9|/\0|/\t|*a|a|http://|http:///|http://u@a/|http://a:65536/|ftp://a/|http://[::1|?a|/a/%2",
    ),
    lengths.map((length) => "/".padEnd(length, "a")),
    fc.nat(30).map((length) => "/".padEnd(length, "b")),
  ),
);
const versions = rarely(
  words("HTTP/1.1|HTTP/1.1|HTTP/1.0"),
  words("HTTP/1.2|HTTP/2.0|HTTP/3|HTTP/0.9|http/1.1|HTTP/1.1 |HTTP/1.|HTTP/11|HTP/1.1|"),
);
const starts = rarely(words("||\r\n|\r\n\r\n"), words("\n|\r| |\r\r\n"));
const spaces = rarely(fc.constant(" "), words("  |\t||\r|\n"));
const lineEnds = rarely(fc.constant("\r\n"), words("\n|\r|\r\r\n|\n\r|| \r\n|\r\n |\r\n\t"));
const requestLines = fc
  .tuple(starts, methods, spaces, targets, spaces, versions, lineEnds)
  .map((parts) => parts.join(""));

const names = rarely(
  words("X|x-y|!#$%&'*+-.^_`|~|Accept|Cookie|User-Agent|Range|Trailer|Postcard|Expenses|Connections"),
  words('| X|X |X\t|X\0|\xe9|X:Y|(X)|"X"|Host|hOST|Content-Length|TRANSFER-ENCODING|Expect|Upgrade|connection'),
);
const blanks = rarely(words("|| |\t|  \t"), words("\xa0|\x0b|\x85"));
const values = rarely(
  words('a|a b|b:80|0|3|close|\xe9|\x80|\xa0a\xa0|a, b|"\\""|:'),
  fc.oneof(
    words("\x7f|\0|a\rb|a\nb|\x1f|[1::]|[::1.2.3.04]|[::%1]|[v1.a]|a%4|:80|[]|u@a|+3|3, 3"),
    fc.constantFrom(60, 100, 300, 16_300, 16_384).map((length) => "v".repeat(length)),
  ),
);
const colons = rarely(fc.constant(":"), words(" :|:: |;"));
/** The fields of framing, routing and the connection, valid ones more often. */
const knownFields = rarely(
  words(
    "Connection: close|connection: Keep-Alive|Connection: keep-alive,\tUpgrade|Upgrade: websocket|UPGRADE: h2c, WebSocket|" +
      "Content-Length: 3|Content-Length:\t000000000000000000003 |Content-Length: 999999999999999|content-length:0|" +
      "Transfer-Encoding: chunked|TRANSFER-ENCODING:\tChunked |Expect: 100-continue|EXPECT:100-Continue|" +
      'Content-Type: text/plain|content-TYPE:\ta/b; c="d" |Content-Encoding: gzip|CONTENT-Encoding:\ta, b ',
  ),
  words(
    "Content-Length: 3, 3|Content-Length: 9999999999999999|Content-Length: 0x3|Content-Length: 1e3|Content-Length:|" +
      "Transfer-Encoding: gzip, chunked|Transfer-Encoding: chunked;a|Transfer-Encoding:|Transfer-Encoding: chunked,|" +
      "Expect: 100-continue, a|Expect:|Connection: close;a|Connection: a,close|Connection: , ,upgrade",
  ),
);
const hosts = rarely(
  words("Host: a|HOST:\ta:80 |host:[::1]:443|Host: a%41|Host: a:|Host: [1:2:3:4:5:6:7::]|Host: [::1.2.3.4]:0"),
  words(
    "X: a|Host:|Host: :80|Host: []|Host: [::1|Host: [::%25a]|Host: [v1.a]|Host: a%4|Host: a:65536|Host: [::12345]|Host: a b",
  ),
).map((line) => `${line}\r\n`);

const lines = rarely(
  fc.oneof(
    fc.tuple(names, colons, blanks, values, blanks, lineEnds).map((parts) => parts.join("")),
    fc.tuple(knownFields, lineEnds).map((parts) => parts.join("")),
    fc.tuple(fc.nat(120), lineEnds).map(([length, end]) => `X:${"a".repeat(length)}${end}`),
  ),
  fc.constantFrom(98, 99, 100, 101).map((count) => "X: a\r\n".repeat(count)),
);

const heads = fc
  .tuple(requestLines, hosts, fc.array(lines, { maxLength: 4 }), lineEnds)
  .map(([requestLine, host, others, end]) => requestLine + host + others.join("") + end);

/** Heads that repeat the lines of the first one, as the clients of an API send them. */
const repeated = fc
  .tuple(heads, fc.array(fc.tuple(methods, targets), { minLength: 1, maxLength: 3 }))
  .map(([head, next]) => {
    const rest = head.replace(/^[^ ]* [^ ]*/, "");
    return head + next.map(([method, target]) => `${method} ${target}${rest}`).join("");
  });

const texts = fc.oneof(
  fc.array(heads, { minLength: 1, maxLength: 3 }).map((all) => all.join("")),
  repeated,
  fc.tuple(fc.constantFrom(...tableRequests), heads).map((all) => all.join("")),
);
const parts = fc.tuple(texts, fc.nat(200)).map(([text, length]) => text.slice(0, length));

export const headInputs: fc.Arbitrary<HeadInput> = fc.record({
  before: rarely(fc.constant(""), words("\r|\n|\r\n|a")),
  text: fc.oneof(
    { weight: 6, arbitrary: texts },
    { weight: 3, arbitrary: mutated(texts, 2) },
    { weight: 1, arbitrary: parts },
  ),
  cuts: fc.array(fc.nat(30_000), { maxLength: 6 }),
  limits: fc.constantFrom(DEFAULT_REQUEST_LIMITS, DEFAULT_REQUEST_LIMITS, SMALL),
});

/** The heads of a connection, and the status and the body that refuse the last one, or `null`. */
interface Parsing {
  readonly heads: readonly ParsedHead[];
  readonly refusal: readonly [status: number, body: string] | null;
}

/** Parses as a connection does: bytes that are not parsed are given again, with more. */
function parseInPackets(packets: readonly string[], before: string, limits: RequestLimits): Parsing {
  const found: ParsedHead[] = [];
  let input = Buffer.from(before);
  let [at, parsed, checked] = [0, 0, 0];
  for (const [index, packet] of packets.entries()) {
    input = Buffer.concat([input.subarray(at), Buffer.from(packet, "latin1")]);
    at = index === 0 ? before.length : 0;
    while (at < input.length) {
      const head = parseHead(input, at, limits, checked, found.at(-1) ?? null);
      checked = head === null ? input.length - at : 0;
      if (head === null) break;
      if (head instanceof ErrorResponse) return { heads: found, refusal: [head.status, decodeLatin1(head.body)] };
      parsed += head.end - at;
      found.push({ ...head, end: parsed });
      at = head.end;
    }
  }
  return { heads: found, refusal: null };
}

/** At every byte a longer text takes time by the square. */
const MAX_BYTEWISE = 1500;

/** Throws if the parser breaks a rule with this input. */
export function checkHead({ before, text, cuts, limits }: HeadInput): void {
  const whole = parseInPackets([text], "", limits);
  assert.deepEqual(parseInPackets([text], before, limits), whole, "The result depends on what is before the head.");
  assert.deepEqual(parseInPackets(inPieces(text, cuts), before, limits), whole, "The result depends on the cuts.");
  if (text.length <= MAX_BYTEWISE) {
    assert.deepEqual(parseInPackets(text.split(""), before, limits), whole, "The result depends on the cuts.");
  }
  compare(whole, text, limits);
  checkWork(whole, text, limits);
}

function compare({ heads: found, refusal }: Parsing, text: string, limits: RequestLimits): void {
  let at = 0;
  for (const { method, target, minorVersion, section, end } of found) {
    const reference = parseReference(text.slice(at), limits);
    assert.ok(reference !== null && !(reference instanceof Refusal), "The parser accepts what the grammar refuses.");
    assert.deepEqual({ method, target, minorVersion, ...section, end }, { ...reference, end: at + reference.end });
    at = end;
  }
  const rest = text.slice(at);
  const reference = parseReference(rest, limits);
  if (reference instanceof Refusal) {
    assert.ok(refusal !== null, "The parser does not refuse what the grammar refuses.");
    assert.ok(reference.statuses.includes(refusal[0]), `The parser refuses a head with ${refusal[0]}.`);
  } else if (reference !== null) {
    assert.fail(`The parser refuses a valid head with ${refusal?.join(" ")}.`);
  } else if (refusal !== null) {
    checkEarlyRefusal(rest, limits);
  }
}

/** Bytes that may complete a head. */
const CONTINUATIONS = [
  "",
  "\n",
  "\r\n",
  "a",
  ":",
  ": a",
  "Host: a",
  "\r\nHost: a",
  " HTTP/1.0",
  "ET / HTTP/1.0",
  "1.0",
  "0",
].map((text) => `${text}\r\n\r\n`);

function checkEarlyRefusal(text: string, limits: RequestLimits): void {
  for (const continuation of CONTINUATIONS) {
    const reference = parseReference(text + continuation, limits);
    assert.ok(
      reference instanceof Refusal || reference === null,
      `Refused, but ${JSON.stringify(continuation)} ends it.`,
    );
  }
}

/** The work on heads in one packet is linear. How often a byte is read at most. */
const MAX_READS = 6;
/** Bytes after a head that may be read with it. */
const MAX_READ_REST = 4096;

function checkWork({ heads: found }: Parsing, text: string, limits: RequestLimits): void {
  const counting = new CountingBuffer(Buffer.from(text, "latin1"));
  let at = 0;
  for (const previous of [null, ...found]) {
    at = previous?.end ?? 0;
    parseHead(counting.bytes, at, limits, 0, previous);
  }
  const most = MAX_READS * text.length + MAX_READ_REST * found.length + 16;
  assert.ok(counting.reads <= most, `${counting.reads} reads of ${text.length} bytes in ${found.length} heads.`);
}

export const openHead: OpenTarget = async () => createTarget(headInputs, checkHead);
