import { describe, expect, it } from "@jest/globals";
import { FrameReader, NumberedMessage } from "../../src/realtime/messages.js";

/** Takes the mask of a client's frame off, as a server does. */
function unmask(frame: Buffer, start: number): string {
  const mask = frame.subarray(start - 4, start);
  return Buffer.from(frame.subarray(start).map((byte, index) => byte ^ (mask[index % 4] ?? 0))).toString();
}

describe("NumberedMessage", () => {
  it("has the size and the number, masked", () => {
    const message = new NumberedMessage(64);
    const frame = Buffer.from(message.frame(42));
    expect([...frame.subarray(0, 2)]).toEqual([0x81, 0x80 | 64]);
    expect(unmask(frame, 6)).toBe(message.text(42).toString());
    expect(unmask(frame, 6)).toMatch(/^00000042[a-z]{56}$/);
  });

  it("has its length in two bytes from 126 bytes on", () => {
    const frame = Buffer.from(new NumberedMessage(4_096).frame(1));
    expect([...frame.subarray(0, 4)]).toEqual([0x81, 0x80 | 126, 0x10, 0x00]);
    expect(unmask(frame, 8)).toMatch(/^00000001[a-z]{4088}$/);
  });
});

describe("FrameReader", () => {
  const small = Buffer.from([0x81, 2, ...Buffer.from("hi")]);
  const large = Buffer.concat([Buffer.from([0x81, 126, 1, 0]), Buffer.alloc(256, "x")]);
  const wire = Buffer.concat([small, large, small]);

  it.each([1, 3, 200, wire.length])("gives the messages of a server that come %i bytes at a time", (size) => {
    const reader = new FrameReader();
    const texts: string[] = [];
    for (let at = 0; at < wire.length; at += size) {
      texts.push(...reader.read(wire.subarray(at, at + size)).map(String));
    }
    expect(texts).toEqual(["hi", "x".repeat(256), "hi"]);
  });

  it("leaves out the pings of a server", () => {
    const ping = Buffer.from([0x89, 1, 0]);
    expect(new FrameReader().read(Buffer.concat([ping, small])).map(String)).toEqual(["hi"]);
  });

  it.each([
    ["bytes", [0x82, 0]],
    ["a part of a message", [0x01, 0]],
    ["a close", [0x88, 0]],
    ["a masked frame", [0x81, 0x80]],
  ])("refuses %s", (_name, bytes) => {
    expect(() => new FrameReader().read(Buffer.from(bytes))).toThrow("expected a text message in one frame");
  });
});
