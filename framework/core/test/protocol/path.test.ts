import { describe, expect, it } from "@jest/globals";
import * as fc from "../../../test/support/fast-check.js";
import { isLinear } from "../../../test/support/growth.js";
import { canonicalPath } from "../../src/protocol/scope.js";
import { decodeSegment } from "../../src/protocol/path.js";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** `raw_path` as a server sets it; `path` is the server's decoded path, which must be ignored. */
const fromRaw = (raw: string, exact = false): string | null => canonicalPath("/decoded", bytes(raw), { exact });

describe("canonicalPath", () => {
  it.each([
    ["", "/"],
    ["/", "/"],
    ["//", "/"],
    ["/users/7", "/users/7"],
    ["/users/7/", "/users/7"],
    ["//users///7//", "/users/7"],
    ["users/7", "/users/7"],
    ["/users/a%20b", "/users/a b"],
    ["/%75sers", "/users"],
    ["/users/a%2Fb", "/users/a%2Fb"],
    ["/users/a%2fb", "/users/a%2Fb"],
    ["/users/100%25", "/users/100%25"],
    ["/users/%252F", "/users/%252F"],
    ["/users/%2525", "/users/%2525"],
    ["/caf%C3%A9", "/café"],
    ["/café", "/café"],
    ["/%F0%9F%98%80", "/😀"],
    ["/%EF%BB%BFadmin", "/\uFEFFadmin"],
    ["%EF%BB%BFadmin", "/\uFEFFadmin"],
    ["/a/../b/./c", "/a/../b/./c"],
    ["/a/%2e%2e/b", "/a/../b"],
    ["/a%00b", "/a\0b"],
    ["/a?b#c", "/a?b#c"],
    ["/a%3Fb", "/a?b"],
    ["/a\\b;c=d", "/a\\b;c=d"],
    ["/__proto__", "/__proto__"],
    ["*", "/*"],
  ])("brings the target %j to %j", (raw, canonical) => {
    expect(fromRaw(raw)).toBe(canonical);
  });

  it.each([
    ["/%", "RFC 3986 §2.1"],
    ["/%4", "RFC 3986 §2.1"],
    ["/%zz", "RFC 3986 §2.1"],
    ["/%2", "RFC 3986 §2.1"],
    ["/%%32F", "RFC 3986 §2.1"],
    ["/%u0041", "RFC 3986 §2.1"],
    ["/%+1", "RFC 3986 §2.1"],
    ["/%FF", "RFC 3629 §3, no first byte"],
    ["/%C3", "RFC 3629 §3, cut off"],
    ["/%C3/%A9", "RFC 3629 §3, cut in two by a slash"],
    ["/%C3%2F", "RFC 3629 §3, cut off by an encoded slash"],
    ["/%C0%AF", "RFC 3629 §10, an overlong slash"],
    ["/%E0%80%AF", "RFC 3629 §10, an overlong slash"],
    ["/%ED%A0%80", "RFC 3629 §3, a surrogate"],
    ["/%F4%90%80%80", "RFC 3629 §3, past U+10FFFF"],
  ])("rejects the target %j (%s)", (raw) => {
    expect(fromRaw(raw)).toBeNull();
    expect(fromRaw(raw, true)).toBeNull();
  });

  it("rejects raw bytes that are not UTF-8", () => {
    expect(canonicalPath("/é", new Uint8Array([0x2f, 0xe9]))).toBeNull();
    expect(canonicalPath("/é", new Uint8Array([0x2f, 0xc3, 0xa9]))).toBe("/é");
  });

  it.each([
    ["", "/"],
    ["/", "/"],
    ["/users/7", "/users/7"],
    ["/users//7/", "/users/7"],
    ["users", "/users"],
    ["/a%2Fb", "/a%252Fb"],
    ["/100%", "/100%25"],
    ["/%zz", "/%25zz"],
    ["/café/😀/", "/café/😀"],
    ["/\ud83d", null],
    ["/\ude00/x", null],
  ])("treats the path %j without a raw path as decoded: %j", (path, canonical) => {
    expect(canonicalPath(path)).toBe(canonical);
  });

  it.each([
    ["", "/"],
    ["/", "/"],
    ["/ws/", "/ws/"],
    ["//ws///a//", "//ws///a//"],
    ["/a%2F/%25/", "/a%2F/%25/"],
    ["/%77s", "/ws"],
    ["ws", "/ws"],
  ])("keeps every slash of %j when it is exact: %j", (raw, canonical) => {
    expect(fromRaw(raw, true)).toBe(canonical);
    expect(
      canonicalPath(raw.replace("%2F", "x").replace("%25", "y").replace("%77", "w"), undefined, { exact: true }),
    ).toBe(canonical.replace("%2F", "x").replace("%25", "y"));
  });

  it("reads the raw path if it differs from the path", () => {
    expect(canonicalPath("/admin", bytes("/public"))).toBe("/public");
    expect(canonicalPath("/admin", bytes("/admin"))).toBe("/admin");
    expect(canonicalPath("/admin/", bytes("/admin/"))).toBe("/admin");
    expect(canonicalPath("/a/b", bytes("/a%2Fb"))).toBe("/a%2Fb");
    expect(canonicalPath("/x", new Uint8Array(0))).toBe("/");
  });

  it("returns the segments of the target, each decoded once", () => {
    const segment = fc.unicode({ minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(fc.array(segment), fc.array(fc.boolean()), (segments, escaped) => {
        const target = segments.map((text, index) =>
          escaped[index] ? encodeURIComponent(text) : text.replaceAll(/[%/]/g, encodeURIComponent),
        );
        const canonical = fromRaw(`/${target.join("/")}`);
        expect(canonical?.split("/").slice(1).map(decodeSegment)).toEqual(segments.length === 0 ? [""] : segments);
        expect(canonical?.replaceAll(/%2F|%25/g, "")).not.toContain("%");
      }),
    );
  });

  it("returns the same text for two targets only if their segments are the same", () => {
    const target = fc.array(fc.constantFrom("/", "a", "%2F", "%2f", "%25", "%61", "2F", "25", "%", "é", "%C3%A9"));
    const segmentsOf = (raw: string): string[] | null => {
      try {
        return raw.split("/").filter(Boolean).map(decodeURIComponent);
      } catch {
        return null;
      }
    };
    fc.assert(
      fc.property(target, target, (one, other) => {
        const [first, second] = [one.join(""), other.join("")];
        const same = JSON.stringify(segmentsOf(first)) === JSON.stringify(segmentsOf(second));
        expect(fromRaw(first) === fromRaw(second)).toBe(same);
        expect(fromRaw(first) === null).toBe(segmentsOf(first) === null);
      }),
    );
  });

  it.each(["/", "a", "%", "%2F", "%61", "/a", "é", "%C3%A9", "/%25"])(
    "takes time linear in the length of %j repeated",
    async (unit) => {
      const prepare = (count: number) => {
        const text = `/${unit.repeat(count)}`;
        const raw = bytes(text);
        return () => [canonicalPath(text, raw), canonicalPath(text)];
      };
      expect(await isLinear(prepare, 500)).toBe(true);
    },
  );
});
