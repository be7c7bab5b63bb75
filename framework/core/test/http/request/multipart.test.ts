import { describe, expect, it } from "@jest/globals";
import * as fc from "../../../../test/support/fast-check.js";
import { MultipartError, MultipartParser } from "../../../src/http/request/multipart.js";

interface Part {
  readonly name: string;
  readonly filename: string | null;
  readonly type: string | undefined;
  readonly content: string;
}

/** Cuts bytes into chunks of this size. */
function* cut(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function parserOf(chunks: Iterable<Uint8Array>, boundary: string): MultipartParser {
  const iterator = chunks[Symbol.iterator]();
  return new MultipartParser(() => Promise.resolve(iterator.next().value ?? null), boundary);
}

/** Every part of a body, its content as latin-1. */
async function parse(chunks: Iterable<Uint8Array>, boundary = "b"): Promise<Part[]> {
  const parser = parserOf(chunks, boundary);
  const parts: Part[] = [];
  for (let head = await parser.next(); head; head = await parser.next()) {
    const content: Uint8Array[] = [];
    for await (const chunk of parser.content()) content.push(chunk);
    const { name, filename, contentType: type } = head;
    parts.push({ name, filename, type, content: Buffer.concat(content).toString("latin1") });
  }
  return parts;
}

const parseText = (body: string, boundary?: string) => parse([Buffer.from(body)], boundary);

const DISPOSITION = "Content-Disposition: form-data";
const part = (parameters: string, content = "x", headers = "") =>
  `--b\r\n${DISPOSITION}; ${parameters}\r\n${headers}\r\n${content}\r\n`;
const field = (...args: Parameters<typeof part>) => `${part(...args)}--b--\r\n`;

describe("a multipart body", () => {
  it.each<[string, string, string[]]>([
    ["parts in their order", `${part("name=a", "1")}${part("name=b", "2")}--b--`, ["1", "2"]],
    ["no parts", "--b--\r\n", []],
    ["a carriage return at the end of its content", field("name=a", "x\r"), ["x\r"]],
    ["a preamble and an epilogue", `this is MIME\r\n${field('name="a"', "1")}epilogue --b`, ["1"]],
    ["spaces behind a boundary, RFC 2046 §5.1.1", field('name="a"', "1").replace("--b\r\n", "--b \t\r\n"), ["1"]],
    ["no line end behind the last boundary", field('name="a"', "1").trimEnd(), ["1"]],
    ["an empty content", field('name="a"', ""), [""]],
    ["line ends in its content", field('name="a"', "\r\n\r\n1\r\n"), ["\r\n\r\n1\r\n"]],
    ["beginnings of the boundary in its content", field('name="a"', "\r\n-\r\n--\r\r\n--"), ["\r\n-\r\n--\r\r\n--"]],
    ["a boundary inside a line of its content", field('name="a"', "x--b\r\n"), ["x--b\r\n"]],
  ])("may have %s, split anywhere", async (_what, body, contents) => {
    const whole = await parseText(body);
    expect(whole.map(({ content }) => content)).toEqual(contents);
    const bytes = Buffer.from(body);
    for (let at = 1; at < bytes.length; at++) {
      expect(await parse([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(whole);
    }
    expect(await parse(cut(bytes, 1))).toEqual(whole);
  });

  it.each<[string, string, string | null]>([
    ["the name of a file", 'name="f"; filename="a b.txt"', "a b.txt"],
    ["no quotes", "name=f; filename=a.txt", "a.txt"],
    ["parameters in any order and case, with spaces", 'FileName="a.txt" ;  NAME="f"', "a.txt"],
    ["UTF-8, RFC 7578 §5.1", 'name="f"; filename="naïve 😀.txt"', "naïve 😀.txt"],
    ["what browsers escape", 'name="f"; filename="a%22b%0D%0A.txt"', 'a"b.txt'],
    ["a percent sign that escapes nothing", 'name="f"; filename="100%25.txt"', "100%25.txt"],
    ["quotes behind backslashes", 'name="f"; filename="a\\"b\\".txt"', 'a"b".txt'],
    ["a path of Windows, of which the last part counts", 'name="f"; filename="C:\\dir\\a.txt"', "a.txt"],
    ["a path, of which the last part counts", 'name="f"; filename="../../etc/passwd"', "passwd"],
    ["a directory", 'name="f"; filename="a/"', ""],
    ["the directory above", 'name="f"; filename=".."', ""],
    ["a backslash at its end", 'name="f"; filename="a\\"', ""],
    ["a semicolon in quotes", 'name="f"; filename="a;b=c.txt"', "a;b=c.txt"],
    ["control characters, which are dropped", 'name="f"; filename="a\u0001\u007f.txt"', "a.txt"],
    ["an extended one, RFC 8187", "name=f; filename*=UTF-8''na%C3%AFve.txt", "naïve.txt"],
    ["an extended one in latin-1", "name=f; filename*=iso-8859-1'en'na%EFve.txt", "naïve.txt"],
    ["both, of which the extended counts", "name=f; filename=plain; filename*=utf-8''ext", "ext"],
    ["an extended one that hides a path", "name=f; filename*=utf-8''..%2F..%2Fx%00y", "xy"],
    ["an extended one that cannot be read", "name=f; filename=plain; filename*=utf-16''a", "plain"],
    ["an extended one of invalid UTF-8", "name=f; filename=plain; filename*=utf-8''%FF", "plain"],
    ["none", 'name="f"', null],
    ["an empty one", 'name="f"; filename=""', ""],
  ])("reads %s", async (_what, parameters, filename) => {
    expect(await parseText(field(parameters))).toMatchObject([{ name: "f", filename, content: "x" }]);
  });

  it("reads names as they are", async () => {
    for (const name of ["__proto__", "a[b]", "naïve", "", "a b", "a'b", "a\\\\b", "\\"]) {
      expect(await parseText(field(`name="${name}"`))).toMatchObject([{ name }]);
    }
  });

  it("stores the headers of a part in an object without a prototype", async () => {
    const parser = parserOf([Buffer.from(field("name=a", "", "X-Own: v \r\n__proto__: w\r\n"))], "b");
    const headers = (await parser.next())?.headers ?? {};
    expect(Object.getPrototypeOf(headers)).toBeNull();
    expect(Object.entries(headers)).toEqual([
      ["content-disposition", "form-data; name=a"],
      ["x-own", "v"],
      ["__proto__", "w"],
    ]);
  });

  it.each<[string, string]>([
    ["nothing", ""],
    ["no boundary", "hello"],
    ["another boundary", field("name=a").replaceAll("--b", "--c")],
    ["no end", field("name=a").slice(0, -6)],
    ["half of its end", field("name=a").slice(0, -3)],
    ["an end in the headers", "--b\r\nContent-Disposition: form"],
    ["text behind a boundary", field("name=a").replace("--b\r\n", "--bc\r\n")],
    ["no headers", "--b\r\n\r\nx\r\n--b--"],
    ["a header without a colon", field("name=a", "x", "nonsense\r\n")],
    ["a header without a name", field("name=a", "x", ": v\r\n")],
    ["a space before a colon", field("name=a", "x", "X : v\r\n")],
    ["a folded header", field("name=a", "x", "X: a\r\n b\r\n")],
    ["a header that comes twice", field("name=a", "x", "X: a\r\nx: b\r\n")],
    ["two dispositions", field("name=a", "x", `${DISPOSITION}; name=b\r\n`)],
    ["line feeds alone", field("name=a").replaceAll("\r\n", "\n")],
    ["a line feed in a header", field("name=a", "x", "X: a\nY: b\r\n")],
    ["a carriage return in a header", field("name=a", "x", "X: a\rY: b\r\n")],
    ["a zero byte in a header", field("name=a\0b")],
    ["another disposition", field("name=a").replace("form-data", "attachment")],
    ["no name", field("filename=a")],
    ["two names", field("name=a; name=b")],
    ["a name without its second quote", field('name="a')],
    ["text behind a quoted name", field('name="a"b')],
    ["a parameter without a value", field("name=a; filename")],
    ["an encoding, RFC 7578 §4.7", field("name=a", "eA==", "Content-Transfer-Encoding: base64\r\n")],
    ["headers of more than 16 KiB", field("name=a", "x", `X: ${"x".repeat(16 * 1024)}\r\n`)],
    ["headers without an end", `--b\r\n${"X".repeat(1024 * 1024)}`],
  ])("with %s is rejected", async (_what, body) => {
    await expect(parseText(body)).rejects.toThrow(MultipartError);
    await expect(parse(cut(Buffer.from(body), 7))).rejects.toThrow(MultipartError);
  });

  it("is read to its end even if its parts are not read", async () => {
    const parser = parserOf(cut(Buffer.from(field("name=a", "x".repeat(1000))), 10), "b");
    expect(await parser.next()).toMatchObject({ name: "a" });
    expect(await parser.next()).toBeNull();
    expect(await parser.next()).toBeNull();
  });
});

const text = fc.oneof(fc.string(), fc.string({ unit: "grapheme" }), fc.stringMatching(/^[\r\n\-bound]{0,40}$/));

/** What Node's own parser makes of a body. */
async function parseByNode(bytes: Uint8Array, type: string): Promise<unknown[]> {
  // oxlint-disable-next-line typescript/no-deprecated -- another parser to compare with, which no library is part of
  const form = await new Response(bytes, { headers: { "content-type": type } }).formData();
  return Promise.all(
    [...form.entries()].map(async ([name, value]) =>
      typeof value === "string"
        ? [name, value]
        : [name, value.name.slice(value.name.search(/[^/\\]*$/)), value.type, await value.text()],
    ),
  );
}

describe("any form", () => {
  it("is read as Node's own parser reads it, split anywhere", async () => {
    // oxlint-disable-next-line no-control-regex -- they, and their escapes, are dropped from the names of files alone
    const filename = text.map((name) => name.replaceAll(/[\0-\x1F\x7F]|%0[AD]|^\.*$/gi, "x"));
    const file = fc.record({ filename, content: text });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(text, fc.oneof(text, file)), { maxLength: 5 }),
        fc.integer({ min: 1, max: 200 }),
        async (parts, size) => {
          const form = new FormData();
          for (const [name, value] of parts) {
            if (typeof value === "string") form.append(name, value);
            else form.append(name, new File([value.content], value.filename, { type: "text/x-any" }));
          }
          const sent = new Response(form);
          const type = sent.headers.get("content-type") ?? "";
          const bytes = Buffer.from(await sent.arrayBuffer());
          const boundary = /boundary="?([^";]+)/.exec(type)?.[1] ?? "";
          const ours = (await parse(cut(bytes, size), boundary)).map((read) => {
            const content = Buffer.from(read.content, "latin1").toString();
            return read.filename === null ? [read.name, content] : [read.name, read.filename, read.type, content];
          });
          expect(ours).toEqual(await parseByNode(bytes, type));
        },
      ),
    );
  });

  it("with any bytes in any place is read or rejected", async () => {
    const valid = Buffer.from(field('name="a"; filename="b"', "x\r\n--", "Content-Type: text/plain\r\n"));
    const change = fc.record({
      at: fc.nat(valid.length),
      drop: fc.nat(5),
      put: fc.stringMatching(/^[\r\n\-b:;="x\0]{0,5}$/),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 4 }), fc.integer({ min: 1, max: 50 }), async (changes, size) => {
        let body = valid;
        for (const { at, drop, put } of changes) {
          body = Buffer.concat([body.subarray(0, at), Buffer.from(put), body.subarray(at + drop)]);
        }
        const outcome = await parse(cut(body, size)).catch((error: unknown) => error);
        const isRefused = outcome instanceof MultipartError;
        expect(isRefused || Array.isArray(outcome)).toBe(true);
      }),
      { numRuns: fc.runs(500) },
    );
  });
});

