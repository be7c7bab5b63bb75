import { describe, expect, it } from "@jest/globals";
import * as fc from "../../../../test/support/fast-check.js";
import { chooseCoding } from "../../../src/http/request/accept-encoding.js";

const OFFERED = ["gzip", "br"];

describe("chooseCoding", () => {
  // RFC 9110 §12.5.3 and §12.4.2.
  it.each<[header: string | undefined, coding: string | null, refusesIdentity?: boolean]>([
    [undefined, null],
    ["", null],
    ["gzip", "gzip"],
    ["GZip", "gzip"],
    ["x-gzip", "gzip"],
    ["br", "br"],
    ["deflate", null],
    ["gzip, deflate, br", "gzip"],
    ["br, gzip", "gzip"],
    ["gzip;q=0.5, br;q=0.6", "br"],
    ["gzip;q=0.5, br;q=0.5", "gzip"],
    ["gzip ; q=0.9 ,br; Q=1.000", "br"],
    ["gzip;q=0", null],
    ["gzip;q=0.000, br", "br"],
    ["gzip;q=0.001", "gzip"],
    ["*", "gzip"],
    ["*;q=0.1, gzip;q=0", "br"],
    ["gzip;q=0, br;q=0, *", null],
    ["*;q=0", null, true],
    ["identity;q=0", null, true],
    ["identity;q=0, gzip", "gzip", true],
    ["*;q=0, gzip", "gzip", true],
    ["*;q=0, identity", null],
    ["identity", null],
    ["identity, gzip", "gzip"],
    ["identity;q=1, gzip;q=0.5", null],
    ["identity;q=0.5, gzip;q=1", "gzip"],
    ["gzip;q=1.001", null],
    ["gzip;q=2", null],
    ["gzip;q=-1", null],
    ["gzip;q=0.1234", null],
    ["gzip;q=", null],
    ["gzip;q", null],
    ["gzip;level=9", null],
    ["gzip;q=1;q=0", null],
    ["gzip br", null],
    [",, gzip ,,", "gzip"],
    ["gzip, gzip;q=0", null],
    ["__proto__, constructor, toString", null],
  ])("of %j takes %j", (header, coding, refusesIdentity = false) => {
    expect(chooseCoding(header, OFFERED)).toEqual({ coding, refusesIdentity });
  });

  it("selects the earliest offered one of those that the client prefers equally", () => {
    expect(chooseCoding("gzip, br", ["br", "gzip"]).coding).toBe("br");
    expect(chooseCoding("*", ["br", "gzip"]).coding).toBe("br");
  });

  it("returns one of the offered codings or null, for any text", () => {
    const header = fc.oneof(fc.string(), fc.stringMatching(/^[gzipbr;q=01., *]{0,80}$/));
    fc.assert(fc.property(header, (text) => expect([null, ...OFFERED]).toContain(chooseCoding(text, OFFERED).coding)));
  });

  it.each([
    ["commas", ","],
    ["codings", "a,"],
    ["spaces", " "],
    ["weights", ";q=0.000"],
    ["zeros", "gzip;q=0.0000000000"],
  ])("reads a million characters of %s", (_, part) => {
    const header = part.repeat(1_000_000 / part.length);
    // A cost that grows with the square would outlast the test.
    expect(chooseCoding(header, OFFERED).refusesIdentity).toBe(false);
  });
});
