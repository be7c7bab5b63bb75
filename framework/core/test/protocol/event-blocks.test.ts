import { describe, expect, it } from "@jest/globals";
import { EventBlocks } from "../../src/protocol/event-blocks.js";

function canResume(text: string, cuts: readonly number[] = [], isEncoded = false): boolean {
  const bytes = Buffer.from(text);
  const blocks = new EventBlocks(isEncoded);
  [0, ...cuts].forEach((from, index) => blocks.add(bytes.subarray(from, cuts[index] ?? bytes.length)));
  return blocks.canResume;
}

/** Streams, and whether a client can continue after them. */
const TABLE: readonly (readonly [name: string, text: string, canResume: boolean])[] = [
  ["an event with an id", "id: 1\ndata: a\n\n", true],
  ["an id after the data", "data: a\nid: 1\n\n", true],
  ["an id without data", "id: 1\n\n", true],
  ["an id without a blank", "id:1\ndata: a\n\n", true],
  ["an id that is a blank", "id:  \ndata: a\n\n", true],
  ["CRLF", "id: 1\r\ndata: a\r\n\r\n", true],
  ["CR", "id: 1\rdata: a\r\r", true],
  ["different line ends", "id: 1\r\ndata: a\n\r", true],
  ["comments after the last event", "id: 1\ndata: a\n\n: one\n\n:\n\n", true],
  ["a comment without the end of its block", "id: 1\ndata: a\n\n: keep-alive\n", true],
  ["a comment without the end of its line", "id: 1\ndata: a\n\n: keep", true],
  ["blank lines after the last event", "id: 1\ndata: a\n\n\n\n\r\n", true],
  ["two ids in a block", "id: 1\nid: 2\ndata: a\n\n", true],
  ["an id with NUL, which clients ignore, after another", "id: 1\nid: \u0000\ndata: a\n\n", true],
  ["only the last event with an id", "data: a\n\nid: 2\ndata: b\n\n", true],
  ["nothing", "", false],
  ["only comments", ": keep-alive\n\n: keep-alive\n\n", false],
  ["an event without an id", "data: a\n\n", false],
  ["an event without an id after one with an id", "id: 1\ndata: a\n\ndata: b\n\n", false],
  ["only a retry after an event with an id", "id: 1\ndata: a\n\nretry: 1000\n\n", false],
  ["an empty id", "id: \ndata: a\n\n", false],
  ["an id without a value", "id\ndata: a\n\n", false],
  ["an id without a value after another", "id: 1\nid:\ndata: a\n\n", false],
  ["an id with NUL", "id: 1\u00002\ndata: a\n\n", false],
  ["a field whose name begins with id", "idle: 1\ndata: a\n\n", false],
  ["a name in upper case", "ID: 1\ndata: a\n\n", false],
  ["a block without its end", "id: 1\ndata: a\n\nid: 2\ndata: b\n", false],
  ["a line without its end", "id: 1\ndata: a\n\nda", false],
  ["a CR that may belong to the last line", "id: 1\ndata: a\r\n", false],
];

describe("the blocks of an event stream", () => {
  it.each(TABLE)("tell if a client can continue after %s, wherever the bytes are cut", (_name, text, expected) => {
    expect(canResume(text)).toBe(expected);
    const { length } = Buffer.from(text);
    for (let cut = 0; cut <= length; cut++) expect(canResume(text, [cut])).toBe(expected);
    expect(
      canResume(
        text,
        Array.from({ length }, (_, index) => index + 1),
      ),
    ).toBe(expected);
  });

  it("are unknown if the body is encoded", () => {
    expect(canResume("id: 1\ndata: a\n\n", [], true)).toBe(false);
  });

  it.each(["\n", "\r"])("are found with one search for each line of %j", (end) => {
    let searches = 0;
    class Counted extends Uint8Array {
      override indexOf(byte: number, from?: number): number {
        searches++;
        return super.indexOf(byte, from);
      }
    }
    const chunk = Counted.from(Buffer.from(`id: 1${end}data: a${end}${end}`.repeat(100)));
    const blocks = new EventBlocks(false);
    blocks.add(chunk);
    expect(blocks.canResume).toBe(true);
    expect(searches).toBeLessThanOrEqual(302);
  });
});