describe("a hostile body", () => {
  const SIZE = 16 * 1024 * 1024;
  const boundary = "a".repeat(70);
  const framed = (content: Uint8Array) => [
    Buffer.from(`--${boundary}\r\n${DISPOSITION}; name=f; filename=f\r\n\r\n`),
    ...cut(content, 64 * 1024),
    Buffer.from(`\r\n--${boundary}--`),
  ];

  // With the square of their size these would take hours.
  it.each<[string, Uint8Array]>([
    ["carriage returns", Buffer.alloc(SIZE, "\r")],
    ["line ends", Buffer.alloc(SIZE, "\r\n")],
    ["the boundary but for its last character", Buffer.alloc(SIZE, `\r\n--${boundary.slice(1)}`)],
    ["the character of which the boundary is made", Buffer.alloc(SIZE, "a")],
  ])("of %s takes time by its length", async (_what, content) => {
    const parser = parserOf(framed(content), boundary);
    await parser.next();
    let length = 0;
    for await (const chunk of parser.content()) length += chunk.length;
    expect(length).toBe(SIZE);
    expect(await parser.next()).toBeNull();
  });

  it("in single bytes takes time by its length", async () => {
    const body = field("name=f; filename=f", "\r".repeat(200_000), `X: ${"x".repeat(16_000)}\r\n`);
    expect(await parse(cut(Buffer.from(body), 1))).toMatchObject([{ content: "\r".repeat(200_000) }]);
  });

  it("of quotes and escapes takes time by its length", async () => {
    const escapes = '\\"'.repeat(7000);
    expect(await parseText(field(`name="${escapes}"`))).toMatchObject([{ name: '"'.repeat(7000) }]);
    // RFC 9110 §5.6.6: a parameter may be empty.
    expect(await parseText(field(`name=a${";".repeat(15_000)}`))).toMatchObject([{ name: "a" }]);
    await expect(parseText(field(`name=a${";b".repeat(7000)}`))).rejects.toThrow(MultipartError);
  });
});
