/** Chunked bodies for the fuzzer: {@link ChunkedDecoder}, compared with the grammar of RFC 9112 §7.1. @module */
import assert from "node:assert/strict";
import * as fc from "../../../../test/support/fast-check.js";
import { DEFAULT_REQUEST_LIMITS, type RequestLimits } from "../../../src/platforms/node/header-section.js";
import { ChunkedDecoder } from "../../../src/platforms/node/http1/parse-chunked.js";
import { ErrorResponse } from "../../../src/protocol/error-response.js";
import { decodeReference } from "./_chunked-reference.js";
import { CountingBuffer } from "./_counting-buffer.js";
import { createTarget, type OpenTarget, rarely } from "./_fuzz-target.js";
import { Refusal } from "./_http1-grammar.js";
import { inPieces, mutated } from "./_http1-mutations.js";
import { decodeInPieces, type Decoding } from "./_http1-pieces.js";

/** Limits that short inputs reach. */
const SMALL: RequestLimits = { targetBytes: 24, headerBytes: 80, headerCount: 4 };

/** A body, with the packets and the limits to decode it with. */
export interface ChunkedInput {
  readonly text: string;
  readonly cuts: readonly number[];
  readonly limits: RequestLimits;
}

const lineEnds = rarely(fc.constant("\r\n"), fc.constantFrom("\n", "\r", "\r\r\n", "\n\r", "", " \r\n"));
const extensions = fc.constantFrom(
  ...'; ;a| ; a = b|;a=b|\t;\ta\t=\t"b;"|;q="\\""|;q="\\\\"|;q=""|;a="\xe9"|;a="\\\xe9"'.split("|"),
  ...'; ;|;a=|;=b|;a="|;a="\\|;a=b c|;a = |;a="\x7f"|;\x00|;\xe9| |;a="b"c|;a\n'.split("|"),
  `;${"a".repeat(300)}`,
  `;a="${"b".repeat(3000)}"`,
  `;${"a".repeat(4090)}`,
);
const datas = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("a", "abc", "0\r\n\r\n", "\r\n", "x".repeat(16)) },
  {
    weight: 1,
    arbitrary: fc.array(fc.nat(255), { minLength: 1, maxLength: 40 }).map((codes) => String.fromCharCode(...codes)),
  },
  { weight: 1, arbitrary: fc.nat(5000).map((length) => "d".repeat(length + 1)) },
);

const chunks = fc
  .record({
    data: datas,
    zeros: rarely(fc.constant(0), fc.constantFrom(1, 2, 12, 13, 4000)),
    isUpperCase: fc.boolean(),
    extensions: rarely(fc.constant<string[]>([]), fc.array(extensions, { maxLength: 5 })),
    excess: rarely(fc.constant(0), fc.constantFrom(-1, 1, 2, 2 ** 32, 2 ** 52, 2 ** 53)),
    lineEnd: lineEnds,
    end: lineEnds,
  })
  .map((chunk) => {
    const size = Math.max(0, chunk.data.length + chunk.excess).toString(16);
    const digits = "0".repeat(chunk.zeros) + (chunk.isUpperCase ? size.toUpperCase() : size);
    return digits + chunk.extensions.join("") + chunk.lineEnd + chunk.data + chunk.end;
  });

/** Chunks whose extensions have about as many bytes together as they may. */
const manyExtensions = fc
  .nat(8)
  .map((length) => `${`1;${"a".repeat(4094)}\r\na\r\n`.repeat(4)}1${";aaaaaaa".slice(0, length)}\r\na\r\n`);

const fieldLines = fc.oneof(
  fc.constantFrom(
    ..."X: a|X:|Vary:\t*\t|x-y: \xff|Content-Length: 3|HOST: a|te:|X : a|X|: a| X: a|X: \0|X: \r|\xe9: a".split("|"),
  ),
  fc.nat(80).map((length) => `X:${"a".repeat(length)}`),
  rarely(
    fc.constant("X: a"),
    fc.constantFrom(16_379, 16_380, 16_381, 16_382).map((length) => `X: ${"a".repeat(length)}`),
  ),
);
const trailers = fc.tuple(fieldLines, lineEnds).map(([line, end]) => line + end);

