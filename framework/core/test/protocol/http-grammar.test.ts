import { describe, expect, it } from "@jest/globals";
import * as fc from "../../../test/support/fast-check.js";
import { isLinear } from "../../../test/support/growth.js";
import {
  compileHost,
  isAuthority,
  isFieldValue,
  isToken,
  parseHost,
  parseList,
  parseMediaType,
  parseParameters,
  trimOWS,
} from "../../src/protocol/http-grammar.js";
import { chooseCoding } from "../../src/http/request/accept-encoding.js";
import { cookieValues } from "../../src/http/request/cookies.js";
import { Request } from "../../src/http/request.js";
import { parsePartHead } from "../../src/http/request/multipart.js";
import { addVary, ResponseHeaders } from "../../src/http/response/headers.js";
import { listsTag } from "../../src/http/response/conditions.js";

/** Characters that `trim()` and `\s` treat as white space, but HTTP does not. */
const OTHER_SPACES = "\u000b\u000c\u00a0\u1680\u2000\u2028\u2029\u202f\u205f\u3000\ufeff\u0085".split("");

const entriesOf = (text: string) => {
  const parameters = parseParameters(text);
  return parameters && [...parameters];
};

describe("a token (RFC 9110 §5.6.2)", () => {
  it.each(["a", "X-API-Key", "!#$%&'*+-.^_`|~09AZaz"])("is %s", (text) => expect(isToken(text)).toBe(true));
  it.each(["", " a", "a ", "a b", "a:", "é", 'a"', "a\n", "a/b", ...OTHER_SPACES.map((space) => `${space}a`)])(
    "is not %j",
    (text) => expect(isToken(text)).toBe(false),
  );
});

describe("white space", () => {
  it("is SP and HTAB, at both ends", () => {
    expect(trimOWS(" \t a b\t ")).toBe("a b");
    expect(trimOWS(" \t ")).toBe("");
    expect(trimOWS("a")).toBe("a");
  });

  it.each(OTHER_SPACES)("is not %j", (space) => {
    expect(trimOWS(`${space}a${space}`)).toBe(`${space}a${space}`);
    expect(parseList(`${space}a,b`)).toEqual([`${space}a`, "b"]);
    expect(parseMediaType(`${space}text/plain${space};a=b`)).toBe(`${space}text/plain${space}`);
    expect(entriesOf(`x;${space}a=b`)).toBeNull();
    expect(parseHost(`${space}example.com`)).toBeNull();
  });

  it.each(OTHER_SPACES)("does not include %j when a field is read", (space) => {
    const scope = { type: "http", method: "GET", path: "/" } as const;
    const cookie = Buffer.from(`${space}__Host-session=theirs; a=${space}b${space}`, "latin1");
    const request = new Request({ ...scope, headers: [[Buffer.from("cookie"), cookie]] }, async () => ({
      type: "http.disconnect",
    }));
    expect(request.cookies["__Host-session"]).toBeUndefined();
    expect(cookieValues(`${space}__Host-session=theirs`, "__Host-session")).toEqual([]);
    expect(chooseCoding(`${space}gzip`, ["gzip"]).coding).toBeNull();
    expect(listsTag(`${space}*`, '"a"', "weak")).toBe(false);
    const disposition = (text: string) => parsePartHead([`content-disposition: ${text}`]);
    expect(disposition(`form-data${space}; name="a"`)).toEqual(expect.any(String));
    expect(disposition(`form-data;${space}name="a"`)).toEqual(expect.any(String));
    expect(disposition(`form-data; name="a"${space}`)).toEqual(expect.any(String));
    expect(parsePartHead([`content-disposition: form-data; name="a"`, `x-a:${space}b`])).toMatchObject({
      headers: { "x-a": `${space}b` },
    });
    if (isFieldValue(space)) {
      const headers = new ResponseHeaders([["vary", `${space}origin`]]);
      addVary(headers, "Origin");
      expect(headers.get("vary")).toBe(`${space}origin, Origin`);
    }
  });
});

describe("a list (RFC 9110 §5.6.1)", () => {
  it.each<[string, string[]]>([
    ["", []],
    [" , ,\t,", []],
    ["a, b ,c", ["a", "b", "c"]],
    ['a;q="1,2", b', ['a;q="1,2"', "b"]],
    ['a="\\",", b', ['a="\\","', "b"]],
    ['a, "b, c', ["a", '"b, c']],
  ])("of %j has %j", (text, members) => expect(parseList(text)).toEqual(members));
});

