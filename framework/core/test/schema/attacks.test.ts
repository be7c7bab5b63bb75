/** Inputs made to cost more than they should. */
import { describe, expect, it } from "@jest/globals";
import { Body, Cookie, Form, Header, type Params, Query, t } from "../../src/index.js";
import { isLinear } from "../../../test/support/growth.js";
import type { Sent } from "../../../test/support/call.js";
import { probe } from "../../../test/support/probe.js";

const N = 100_000;
const FORMATS = [
  "date-time",
  "date",
  "time",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uri",
  "uri-reference",
  "uuid",
  "json-pointer",
  "regex",
  "byte",
] as const;
const PIECES = [
  "1",
  "a",
  ".",
  "-",
  ":",
  "1.",
  "a.",
  "a@",
  "/",
  "~",
  "~0",
  "=",
  "P1",
  "1:",
  "%41",
  "(",
  "[",
  "a-",
  "http://a\u0301\u0316",
  "\u0301\u0316",
  "%CC%81%CC%96",
];

/** A quadratic expression would take minutes for these, and the test would time out. */
describe("a text of 100,000 characters", () => {
  it.each(FORMATS)("is rejected or accepted by the format %s in linear time", async (format) => {
    const ask = probe({ b: Body(t.String({ format })) });
    for (const piece of format === "regex" ? ["(", "a"] : PIECES) {
      for (const end of ["", "!"]) {
        const json = `${format.startsWith("uri") ? "http://a" : ""}${piece.repeat(N / piece.length)}${end}`;
        const answer = await ask("/", { json });
        expect([200, 422]).toContain(answer.status);
      }
    }
  });

  it.each([
    ["integer", t.Integer()],
    ["number", t.Number()],
    ["boolean", t.Boolean()],
    ["date", t.Date()],
    ["enum", t.Enum({ a: 1, b: 2 })],
    ["union", t.Union([t.Integer(), t.Number(), t.Date(), t.Literal("x")])],
  ])("is rejected as %s in linear time", async (_name, schema) => {
    const ask = probe({ f: Form(schema as never) });
    for (const text of [
      "1".repeat(N),
      `${"1".repeat(N)}x`,
      `${"1".repeat(N)}.`,
      `${"1".repeat(N)}e`,
      `1e${"9".repeat(N)}`,
      `.${"1".repeat(N)}x`,
      "t".repeat(N),
    ]) {
      expect([200, 422]).toContain((await ask("/", { form: `f=${text}` })).status);
    }
  });
});

describe("parsers", () => {
  const cases: [string, Params, (size: number) => [string, Sent]][] = [
    ["a query of many names", { q: Query({ default: null }) }, (size) => [`/?${"a=1&".repeat(size)}`, {}]],
    ["a query of one repeated name", { q: t.Array(t.String()) }, (size) => [`/?${"q=1&".repeat(size)}`, {}]],
    ["a query of escapes", { q: Query() }, (size) => [`/?q=${"%41%".repeat(size)}`, {}]],
    [
      "many cookies",
      { c: Cookie({ default: null }) },
      (size) => ["/", { headers: [["cookie", "a=1; ".repeat(size)]] }],
    ],
    [
      "cookies of separators",
      { c: Cookie({ default: null }) },
      (size) => ["/", { headers: [["cookie", ";= %".repeat(size)]] }],
    ],
    ["one cookie of escapes", { c: Cookie() }, (size) => ["/", { headers: [["cookie", `c=${"%41%".repeat(size)}`]] }]],
    [
      "many headers",
      { h: Header(t.Array(t.String())) },
      (size) => ["/", { headers: Array.from({ length: size / 10 }, () => ["h", "1"] as const) }],
    ],
    [
      "a long content type",
      { b: Body({ default: null }) },
      (size) => ["/", { text: "1", headers: [["content-type", "a;".repeat(size)]] }],
    ],
    ["JSON of brackets", { b: Body(t.Unknown()) }, (size) => ["/", { text: "[".repeat(size) }]],
    ["JSON of quotes", { b: Body(t.Unknown()) }, (size) => ["/", { text: `"${'\\"'.repeat(size)}` }]],
    [
      "JSON of `__proto__`",
      { b: Body(t.Unknown()) },
      (size) => ["/", { text: `[${'{"__proto__":1},'.repeat(size / 4)}1]` }],
    ],
    [
      "JSON of many keys",
      { b: Body(t.Record(t.String(), t.Integer())) },
      (size) => ["/", { json: Object.fromEntries(Array.from({ length: size / 4 }, (_, i) => [`k${i}`, i])) }],
    ],
    [
      "a list that should have no item twice",
      { b: Body(t.Array(t.Unknown(), { uniqueItems: true })) },
      (size) => ["/", { json: Array.from({ length: size / 4 }, (_, i) => ({ i })) }],
    ],
    [
      "a list that should contain",
      { b: Body(t.Array(t.Unknown(), { contains: t.Object({ x: t.Integer() }) })) },
      (size) => ["/", { json: Array.from({ length: size / 4 }, (_, i) => ({ i })) }],
    ],
  ];

  it.each(cases)("take a time in proportion to the input: %s", async (_name, params, make) => {
    const ask = probe(params, { limits: { bodyBytes: 16 * 1024 * 1024 } });
    const prepare = (size: number) => {
      const sent = make(size);
      return () => ask(...sent);
    };
    expect(await isLinear(prepare, 1000)).toBe(true);
  });
});