const bodies = fc
  .record({
    chunks: fc.array(rarely(chunks, manyExtensions), { maxLength: 5 }),
    last: rarely(fc.constant("0"), fc.constantFrom("000", "0;a", '0;a="b"', "0 ;a", "0 ", "", "g")),
    lastEnd: lineEnds,
    trailers: fc.oneof(fc.constant([]), fc.array(trailers, { maxLength: 6 })),
    end: lineEnds,
    rest: fc.constantFrom("", "GET / HTTP/1.1\r\n", "\r\n", "0"),
  })
  .map((body) => body.chunks.join("") + body.last + body.lastEnd + body.trailers.join("") + body.end + body.rest);

export const chunkedInputs: fc.Arbitrary<ChunkedInput> = fc.record({
  text: fc.oneof(bodies, mutated(bodies, 2)),
  cuts: fc.array(fc.nat(6000), { maxLength: 6 }),
  limits: fc.constantFrom(SMALL, DEFAULT_REQUEST_LIMITS),
});

/** A longer text is tried at a few cuts only: at every byte it takes time by the square. */
const MAX_BYTEWISE = 2000;

/** Throws if the decoder breaks a rule with this input. */
export function checkChunked({ text, cuts, limits }: ChunkedInput): void {
  const whole = decodeInPieces([text], limits);
  assert.deepEqual(decodeInPieces(inPieces(text, cuts), limits, "\r\n\r\n"), whole, "The result depends on the cuts.");
  if (text.length <= MAX_BYTEWISE) {
    assert.deepEqual(decodeInPieces(text.split(""), limits), whole, "The result depends on the cuts.");
  }
  compare(whole, text, limits);
  checkWork(text, limits);
}

function compare(whole: Decoding, text: string, limits: RequestLimits): void {
  const reference = decodeReference(text, limits);
  if (reference instanceof Refusal) {
    assert.ok(whole.end instanceof ErrorResponse, "The decoder accepts what the grammar refuses.");
    assert.ok(reference.statuses.includes(whole.end.status), `The status is ${whole.end.status}.`);
  } else if (reference !== null) {
    assert.deepEqual(whole, reference, "The decoder differs from the grammar.");
  } else if (whole.end instanceof ErrorResponse) {
    checkEarlyRefusal(text, limits);
  } else {
    assert.equal(whole.end, null, "The decoder accepts a part of a body.");
  }
}

/** Bytes that may complete a body. */
const CONTINUATIONS = ["", "\n", "0", "a", ";a", "=a", '"', 'a"', ":"].flatMap((text) => [
  `${text}\r\n\r\n`,
  `${text}\r\n0\r\n\r\n`,
  `${text}\r\na\r\n0\r\n\r\n`,
]);

function checkEarlyRefusal(text: string, limits: RequestLimits): void {
  for (const continuation of CONTINUATIONS) {
    const reference = decodeReference(text + continuation, limits);
    assert.ok(
      reference instanceof Refusal || reference === null,
      `Refused, but ${JSON.stringify(continuation)} ends it.`,
    );
  }
}

/** The work on a packet is linear: a byte is read as a digit, by the search for the end of its line, and with that line. */
const MAX_READS = 3;
/** Bytes of the longest line without its end, which a connection keeps. */
const MAX_KEPT_BYTES = 4097;

function checkWork(text: string, limits: RequestLimits): void {
  const counting = new CountingBuffer(Buffer.from(text, "latin1"));
  const decoder = new ChunkedDecoder(limits);
  const end = decoder.decode(counting.bytes, 0, () => {});
  assert.ok(counting.reads <= MAX_READS * text.length + 16, `${counting.reads} reads of ${text.length} bytes.`);
  if (end instanceof ErrorResponse || decoder.isComplete) return;
  assert.ok(
    text.length - end <= Math.max(MAX_KEPT_BYTES, limits.headerBytes + 1),
    `${text.length - end} bytes are kept.`,
  );
}

export const openChunked: OpenTarget = async () => createTarget(chunkedInputs, checkChunked);
