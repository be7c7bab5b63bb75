/** Streams of frames that clients send, and of invalid frames. @module */
import { constants, deflateRawSync } from "node:zlib";
import * as fc from "../../../../test/support/fast-check.js";
import { rarely } from "./_fuzz-target.js";

const FIN = 0x80;
const COMPRESSED = 0x40;
const OP = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 };

/** A frame before it is written. */
interface Frame {
  /** `FIN`, the reserved bits and the opcode. */
  readonly first: number;
  readonly payload: Buffer;
}

/** The head of a frame: RFC 6455 §5.2. */
interface Form {
  /** Bits of the first byte to change. */
  readonly flipped: number;
  readonly isMasked: boolean;
  readonly mask: number;
  /** The bytes of the extended length, if that is more than the payload needs. */
  readonly lengthBytes: number;
  /** The difference between the length in the head and the length of the payload. */
  readonly excess: number;
}

function encodeFrame({ first, payload }: Frame, { flipped, isMasked, mask, lengthBytes, excess }: Form): Buffer {
  const length = Math.max(0, payload.length + excess);
  const needed = length > 65_535 ? 8 : length > 125 ? 2 : 0;
  const extended = Math.max(needed, lengthBytes);
  const head = Buffer.alloc(2 + extended + 4);
  head[0] = first ^ flipped;
  head[1] = (isMasked ? 0x80 : 0) | (extended === 0 ? length : extended === 2 ? 126 : 127);
  if (extended === 2) head.writeUInt16BE(length, 2);
  if (extended === 8) head.writeBigUInt64BE(BigInt(length), 2);
  head.writeUInt32BE(mask, 2 + extended);
  if (!isMasked) return Buffer.concat([head.subarray(0, -4), payload]);
  const key = head.subarray(-4);
  return Buffer.concat([head, payload.map((byte, index) => byte ^ (key[index % 4] as number))]);
}

const masks = rarely(fc.nat(0xffff_ffff), fc.constantFrom(0, 1, 0xff00_0000));
const forms = rarely<Form>(
  masks.map((mask) => ({ flipped: 0, isMasked: true, mask, lengthBytes: 0, excess: 0 })),
  fc.record({
    flipped: fc.oneof(fc.constant(0), fc.constantFrom(FIN, COMPRESSED, 0x20, 0x10, 1, 2, 3, 4, 8, 9)),
    isMasked: rarely(fc.constant(true), fc.constant(false)),
    mask: masks,
    lengthBytes: fc.constantFrom(0, 2, 8),
    excess: fc.oneof(fc.constant(0), fc.constantFrom(-1, 1, 200, 2 ** 31, 2 ** 32, 2 ** 53, 2 ** 63)),
  }),
);

const LENGTHS = [0, 1, 2, 3, 47, 48, 49, 51, 64, 124, 125, 126, 127, 128, 299, 300, 301];
const texts = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom("", "a", "Hello", "{}", "κόσμε", "€", "\u{1f600}\u{1f600}", "\0", "\ufeff") },
  { weight: 2, arbitrary: fc.constantFrom(...LENGTHS).map((length) => "t".repeat(length)) },
  { weight: 1, arbitrary: fc.nat(100).map((count) => "é€\u{1f600}".repeat(count)) },
);
const notUTF8 = fc
  .constantFrom("ff", "c0af", "eda080", "f4908080", "ce", "e282", "f09f98", "80", "61ff", "c3a9c3", "f888808080")
  .map((digits) => Buffer.from(digits, "hex"));
const large = fc
  .constantFrom(65_534, 65_535, 65_536, 69_999, 70_000, 70_001)
  .map((length) => Buffer.alloc(length, "l"));
const payloads: fc.Arbitrary<Buffer> = rarely(
  texts.map((text) => Buffer.from(text)),
  fc.oneof(
    notUTF8,
    fc.uint8Array({ maxLength: 140 }).map((bytes) => Buffer.from(bytes)),
  ),
);

/** DEFLATE data of RFC 7692 §7.2, in the forms that a compressor can write, and some invalid ones. */
const deflated: readonly Buffer[] = ["", "a", "Hello", "κόσμε", "a".repeat(300), "a".repeat(301), "ab".repeat(5000)]
  .map((text) => Buffer.from(text))
  .concat(Buffer.from("ff", "hex"), Buffer.from("Hello €".repeat(30)))
  .flatMap((bytes) => {
    const flushed = deflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -4);
    const stored = deflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, level: 0 }).subarray(0, -4);
    const final = deflateRawSync(bytes);
    return [
      flushed,
      flushed,
      flushed,
      stored,
      final,
      Buffer.concat([final, Buffer.alloc(1)]), // RFC 7692 §7.2.3.4
      Buffer.concat([final, flushed]),
      Buffer.concat([flushed, Buffer.from("0000ffff", "hex"), flushed]),
      flushed.subarray(0, flushed.length >> 1),
      stored.subarray(0, -1),
      Buffer.concat([flushed, Buffer.from([0xff])]),
      Buffer.concat([flushed, Buffer.from("0000ffff", "hex")]),
    ];
  });

