import { describe, expect, it } from "@jest/globals";
import * as fc from "../../../../test/support/fast-check.js";
import { ChunkQueue } from "../../../src/http/request/chunk-queue.js";

const chunks = fc.array(fc.uint8Array({ maxLength: 6000 }), { maxLength: 20 });

describe("ChunkQueue", () => {
  it("returns the pushed data, in one chunk or in several", () => {
    fc.assert(
      fc.property(chunks, fc.nat(20), (pushed, shifts) => {
        const queue = new ChunkQueue();
        for (const chunk of pushed) queue.push(chunk);
        const parts: Uint8Array[] = [];
        for (let count = 0; count < shifts; count++) {
          const part = queue.shift();
          if (part) parts.push(part);
        }
        parts.push(queue.takeAll());
        expect(Buffer.concat(parts)).toEqual(Buffer.concat(pushed));
        expect(queue.bytes).toBe(0);
        expect(queue.isEmpty).toBe(true);
      }),
    );
  });

  it("keeps a million parts of one byte in a few large ones", () => {
    const queue = new ChunkQueue();
    const byte = Uint8Array.of(97);
    for (let count = 0; count < 1_000_000; count++) queue.push(byte);
    let parts = 0;
    while (queue.shift()) parts++;
    expect(parts).toBeLessThan(100);
  });

  it("does not copy a single part", () => {
    const queue = new ChunkQueue();
    const chunk = Uint8Array.of(1, 2, 3);
    queue.push(chunk);
    const whole = queue.takeAll();
    expect([...whole]).toEqual([1, 2, 3]);
    expect(whole.buffer).toBe(chunk.buffer);
  });
});
