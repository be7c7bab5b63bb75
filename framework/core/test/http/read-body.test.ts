import { describe, expect, it } from "@jest/globals";
import { readBody, readServerSentEvents } from "../../src/http/read-body.js";
import { WorkRecorder } from "../../../test/support/pattern-steps.js";

/** A body in chunks of this size. */
function bodyOf(text: string, size: number): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  const count = Math.ceil(bytes.length / size);
  return ReadableStream.from(
    Array.from({ length: count }, (_, index) => bytes.slice(index * size, (index + 1) * size)),
  );
}

async function allOf(items: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const linesOf = async (text: string, size: number): Promise<unknown[]> => {
  const response = new Response(bodyOf(text, size), { headers: { "content-type": "application/jsonl" } });
  return allOf((await readBody(response, "GET")) as AsyncIterable<unknown>);
};

describe("the events of a stream", () => {
  it.each(["\n", "\r", "\r\n"])("are the same for chunks of each size if lines end with %j", async (end) => {
    const text = ["event: a", "id: 1", "data: é", "data:", "", "data: 2", "", ""].join(end);
    for (let size = 1; size <= text.length + 1; size++) {
      expect(await allOf(readServerSentEvents(bodyOf(text, size)))).toEqual([
        { event: "a", id: "1", data: "é\n" },
        { data: 2 },
      ]);
    }
  });
});

describe("the values of JSON Lines", () => {
  it.each(["\n", "\r\n"])("are the same for chunks of each size if lines end with %j", async (end) => {
    const text = ["1", "", '{"a":"é"}', "[2]"].join(end);
    for (let size = 1; size <= text.length + 1; size++) expect(await linesOf(text, size)).toEqual([1, { a: "é" }, [2]]);
  });

  it("take a number of steps in proportion to a long line in small chunks", async () => {
    const text = JSON.stringify("a".repeat(65_536));
    using recorder = new WorkRecorder();
    expect(await linesOf(text, 64)).toEqual([JSON.parse(text)]);
    expect(recorder.take(Infinity).steps).toBeLessThan(20 * text.length);
  });
});