/** A message in one frame, or in fragments with control frames between them. */
function toFrames(first: number, payload: Buffer, cuts: readonly number[], controls: readonly Frame[]): Frame[] {
  const starts = [0, ...cuts.map((at) => at % (payload.length + 1)).toSorted((a, b) => a - b)];
  return starts.flatMap((start, index) => {
    const end = starts[index + 1] ?? payload.length;
    const opcode = index === 0 ? first : OP.continuation;
    const fragment = { first: opcode | (index === starts.length - 1 ? FIN : 0), payload: payload.subarray(start, end) };
    const control = controls[index];
    return control === undefined || index === starts.length - 1 ? [fragment] : [fragment, control];
  });
}

const shortPayloads = rarely(
  texts.map((text) => Buffer.from(text).subarray(0, 125)),
  fc.nat(130).map((length) => Buffer.alloc(length, "c")),
);
const controls = fc.record({ first: fc.constantFrom(FIN | OP.ping, FIN | OP.pong), payload: shortPayloads });
const cuts = rarely(fc.array(fc.nat(400), { maxLength: 3 }), fc.array(fc.nat(1000), { minLength: 4, maxLength: 40 }));
const opcodes = fc.constantFrom(OP.text, OP.text, OP.binary);
const messages = fc
  .tuple(opcodes, payloads, cuts, fc.array(controls, { maxLength: 2 }))
  .map((message) => toFrames(...message));
const compressedMessages = fc
  .tuple(opcodes, fc.constantFrom(...deflated), cuts, fc.array(controls, { maxLength: 2 }))
  .map(([opcode, payload, ...rest]) => toFrames(opcode | COMPRESSED, payload, ...rest));
const largeMessages = fc.tuple(opcodes, large, cuts).map((message) => toFrames(...message, []));

const codes = rarely(
  fc.constantFrom(1000, 1001, 1002, 1003, 1007, 1011, 1014, 3000, 4999),
  fc.constantFrom(0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65_535),
);
const reasons = rarely(
  fc.constantFrom("", "", "bye", "κόσμε", "r".repeat(123)).map((text) => Buffer.from(text)),
  fc.oneof(notUTF8, fc.constant(Buffer.alloc(124, "r"))),
);
const closes = rarely(
  fc.tuple(codes, reasons).map(([code, reason]) => Buffer.concat([Buffer.from([code >> 8, code & 255]), reason])),
  fc.constantFrom(Buffer.alloc(0), Buffer.alloc(0), Buffer.alloc(1, 3)),
).map((payload) => [{ first: FIN | OP.close, payload }]);

/** The frames of a message or of a control message, each with its form. */
function elementsOf(isCompressed: boolean, isLarge: boolean): fc.Arbitrary<Buffer> {
  const frames = fc.oneof(
    { weight: 6, arbitrary: messages },
    { weight: isCompressed ? 9 : 1, arbitrary: compressedMessages },
    { weight: 2, arbitrary: controls.map((control) => [control]) },
    { weight: 1, arbitrary: closes },
    { weight: isLarge ? 3 : 0, arbitrary: largeMessages },
  );
  const written = frames.chain((all) =>
    fc
      .array(forms, { minLength: all.length, maxLength: all.length })
      .map((how) => Buffer.concat(all.map((frame, index) => encodeFrame(frame, how[index] as Form)))),
  );
  return rarely(
    written,
    fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
  );
}

/** A stream of a client, and the server that reads it. */
export interface WebSocketInput {
  /** In hexadecimal digits. */
  readonly stream: string;
  readonly cuts: readonly number[];
  readonly isCompressed: boolean;
  readonly maxMessageBytes: number;
  /** `true` if the stream is sent over a connection, too. */
  readonly isServed: boolean;
}

const flips = fc.array(fc.tuple(fc.nat(1000), fc.integer({ min: 1, max: 255 })), { maxLength: 2 });

function flip(bytes: Buffer, all: readonly (readonly [at: number, bits: number])[]): Buffer {
  const flipped = Buffer.from(bytes);
  for (const [at, bits] of all) {
    const index = at % Math.max(bytes.length, 1);
    flipped[index] = (flipped[index] ?? 0) ^ bits;
  }
  return flipped;
}

function inputsOf(isCompressed: boolean, isLarge: boolean): fc.Arbitrary<WebSocketInput> {
  const whole = fc.array(elementsOf(isCompressed, isLarge), { maxLength: 6 }).map((all) => Buffer.concat(all));
  const flipped = fc.tuple(whole, flips).map((broken) => flip(...broken));
  return fc.record({
    stream: fc
      .oneof({ weight: 3, arbitrary: whole }, { weight: 1, arbitrary: flipped })
      .map((bytes) => bytes.toString("hex")),
    cuts: fc.array(fc.nat(isLarge ? 80_000 : 1000), { maxLength: 6 }),
    isCompressed: fc.constant(isCompressed),
    maxMessageBytes: isLarge ? fc.constant(70_000) : rarely(fc.constant(300), fc.constantFrom(125, 10, 1)),
    isServed: rarely(fc.constant(false), fc.constant(true)),
  });
}

/** Inputs of the WebSocket target. */
export const webSocketInputs: fc.Arbitrary<WebSocketInput> = fc.oneof(
  { weight: 60, arbitrary: inputsOf(false, false) },
  { weight: 35, arbitrary: inputsOf(true, false) },
  { weight: 1, arbitrary: inputsOf(false, true) },
);
