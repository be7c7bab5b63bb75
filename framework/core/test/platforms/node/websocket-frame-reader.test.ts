/** The frames of RFC 6455 §5.2, in any chunks. */
import { constants } from "node:buffer";
import { randomBytes } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import {
  FrameFault,
  FrameReader,
  type ReceivedMessage,
  unmask,
} from "../../../src/platforms/node/websocket/frame-reader.js";
import { aliveBytes } from "../../../../test/support/garbage.js";

const MAX_BYTES = 1 << 20;
const LENGTHS = [0, 1, 2, 3, 4, 5, 47, 48, 49, 50, 51, 125, 126, 127, 4095, 4096, 4097, 65_535, 65_536];

function masked(payload: Buffer, mask: Buffer): Buffer {
  return payload.map((byte, index) => byte ^ (mask[index % 4] as number)) as Buffer;
}

/** A masked frame, written by the text of the RFC. */
function frame(first: number, payload: Buffer, mask = randomBytes(4)): Buffer {
  const { length } = payload;
  const head = length > 125 ? Buffer.alloc(length > 65_535 ? 10 : 4) : Buffer.alloc(2);
  head[0] = first;
  head[1] = 0x80 | (length > 65_535 ? 127 : length > 125 ? 126 : length);
  if (length > 65_535) head.writeBigUInt64BE(BigInt(length), 2);
  else if (length > 125) head.writeUInt16BE(length, 2);
  return Buffer.concat([head, mask, masked(payload, mask)]);
}

/** The results of a reader for bytes that arrive in chunks of one length. */
function readAll(bytes: Buffer, partBytes: number, reader = new FrameReader(MAX_BYTES, false)): ReceivedMessage[] {
  const all: ReceivedMessage[] = [];
  for (let at = 0; at < bytes.length; at += partBytes) {
    reader.push(Buffer.from(bytes.subarray(at, at + partBytes)));
    for (let next = reader.read(); next !== null; next = reader.read()) {
      if (next instanceof FrameFault) throw new RangeError(String(next.code));
      all.push(next);
    }
  }
  return all;
}

describe("a mask", () => {
  const offsets = [0, 1, 2, 3, 4, 5, 6, 7];
  it.each(LENGTHS)("is removed from %i bytes at any address", (length) => {
    for (const offset of offsets) {
      const payload = randomBytes(length);
      const mask = randomBytes(4);
      const bytes = Buffer.from(new ArrayBuffer(offset + length + 8), offset, length);
      masked(payload, mask).copy(bytes);
      unmask(bytes, mask.readInt32LE());
      expect(bytes.equals(payload)).toBe(true);
      const behind = Buffer.from(bytes.buffer, offset + length, 8);
      expect(behind.equals(Buffer.alloc(8))).toBe(true);
    }
  });
});

describe("frames", () => {
  const payloads = LENGTHS.map((length) => randomBytes(length));
  const messages = payloads.map((payload) => frame(0x82, payload));

  it.each([1, 2, 3, 7, 1000, 4096, 65_536, 1 << 20])("are read in parts of %i bytes", (partBytes) => {
    const received = readAll(Buffer.concat(messages), partBytes);
    expect(received.map(({ opcode }) => opcode)).toEqual(payloads.map(() => 2));
    expect(received.map(({ payload }) => payload.toString("hex"))).toEqual(
      payloads.map((bytes) => bytes.toString("hex")),
    );
  });

  it.each([1, 3, 1000, 1 << 20])(
    "are joined if they are fragments of a message, in chunks of %i bytes",
    (partBytes) => {
      const control = frame(0x89, Buffer.from("?"));
      const fragments = payloads.map((payload, index) => frame(index === 0 ? 0x01 : 0x00, payload));
      const wire = Buffer.concat([
        ...fragments.flatMap((one) => [one, control]),
        frame(0x80, Buffer.alloc(0)),
        ...messages,
      ]);
      const [joined, ...others] = readAll(wire, partBytes).filter(({ opcode }) => opcode !== 9);
      expect(joined).toMatchObject({ opcode: 1, isCompressed: false });
      expect(joined?.payload.equals(Buffer.concat(payloads))).toBe(true);
      expect(others).toHaveLength(payloads.length);
    },
  );

  it("do not change a message that was read before", () => {
    const reader = new FrameReader(MAX_BYTES, false);
    const [first, second] = [frame(0x82, Buffer.alloc(100, "a")), frame(0x82, Buffer.alloc(100, "b"))];
    reader.push(Buffer.from(first.subarray(0, 50)));
    reader.push(Buffer.concat([first.subarray(50), second.subarray(0, 3)]));
    const received = reader.read() as ReceivedMessage;
    reader.push(Buffer.from(second.subarray(3)));
    expect((reader.read() as ReceivedMessage).payload.toString()).toBe("b".repeat(100));
    expect(received.payload.toString()).toBe("a".repeat(100));
  });

  it("are bounded before they come, their fragments together", () => {
    const reader = new FrameReader(10, false);
    reader.push(Buffer.concat([frame(0x02, Buffer.alloc(6)), frame(0x00, Buffer.alloc(5)).subarray(0, 6)]));
    expect(reader.read()).toEqual(new FrameFault(1009));
  });

  it.each([
    ["of 53 bits", [0, 0x20, 0, 0, 0, 0, 0, 0]],
    ["of 64 bits", [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]],
  ])("are limited if their length is %s", (_, length) => {
    const reader = new FrameReader(constants.MAX_STRING_LENGTH, false);
    reader.push(Buffer.from([0x82, 0xff, ...length, 0, 0, 0, 0]));
    expect(reader.read()).toEqual(new FrameFault(1009));
  });

  it("of a megabyte in parts of one byte take little memory and time", async () => {
    const wire = frame(0x82, Buffer.alloc(MAX_BYTES));
    const reader = new FrameReader(MAX_BYTES, false);
    const before = await aliveBytes();
    for (const byte of wire) reader.push(Buffer.from([byte]));
    expect((await aliveBytes()) - before).toBeLessThan(4 << 20);
    expect((reader.read() as ReceivedMessage).payload).toHaveLength(MAX_BYTES);
  });

  it("may be compressed if that was negotiated, control frames and continuations not (RFC 7692 §6)", () => {
    for (const [first, isAllowed] of [
      [0xc1, true],
      [0xc2, true],
      [0xc9, false],
      [0xca, false],
      [0xc8, false],
      [0xc0, false],
    ] as const) {
      const reader = new FrameReader(MAX_BYTES, true);
      if (first === 0xc0) reader.push(frame(0x41, Buffer.from("a")));
      reader.push(frame(first, Buffer.from("abc")));
      expect(reader.read()).toEqual(isAllowed ? expect.objectContaining({ isCompressed: true }) : new FrameFault(1002));
    }
  });
});