describe("parameters (RFC 9110 §5.6.6)", () => {
  it.each<[string, [string, string][] | null]>([
    ["form-data", []],
    ["form-data;", []],
    ["form-data ; ;\t", []],
    ["x;a=b", [["a", "b"]]],
    [
      "x \t; \tA=b \t; c=d ",
      [
        ["a", "b"],
        ["c", "d"],
      ],
    ],
    [
      'x; name="a b"; filename="c;d"',
      [
        ["name", "a b"],
        ["filename", "c;d"],
      ],
    ],
    ['x; a=""', [["a", ""]]],
    ['x; a="\\"b\\""', [["a", '"b"']]],
    ['x; a="C:\\b\\"', [["a", "C:\\b\\"]]],
    ['x; name = "a"', null],
    ['x; name ="a"', null],
    ['x; name= "a"', null],
    ["x; name= a", null],
    ["x; name=", null],
    ["x; name", null],
    ["x; =a", null],
    ["x; a=b c", null],
    ['x; a="b" c', null],
    ['x; a="b', null],
    ['x; a=b"c"', null],
    ["x; a=b; A=c", null],
    ["x; a=b, c", null],
    ["x; a=b,c", null],
    [
      "x; boundary====17===; b=c",
      [
        ["boundary", "===17==="],
        ["b", "c"],
      ],
    ],
    ["x; boundary=-X/a:b?(c)'d+e_f.g@[h]{i}<j>", [["boundary", "-X/a:b?(c)'d+e_f.g@[h]{i}<j>"]]],
    ["x; a=b\\c", null],
    ["x; a=\u00e9", null],
  ])("of %j are %j", (text, expected) => expect(entriesOf(text)).toEqual(expected));

  it("return the original value of quoted strings", () => {
    const token = fc.stringMatching(/^[a-z]{1,8}$/);
    const text = fc.stringMatching(/^[ !#-[\]-~]{0,20}$/);
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(token, text), { selector: ([name]) => name, maxLength: 5 }), (pairs) => {
        expect(entriesOf(`x${pairs.map(([name, value]) => `; ${name}="${value}"`).join("")}`)).toEqual(pairs);
      }),
    );
  });
});

describe("hosts", () => {
  it.each<[string, boolean, boolean]>([
    ["example.com", true, true],
    ["example.com.", true, true],
    ["example.com:", true, true],
    ["example.com:65536", false, false],
    ["[::1]:80", true, true],
    ["[::g]", false, false],
    ["[127.0.0.1]", false, false],
    ["a%41", true, false],
    ["a,b", true, false],
    ["", false, false],
    ["a b", false, false],
    ["a/b", false, false],
    ["user@a", false, false],
  ])("%j is an authority: %s, a host on a network: %s", (text, authority, host) => {
    expect([isAuthority(text), parseHost(text) !== null]).toEqual([authority, host]);
  });

  it.each<[unknown]>([["https://a"], ["a/"], [""], ["*."], ["*.[::1]"], ["a.*"], [undefined], [1], ["a "]])(
    "%j is not a valid entry of a list of hosts",
    (entry) => expect(compileHost(entry)).toBeNull(),
  );
});

describe("the parsers take time linear in the length of the text", () => {
  const attacks: readonly [string, (length: number) => string][] = [
    ["blanks", (length) => " ".repeat(length)],
    ["blanks between names", (length) => `a${" \t".repeat(length / 2)}b`],
    ["commas", (length) => ",".repeat(length)],
    ["semicolons", (length) => ";".repeat(length)],
    ["quotes", (length) => '"'.repeat(length)],
    ["one open quote", (length) => `a="${"\\".repeat(length)}`],
    ["escaped quotes and blanks", (length) => `x; a="${'\\"  '.repeat(length / 4)}`],
    ["blanks in front of semicolons", (length) => `x;${"  ;".repeat(length / 3)}`],
    ["a semicolon, blanks and no name", (length) => `x;${" ".repeat(length)}"`],
    ["a value, blanks and no semicolon", (length) => `x;a=b${" ".repeat(length)}"`],
    ["names without a value", (length) => `x;${"a".repeat(length)}`],
    ["dots", (length) => "a.".repeat(length / 2)],
    ["brackets", (length) => "[".repeat(length)],
  ];
  const parsers: readonly [string, (text: string) => unknown][] = [
    ["trimOWS", trimOWS],
    ["parseList", parseList],
    ["parseMediaType", parseMediaType],
    ["parseParameters", parseParameters],
    ["isToken", isToken],
    ["isAuthority", isAuthority],
    ["parseHost", parseHost],
  ];

  it.each(parsers.flatMap(([parser, parse]) => attacks.map(([what, make]) => [parser, what, parse, make] as const)))(
    "in %s of %s",
    async (_parser, _what, parse, make) => {
      const prepare = (length: number) => {
        const text = make(length);
        return () => parse(text);
      };
      expect(await isLinear(prepare, 500)).toBe(true);
    },
  );
});