describe("a schema with many ways through it", () => {
  const deep = (levels: number, leaf: object) => {
    let value: object = leaf;
    for (let level = 0; level < levels; level++) value = { a: value };
    return value;
  };

  it.each([
    [
      "a recursive union of look-alikes",
      t.Recursive((This) =>
        t.Union([
          t.Object({ a: t.Optional(This), x: t.Literal(1) }),
          t.Object({ a: t.Optional(This), y: t.Literal(1) }),
          t.Object({ a: t.Optional(This), z: t.Literal(1) }),
        ]),
      ),
    ],
    [
      "a recursive intersection",
      t.Recursive((This) =>
        t.Intersect([t.Object({ a: t.Optional(This) }), t.Object({ a: t.Optional(This), y: t.Literal(1) })]),
      ),
    ],
    [
      "a recursive negation",
      t.Recursive((This) =>
        t.Intersect([t.Object({ a: t.Optional(This) }), t.Not(t.Object({ a: This, z: t.Literal(1) }))]),
      ),
    ],
    [
      "a recursive list that contains",
      t.Recursive((This) =>
        t.Object({ a: t.Optional(t.Union([This, t.Array(This, { contains: This })])), y: t.Literal(1) }),
      ),
    ],
  ])("is walked in time that a deep value cannot drive up: %s", async (_name, schema) => {
    const ask = probe({ b: Body(schema) });
    for (const leaf of [{}, { y: 1 }, { q: 1 }]) {
      expect([200, 422]).toContain((await ask("/", { json: deep(90, leaf) })).status);
    }
  });

  it("made of shared parts instead of references is too", async () => {
    let schema = t.Object({ end: t.Literal(1) }) as never;
    for (let level = 0; level < 40; level++) {
      schema = t.Union([t.Object({ a: schema, x: t.Literal(1) }), t.Object({ a: schema, y: t.Literal(1) })]) as never;
    }
    expect((await probe({ b: Body(schema) })("/", { json: deep(40, { end: 1 }) })).status).toBe(422);
  });

  it("is rejected if a text exceeds the stack of its pattern", async () => {
    const ask = probe({ b: Body(t.String({ pattern: "^(?:a|%[0-9A-F]{2})*$" })) }, { limits: { bodyBytes: 2 ** 25 } });
    expect((await ask("/", { json: "a".repeat(2 ** 24) })).faults).toMatchObject([
      { type: "value_error", loc: ["body"] },
    ]);
  });

  it("accepts a long array of unions, each item of which is tried", async () => {
    const json = Array.from({ length: 50_000 }, (_, index) => (index % 2 ? index : String(index)));
    const answer = await probe({ b: Body(t.Array(t.Union([t.Boolean(), t.Integer(), t.String()]))) })("/", { json });
    expect(answer.args).toEqual({ b: json });
  });
});
