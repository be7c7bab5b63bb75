import { describe, expect, it } from "@jest/globals";
import type { HeaderPair } from "../../src/protocol/asgi.js";
import { contentHeaders, HeaderList } from "../../src/protocol/header-list.js";
import { decodeLatin1, encodeLatin1 } from "../../src/protocol/bytes.js";

describe("latin-1", () => {
  it.each([0, 1, 255, 4095, 4096, 4097, 10_000])("is decoded from %i bytes and encoded again", (length) => {
    const bytes = Uint8Array.from({ length }, (_, index) => index % 256);
    const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
    expect([decodeLatin1(bytes), decodeLatin1(Buffer.from(bytes))]).toEqual([text, text]);
    expect([...encodeLatin1(text)]).toEqual([...bytes]);
  });
});

describe("the facts about the body in its headers", () => {
  const cases: readonly (readonly [
    what: string,
    headers: readonly string[],
    type: string | undefined,
    length: number,
  ])[] = [
    ["nothing", [], undefined, 0],
    ["a type and a length", ["Content-Type", "text/plain", "content-length", "5"], "text/plain", 5],
    ["two types", ["content-type", "a/b", "Content-Type", "c/d"], "a/b, c/d", 0],
    ["two lengths", ["content-length", "5", "content-length", "5"], undefined, Number.NaN],
    ["headers with names as long", ["content-typo", "a", "content-lenght", "5"], undefined, 0],
  ];

  it.each(cases)("is the same in pairs of bytes and in a HeaderList: %s", (_what, headers, type, length) => {
    const list = new HeaderList(headers);
    const pairs = [...list].map(([name, value]): HeaderPair => [Buffer.from(name), Uint8Array.from(value)]);
    expect([contentHeaders(list), contentHeaders(pairs)]).toEqual([
      { type, length },
      { type, length },
    ]);
  });

  it("have each coding of the body, in order", () => {
    const headers = ["Content-Encoding", "gzip", "content-encodings", "x", "content-encoding", "br"];
    expect(contentHeaders(new HeaderList(headers)).encoding).toBe("gzip, br");
    expect(contentHeaders([...new HeaderList(headers)]).encoding).toBe("gzip, br");
  });

  it("are the ones that the creator of a HeaderList found", () => {
    const content = { type: "a/b", length: 7 };
    expect(contentHeaders(new HeaderList([], content))).toBe(content);
    expect(contentHeaders(undefined)).toEqual({ type: undefined, length: 0 });
  });
});
