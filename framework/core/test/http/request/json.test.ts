import { describe, expect, it } from "@jest/globals";
import * as fc from "../../../../test/support/fast-check.js";
import { isJSON, parseJSON } from "../../../src/http/request/json.js";

/** The levels of a value: 0 for a scalar. */
function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** JSON whose strings contain brackets and quotes. */
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 8, depthSize: "large" },
    fc.constantFrom<unknown>(1, null, "", "]", '"[[[', "\\", '{"a":[', "}}"),
    fc.array(tie("json"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "[", '"', "}"), tie("json"), { maxKeys: 3 }),
  ),
}));

describe("parseJSON", () => {
  it("accepts text nested up to the limit, and rejects deeper nesting", () => {
    let refused = 0;
    const property = fc.property(json, fc.integer({ min: 0, max: 8 }), (value, limit) => {
      const parse = () => parseJSON(Buffer.from(JSON.stringify(value)), limit);
      if (depthOf(value) <= limit) {
        expect(parse()).toEqual(value);
        return;
      }
      refused++;
      expect(parse).toThrow(`JSON should be nested at most ${limit} levels deep`);
    });
    fc.assert(property, { numRuns: 1_000 });
    expect(refused).toBeGreaterThan(20);
  });

  it.each([
    ["an overlong form", [0xc0, 0x80]],
    ["a surrogate", [0xed, 0xa0, 0x80]],
    ["a byte beyond Unicode", [0xf5, 0x80, 0x80, 0x80]],
    ["a sequence that is cut off", [0xe2, 0x82]],
  ])("rejects bytes that are no UTF-8: %s", (_case, bytes) => {
    expect(() => parseJSON(Uint8Array.of(0x22, ...bytes, 0x22), 1)).toThrow("JSON should be valid UTF-8");
  });

  it("accepts the replacement character for bytes that are not UTF-8, and drops a byte order mark", () => {
    expect(parseJSON(Buffer.from('\uFEFF"\uFFFD"'), 1)).toBe("\uFFFD");
  });
});

describe("isJSON", () => {
  it.each([
    ["application/json", true],
    ["Application/JSON ; charset=utf-8", true],
    ["application/problem+json", true],
    ["text/json", false],
    ["application/jsonl", false],
    [undefined, false],
  ])("detects %s: %s", (type, expected) => {
    expect(isJSON(type)).toBe(expected);
  });
});
