/**
 * Fast paths compared with the general path: both return the same for any input. The page on the architecture lists all
 * of them.
 */
import { describe, expect, it } from "@jest/globals";
import { encodeUTF8 } from "../../src/protocol/header-list.js";
import * as fc from "../../../test/support/fast-check.js";

describe("text as UTF-8", () => {
  it("is the same from the loop over short ASCII text as from the platform's encoder", () => {
    const text = fc.oneof(
      fc.string({ maxLength: 60 }),
      fc.string({ unit: "grapheme", maxLength: 60 }),
      fc.unicode({ maxLength: 60 }),
      fc.constantFrom("a".repeat(40), "a".repeat(41), `${"a".repeat(39)}é`, "\u007f", "\u0080", "\ud800"),
    );
    fc.assert(
      fc.property(text, (given) => {
        expect(Array.from(encodeUTF8(given))).toEqual(Array.from(new TextEncoder().encode(given)));
      }),
    );
  });
});
