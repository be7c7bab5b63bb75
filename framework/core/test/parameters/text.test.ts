/** The conversion of texts in paths, query strings, headers and cookies. */
import { expect, it } from "@jest/globals";
import { Cookie, Form, Header, type Params, Path, Query, type Schema, t } from "../../src/index.js";
import { describeMatrix } from "../../../test/support/matrix.js";
import type { Sent } from "../../../test/support/call.js";
import { faultLines } from "../../../test/support/probe.js";

/** Texts, and the value or the error that one schema makes of them. */
type Row = readonly [text: string, expected: unknown, fault?: string];

const TABLES: Record<string, { schema: Params[string]; rows: readonly Row[] }> = {
  integer: {
    schema: t.Integer(),
    rows: [
      ["5", 5],
      ["-5", -5],
      ["+5", 5],
      ["007", 7],
      ["-0", 0],
      ["9007199254740991", 9007199254740991],
      ["-9007199254740991", -9007199254740991],
      ["9007199254740992", undefined, "int_parsing"],
      ["12345678901234567890123", undefined, "int_parsing"],
      ["", undefined, "int_parsing"],
      [" 5", undefined, "int_parsing"],
      ["5 ", undefined, "int_parsing"],
      ["5\n", undefined, "int_parsing"],
      ["1.0", undefined, "int_parsing"],
      ["1e3", undefined, "int_parsing"],
      ["0x10", undefined, "int_parsing"],
      ["1_000", undefined, "int_parsing"],
      ["٣", undefined, "int_parsing"],
      ["NaN", undefined, "int_parsing"],
      ["Infinity", undefined, "int_parsing"],
      ["null", undefined, "int_parsing"],
      ["__proto__", undefined, "int_parsing"],
      ["--5", undefined, "int_parsing"],
    ],
  },
  number: {
    schema: t.Number(),
    rows: [
      ["5", 5],
      ["-2.5", -2.5],
      ["+.5", 0.5],
      ["5.", 5],
      ["1e3", 1000],
      ["1E-2", 0.01],
      ["12345678901234567890123", 1.2345678901234568e22],
      ["1e400", undefined, "finite_number"],
      ["-1e400", undefined, "finite_number"],
      ["NaN", undefined, "float_parsing"],
      ["Infinity", undefined, "float_parsing"],
      ["", undefined, "float_parsing"],
      [".", undefined, "float_parsing"],
      ["1e", undefined, "float_parsing"],
      ["1,5", undefined, "float_parsing"],
      ["0x1p3", undefined, "float_parsing"],
    ],
  },
  boolean: {
    schema: t.Boolean(),
    rows: [
      ["true", true],
      ["1", true],
      ["on", true],
      ["yes", true],
      ["false", false],
      ["0", false],
      ["off", false],
      ["no", false],
      ["True", true],
      ["", undefined, "bool_parsing"],
      ["2", undefined, "bool_parsing"],
      ["y", undefined, "bool_parsing"],
      ["constructor", undefined, "bool_parsing"],
    ],
  },
  "date-time": {
    schema: t.Date(),
    rows: [
      ["2024-02-29T12:00:00Z", new Date("2024-02-29T12:00:00Z")],
      ["2024-02-29t12:00:00.123456z", new Date("2024-02-29T12:00:00.123Z")],
      ["2024-02-29 12:00:00+05:30", new Date("2024-02-29T06:30:00Z")],
      ["0001-01-01T00:00:00-00:00", new Date("0001-01-01T00:00:00Z")],
      ["2023-02-29T12:00:00Z", undefined, "datetime_parsing"],
      ["2024-02-29T12:00:00", undefined, "datetime_parsing"],
      ["2024-02-29", undefined, "datetime_parsing"],
      ["2024-02-29T24:00:00Z", undefined, "datetime_parsing"],
      ["2024-02-29T12:00:00+24:00", undefined, "datetime_parsing"],
      ["1709208000", undefined, "datetime_parsing"],
      ["now", undefined, "datetime_parsing"],
      ["", undefined, "datetime_parsing"],
    ],
  },
  "text with a date format": {
    schema: t.String({ format: "date-time" }),
    rows: [
      ["2024-02-29T12:00:00Z", "2024-02-29T12:00:00Z"],
      ["2024-02-29", undefined, "string_format"],
    ],
  },
  enum: {
    schema: t.Enum({ Low: 1, High: "high" }),
    rows: [
      ["1", 1],
      ["high", "high"],
      ["2", undefined, "enum"],
      ["01", undefined, "enum"],
      ["", undefined, "enum"],
      ["__proto__", undefined, "enum"],
      ["toString", undefined, "enum"],
    ],
  },
  "one literal": {
    schema: t.Literal("a"),
    rows: [
      ["a", "a"],
      ["b", undefined, "literal_error"],
    ],
  },
  "a number as a literal": {
    schema: t.Literal(2),
    rows: [
      ["2", 2],
      ["2.0", undefined, "literal_error"],
    ],
  },
  "an enum or null": {
    schema: t.Union([t.Literal("a"), t.Literal("b"), t.Null()]),
    rows: [
      ["a", "a"],
      ["null", undefined, "enum"],
    ],
  },
  "an enum of another library, with null": {
    schema: t.Unsafe({ enum: ["a", null] }),
    rows: [["null", undefined, "enum"]],
  },
  "a template literal": {
    schema: t.TemplateLiteral("v${1|2}"),
    rows: [
      ["v1", "v1"],
      ["v3", undefined, "string_pattern_mismatch"],
    ],
  },
  "a union of number and text": {
    schema: t.Union([t.Integer(), t.String()]),
    rows: [
      ["5", 5],
      ["five", "five"],
    ],
  },
  "a union of text and number": {
    schema: t.Union([t.String(), t.Integer()]),
    rows: [
      ["5", "5"],
      ["007", "007"],
    ],
  },
  "a union of a short text and a number": {
    schema: t.Union([t.String({ maxLength: 2 }), t.Integer()]),
    rows: [
      ["07", "07"],
      ["007", 7],
      ["abc", undefined, "union_error"],
    ],
  },
  "a union whose later number accepts more": {
    schema: t.Union([t.Integer({ minimum: 10 }), t.String(), t.Integer({ maximum: 5 })]),
    rows: [
      ["12", 12],
      ["3", "3"],
    ],
  },
  "a union of integer and number": {
    schema: t.Union([t.Integer(), t.Number()]),
    rows: [
      ["5", 5],
      ["5.5", 5.5],
      ["1e400", undefined, "union_error"],
    ],
  },
  "a union of number and boolean": {
    schema: t.Union([t.Number(), t.Boolean()]),
    rows: [
      ["1", 1],
      ["on", true],
    ],
  },
  "a union of text and boolean": {
    schema: t.Union([t.String(), t.Boolean()]),
    rows: [["true", "true"]],
  },
  "a union of text and date": {
    schema: t.Union([t.String(), t.Date()]),
    rows: [["2024-02-29T12:00:00Z", "2024-02-29T12:00:00Z"]],
  },
  "a union of number, date and null": {
    schema: t.Union([t.Null(), t.Number(), t.Date()]),
    rows: [
      ["2024", 2024],
      ["2024-02-29T12:00:00Z", new Date("2024-02-29T12:00:00Z")],
      ["null", undefined, "union_error"],
    ],
  },
  "a union in a union": {
    schema: t.Union([t.Union([t.Literal("all"), t.Boolean()]), t.Union([t.String({ minLength: 3 }), t.Integer()])]),
    rows: [
      ["all", "all"],
      ["1", true],
      ["123", "123"],
      ["12", 12],
    ],
  },
  "a union of a reference": {
    schema: t.Module({ Level: t.Integer({ maximum: 9 }), Any: t.Union([t.Ref("Level"), t.String()]) }).Import("Any"),
    rows: [
      ["9", 9],
      ["10", "10"],
    ],
  },
  "a list of types": {
    schema: t.Unsafe({ type: ["string", "integer", "null"] }),
    rows: [["5", "5"]],
  },
  "a list of types that begins with a number": {
    schema: t.Unsafe({ type: ["integer", "string"] }),
    rows: [
      ["5", 5],
      ["x", "x"],
    ],
  },
  "an enum of values with the same text": {
    schema: t.Union([t.Literal(1), t.Literal("1")]),
    rows: [["1", 1]],
  },
  "a union with a transform": {
    schema: t.Union([
      t
        .Transform(t.String({ pattern: "^a" }))
        .Decode((text) => text.length)
        .Encode(String),
      t.Integer(),
    ]),
    rows: [
      ["abc", 3],
      ["7", 7],
    ],
  },
  "a union of text and array": {
    schema: t.Union([t.String(), t.Array(t.String())]),
    rows: [["a", "a"]],
  },
  "a union of array and text": {
    schema: t.Union([t.Array(t.String()), t.String()]),
    rows: [["a", ["a"]]],
  },
  "a union of number and an array of texts": {
    schema: t.Union([t.Integer(), t.Union([t.Array(t.String({ maxLength: 2 })), t.Null()])]),
    rows: [
      ["5", 5],
      ["a", ["a"]],
      ["abc", undefined, "union_error"],
    ],
  },
  "a union of a literal and a number": {
    schema: t.Union([t.Literal("all"), t.Integer()]),
    rows: [
      ["all", "all"],
      ["5", 5],
      ["some", undefined, "union_error"],
    ],
  },
  "a union whose number does not fit": {
    schema: t.Union([t.Integer({ minimum: 10 }), t.String()]),
    rows: [
      ["12", 12],
      ["5", "5"],
    ],
  },
  "a union of date and text": {
    schema: t.Union([t.Date(), t.String()]),
    rows: [
      ["2024-02-29T12:00:00Z", new Date("2024-02-29T12:00:00Z")],
      ["yesterday", "yesterday"],
    ],
  },
  "a union of boolean and integer": {
    schema: t.Union([t.Boolean(), t.Integer()]),
    rows: [
      ["true", true],
      ["7", 7],
    ],
  },
  "an integer or null": {
    schema: t.Union([t.Integer(), t.Null()]),
    rows: [
      ["5", 5],
      ["null", undefined, "int_parsing"],
    ],
  },
  "an intersection of texts": {
    schema: t.Intersect([t.String({ minLength: 2 }), t.String({ pattern: "^a" })]),
    rows: [
      ["ab", "ab"],
      ["a", undefined, "string_too_short"],
    ],
  },
  anything: {
    schema: t.Unknown(),
    rows: [["5", "5"]],
  },
};

const CASES = Object.entries(TABLES).flatMap(([name, { schema, rows }]) =>
  rows.map(([text, expected, fault]) => ({ name, schema, text, expected, fault })),
);

describeMatrix("text that becomes a value", ({ probe }) => {
  it.each(CASES)("$name: $text", async ({ schema, text, expected, fault }) => {
    const answer = await probe({ x: Query(schema as never) })(`/?x=${encodeURIComponent(text)}`);
    if (fault === undefined) {
      expect(answer.args).toEqual({ x: expected });
      expect(Object.is((answer.args as { x: unknown }).x, -0)).toBe(false);
    } else {
      expect(answer.status).toBe(422);
      expect(answer.faults).toEqual([{ type: fault, loc: ["query", "x"], msg: expect.any(String), input: text }]);
    }
  });

  it.each<[source: string, marker: (schema: never) => Params[string], sent: Sent, path?: string]>([
    ["path", Path, {}, "/{x}"],
    ["query", Query, {}],
    ["header", Header, { headers: [["x", "007"]] }],
    ["cookie", Cookie, { headers: [["cookie", "x=007"]] }],
    ["form", Form, { form: "x=007" }],
  ])("is the first member of a union that fits, in the %s", async (source, marker, sent, path = "/") => {
    const target = source === "path" ? "/007" : source === "query" ? "/?x=007" : "/";
    const read = async (schema: Schema) => (await probe({ x: marker(schema as never) }, { path })(target, sent)).args;
    expect(await read(t.Union([t.String(), t.Integer()]))).toEqual({ x: "007" });
    expect(await read(t.Union([t.Integer(), t.String()]))).toEqual({ x: 7 });
    expect(await read(t.Union([t.String(), t.Array(t.String())]))).toEqual({ x: "007" });
    expect(await read(t.Union([t.Array(t.Integer()), t.String()]))).toEqual({ x: [7] });
  });

  it.each([
    ["path", { x: Path(t.Integer()) }, "/{x}", "/a", {}],
    ["query", { x: Query(t.Integer()) }, "/", "/?x=a", {}],
    ["header", { x: Header(t.Integer()) }, "/", "/", { headers: [["x", "a"]] as const }],
    ["cookie", { x: Cookie(t.Integer()) }, "/", "/", { headers: [["cookie", "x=a"]] as const }],
    ["form", { x: Form(t.Integer()) }, "/", "/", { form: "x=a" }],
  ])("is described with its source: %s", async (source, params, path, target, sent) => {
    const answer = await probe(params, { path })(target, sent);
    expect(answer.status).toBe(422);
    expect(faultLines(answer)).toEqual([`int_parsing ${source}.x`]);
  });

  it("is sent in the documented form", async () => {
    const answer = await probe({ item_id: t.Integer() }, { path: "/items/{item_id}" })("/items/abc");
    expect(answer.status).toBe(422);
    expect(answer.text).toBe(
      '{"detail":[{"type":"int_parsing","loc":["path","item_id"],"msg":"Input should be a valid integer","input":"abc"}]}',
    );
  });
});

describeMatrix("a parameter function without schema", ({ probe }) => {
  it("returns a string", async () => {
    const answer = await probe({ p: Path(), q: Query(), h: Header(), c: Cookie() }, { path: "/{p}" })("/1?q=2", {
      headers: [
        ["h", "3"],
        ["cookie", "c=4"],
      ],
    });
    expect(answer.args).toEqual({ p: "1", q: "2", h: "3", c: "4" });
  });

  it("accepts an empty string, which differs from an absent one", async () => {
    const ask = probe({ q: Query() });
    expect((await ask("/?q=")).args).toEqual({ q: "" });
    expect((await ask("/?q")).args).toEqual({ q: "" });
    expect(faultLines(await ask("/"))).toEqual(["missing query.q"]);
  });
});

describeMatrix("an absent value", ({ probe }) => {
  it("is an error `missing` in each source, all of them in one response", async () => {
    const answer = await probe({ q: Query(), userAgent: Header(t.Integer()), c: Cookie() })("/");
    expect(answer.status).toBe(422);
    expect(answer.faults).toEqual([
      { type: "missing", loc: ["query", "q"], msg: "Field required", input: null },
      { type: "missing", loc: ["header", "user-agent"], msg: "Field required", input: null },
      { type: "missing", loc: ["cookie", "c"], msg: "Field required" },
    ]);
  });

  it("is null with `default: null` on a parameter function", async () => {
    const params = {
      a: Query({ default: null }),
      b: Header(t.Integer(), { default: null }),
      c: Cookie({ default: null }),
    };
    expect((await probe(params)("/")).args).toEqual({ a: null, b: null, c: null });
    expect((await probe(params)("/?a=1", { headers: [["b", "2"]] })).args).toEqual({ a: "1", b: 2, c: null });
  });

  it("is undefined with t.Optional, bare and in a parameter function, and its name is there", async () => {
    const { args } = await probe({ a: t.Optional(t.Integer()), b: Header(t.Optional(t.String())) })("/");
    expect(args).toEqual({ a: undefined, b: undefined });
    expect(Object.keys(args ?? {})).toEqual(["a", "b"]);
  });

  it("is the default: of the schema, of the parameter function, and the parameter function's wins", async () => {
    const { args } = await probe({
      a: t.Integer({ default: 1 }),
      b: Query(t.Integer({ default: 1 }), { default: 2 }),
      c: Query(t.Integer({ default: 1 })),
      d: Query(t.Integer({ default: 1 }), { default: undefined }),
      e: t.Optional(t.Integer({ default: 5 })),
      f: t.Date({ default: "2024-01-01T00:00:00Z" }),
      g: t.Date({ default: new Date(0) }),
      h: Query(t.Date(), { default: new Date(0) }),
      i: Query({ default: "text" }),
    })("/");
    expect(args).toEqual({
      a: 1,
      b: 2,
      c: 1,
      d: 1,
      e: 5,
      f: new Date("2024-01-01T00:00:00Z"),
      g: new Date(0),
      h: new Date(0),
      i: "text",
    });
  });

  it("gets a separate default for each request", async () => {
    const seen: unknown[][] = [];
    const ask = probe({
      a: Query(t.Array(t.String()), { default: [] as string[] }),
      b: t.Array(t.String(), { default: ["x"] }),
      c: Query(t.Date(), { default: new Date(0) }),
    });
    for (let round = 0; round < 2; round++) {
      const { a, b, c } = (await ask("/")).args as { a: string[]; b: string[]; c: Date };
      seen.push([[...a], [...b], c.getTime()]);
      a.push("changed");
      b.push("changed");
      c.setTime(99);
    }
    expect(seen).toEqual([
      [[], ["x"], 0],
      [[], ["x"], 0],
    ]);
  });

  it("is created by a function that is the default of the schema", async () => {
    let count = 0;
    const ask = probe({ a: t.Integer({ default: () => ++count }) });
    const first = (await ask("/")).args as { a: number };
    const second = (await ask("/")).args as { a: number };
    expect(second.a).toBe(first.a + 1);
  });
});

describeMatrix("a repeated key", ({ keeps, probe }) => {
  it("uses the last value for a scalar", async () => {
    expect((await probe({ n: t.Integer() })("/?n=1&n=2&n=3")).args).toEqual({ n: 3 });
    expect(faultLines(await probe({ n: t.Integer() })("/?n=1&n=x"))).toEqual(["int_parsing query.n"]);
  });

  it("fills an array, even of one item, with enums, dates and unions, and the location of each error", async () => {
    const list = probe({ n: t.Array(t.Integer({ maximum: 5 })) });
    expect((await list("/?n=1&n=2")).args).toEqual({ n: [1, 2] });
    expect((await list("/?n=1")).args).toEqual({ n: [1] });
    expect(faultLines(await list("/?n=1&n=x&n=2&n=y"))).toEqual(["int_parsing query.n.1", "int_parsing query.n.3"]);
    expect(faultLines(await list("/?n=1&n=9"))).toEqual(["less_than_equal query.n.1"]);
    expect(faultLines(await list("/"))).toEqual(["missing query.n"]);
    const enums = probe({ e: t.Array(t.Enum({ A: 1, B: "b" })) });
    expect((await enums("/?e=1&e=b")).args).toEqual({ e: [1, "b"] });
    expect(faultLines(await enums("/?e=1&e=c"))).toEqual(["enum query.e.1"]);
    expect((await probe({ d: t.Array(t.Date()) })("/?d=2024-01-01T00:00:00Z")).args).toEqual({
      d: [new Date("2024-01-01T00:00:00Z")],
    });
    expect((await probe({ u: t.Array(t.Union([t.Literal("all"), t.Integer()])) })("/?u=1&u=all")).args).toEqual({
      u: [1, "all"],
    });
  });

  it("fills a tuple item by item", async () => {
    const ask = probe({ at: t.Tuple([t.Number(), t.String()]) });
    expect((await ask("/?at=1.5&at=x")).args).toEqual({ at: [1.5, "x"] });
    expect(faultLines(await ask("/?at=1.5"))).toEqual(["too_short query.at"]);
    expect(faultLines(await ask("/?at=1&at=b&at=c"))).toEqual(["too_long query.at"]);
  });

  it.each<[dialect: string, keywords: object]>([
    ["2020-12", { prefixItems: [{ type: "integer" }], items: { type: "number" } }],
    ["draft-07", { items: [{ type: "integer" }], additionalItems: { type: "number" } }],
  ])("uses the schema of the rest items after the items of a tuple of %s", async (_dialect, keywords) => {
    const ask = probe({ at: t.Unsafe({ type: "array", ...keywords }) });
    expect((await ask("/?at=1&at=2.5&at=3")).args).toEqual({ at: [1, 2.5, 3] });
    expect(faultLines(await ask("/?at=1.5&at=x"))).toEqual(["int_parsing query.at.0", "float_parsing query.at.1"]);
  });

  it("reports both an invalid number and too few items", async () => {
    const ask = probe({ n: t.Array(t.Integer(), { minItems: 2, uniqueItems: true }) });
    expect(faultLines(await ask("/?n=1"))).toEqual(["too_short query.n"]);
    expect(faultLines(await ask("/?n=1&n=1"))).toEqual(["unique_items query.n"]);
  });

  it("is the array of a union that has one, and the scalar if it was sent once", async () => {
    for (const schema of [
      t.Union([t.Integer(), t.Array(t.Integer()), t.String()]),
      t.Union([t.Union([t.Integer(), t.Array(t.Integer())]), t.Null(), t.String()]),
    ]) {
      const ask = probe({ x: Query(schema as never) });
      expect((await ask("/?x=1")).args).toEqual({ x: 1 });
      expect((await ask("/?x=1&x=2")).args).toEqual({ x: [1, 2] });
      expect((await ask("/?x=a")).args).toEqual({ x: "a" });
      expect(faultLines(await ask("/?x=a&x=b"))).toEqual(["union_error query.x"]);
    }
  });

  it("of a header is the last line for a scalar", async () => {
    const headers = [
      ["X-Tag", "a, b"],
      ["x-tag", "c"],
    ] as const;
    const value = keeps.headerLines ? "c" : "a, b, c";
    expect((await probe({ x_tag: Header() })("/", { headers })).args).toEqual({ x_tag: value });
  });
});

describeMatrix("an array in a header", ({ probe }) => {
  const read = async (schema: Schema, ...lines: readonly string[]) => {
    const headers = lines.map((line): [string, string] => ["x-tag", line]);
    const whole = await probe({ x: Header(schema, { alias: "x-tag" }) })("/", { headers });
    const inObject = await probe({ h: Header(t.Object({ xTag: schema as never })) })("/", { headers });
    expect(inObject.args?.["h"]).toEqual(whole.args && { xTag: whole.args["x"] });
    return whole.args ? whole.args["x"] : faultLines(whole);
  };

  it.each<[how: string, lines: readonly string[], expected: unknown]>([
    ["separated by commas", ["1,2, 3"], [1, 2, 3]],
    ["in several lines", ["1, 2", "3"], [1, 2, 3]],
    ["a single one", ["1"], [1]],
    ["without the empty ones", [",1,,2 ,"], [1, 2]],
    ["of an empty header", [""], []],
    ["with an invalid one", ["1, x", "3"], ["int_parsing header.x-tag.1"]],
  ])("has the items %s", async (_how, lines, expected) => {
    expect(await read(t.Array(t.Integer()), ...lines)).toEqual(expected);
  });

  it("keeps a comma in a quoted string, as in entity tags", async () => {
    expect(await read(t.Array(t.String()), '"a,b", W/"c"')).toEqual(['"a,b"', 'W/"c"']);
  });

  it("is tried before or after a scalar in the order of a union", async () => {
    const numbers = t.Array(t.Integer());
    expect(await read(t.Union([t.Integer(), numbers]), "1")).toBe(1);
    expect(await read(t.Union([t.Integer(), numbers]), "1, 2")).toEqual([1, 2]);
    expect(await read(t.Union([t.String(), numbers]), "1, 2")).toBe("1, 2");
  });

  it("fills a tuple", async () => {
    expect(await read(t.Tuple([t.Integer(), t.String()]), "1, a")).toEqual([1, "a"]);
    expect(await read(t.Tuple([t.Integer(), t.String()]), "1")).toEqual(["too_short header.x-tag"]);
  });
});

describeMatrix("an array in the path", ({ probe }) => {
  const read = async (schema: Schema, segment: string) => {
    const answer = await probe({ x: schema }, { path: "/in/{x}/end" })(`/in/${segment}/end`);
    return answer.args ? answer.args["x"] : faultLines(answer);
  };

  it.each<[segment: string, expected: unknown]>([
    ["1,2,3", [1, 2, 3]],
    ["1", [1]],
    ["%31,2", [1, 2]],
    ["1,x", ["int_parsing path.x.1"]],
    ["1,", ["int_parsing path.x.1"]],
  ])("has the items of %s", async (segment, expected) => {
    expect(await read(t.Array(t.Integer()), segment)).toEqual(expected);
  });

  it.each<[segment: string, expected: unknown]>([
    ["a%2Cb,c", ["a,b", "c"]],
    ["a%2cb", ["a,b"]],
    ["a,b%2Fc", ["a", "b/c"]],
    ["%252C,a", ["%2C", "a"]],
    ["%25,%2C", ["%", ","]],
    ["%C3%A4,%2C", ["\u00e4", ","]],
    ["a,,b", ["a", "", "b"]],
  ])("keeps an encoded comma in %s", async (segment, expected) => {
    expect(await read(t.Array(t.String()), segment)).toEqual(expected);
  });

  it("is read from its own segment if another one decodes to the same text", async () => {
    const params = { x: Path(t.Array(t.String())), y: Path(t.Array(t.String())), z: Path() };
    const ask = probe(params, { path: "/{x}/{y}/{z}" });
    expect((await ask("/a%2Cb/a,b/a,b")).args).toEqual({ x: ["a,b"], y: ["a", "b"], z: "a,b" });
    expect((await ask("/a,b/a%2Cb/a,b")).args).toEqual({ x: ["a", "b"], y: ["a,b"], z: "a,b" });
  });

  it("is tried in the order of a union", async () => {
    expect(await read(t.Union([t.Integer(), t.Array(t.Integer())]), "1")).toBe(1);
    expect(await read(t.Union([t.Integer(), t.Array(t.Integer())]), "1,2")).toEqual([1, 2]);
    expect(await read(t.Union([t.String(), t.Array(t.Integer())]), "1,2")).toBe("1,2");
  });
});

describeMatrix("names on the wire", ({ probe }) => {
  it.each([
    ["userAgent", "user-agent"],
    ["user_agent", "user-agent"],
    ["XToken", "xtoken"],
    ["x_token_2", "x-token-2"],
    ["ifNoneMatch", "if-none-match"],
    ["authorization", "authorization"],
  ])("the header parameter %s reads %s", async (name, header) => {
    expect((await probe({ [name]: Header() })("/", { headers: [[header, "v"]] })).args).toEqual({ [name]: "v" });
  });

  it("an alias replaces the name, in any case for a header, and the location in errors", async () => {
    const ask = probe({
      a: Query({ alias: "page-size" }),
      b: Header({ alias: "X_Odd" }),
      c: Cookie(t.Integer(), { alias: "__Host-c" }),
    });
    const good = await ask("/?page-size=1", {
      headers: [
        ["x_odd", "2"],
        ["cookie", "__Host-c=3"],
      ],
    });
    expect(good.args).toEqual({ a: "1", b: "2", c: 3 });
    expect(faultLines(await ask("/?a=1", { headers: [["cookie", "__Host-c=x"]] }))).toEqual([
      "missing query.page-size",
      "missing header.x_odd",
      "int_parsing cookie.__Host-c",
    ]);
  });

  it.each(["__proto__", "constructor", "toString", "then", "hasOwnProperty", "valueOf"])(
    "%s is an ordinary name and an ordinary value",
    async (name) => {
      const params = { [name]: Query(), ["c"]: Cookie({ alias: name }), ["h"]: Header({ default: null, alias: name }) };
      const answer = await probe(params)(`/?${name}=${name}`, { headers: [["cookie", `${name}=${name}`]] });
      expect(answer.status).toBe(200);
      expect(Object.getOwnPropertyDescriptor(answer.args ?? {}, name)?.value).toBe(name);
      expect(answer.args?.["c"]).toBe(name);
      expect(answer.args?.["h"]).toBeNull();
      expect(faultLines(await probe(params)("/"))).toEqual([`missing query.${name}`, `missing cookie.${name}`]);
      expect(Object.keys(Object.prototype)).toEqual([]);
    },
  );
});

describeMatrix("an object schema", ({ probe }) => {
  const Page = t.Object({
    page: t.Integer({ default: 1, minimum: 1 }),
    pageSize: t.Integer(),
    tags: t.Optional(t.Array(t.String())),
  });

  it("in Query is read property by property", async () => {
    const ask = probe({ page: Query(Page) });
    expect((await ask("/?pageSize=20&tags=a&tags=b&other=1")).args).toEqual({
      page: { page: 1, pageSize: 20, tags: ["a", "b"] },
    });
    expect((await ask("/?pageSize=20")).args).toEqual({ page: { page: 1, pageSize: 20 } });
  });

  it("reports all errors of all its properties together, each under its own name", async () => {
    const ask = probe({ page: Query(Page) });
    expect(faultLines(await ask("/?page=x"))).toEqual(["int_parsing query.page", "missing query.pageSize"]);
    expect(faultLines(await ask("/?page=0&pageSize=x"))).toEqual([
      "int_parsing query.pageSize",
      "greater_than_equal query.page",
    ]);
    expect(faultLines(await ask("/"))).toEqual(["missing query.pageSize"]);
  });

  it("in Header reads `user-agent` for userAgent, and reports errors under that name", async () => {
    const ask = probe({ h: Header(t.Object({ userAgent: t.String(), xCount: t.Integer({ minimum: 1 }) })) });
    const headers = [
      ["user-agent", "curl"],
      ["x-count", "2"],
    ] as const;
    expect((await ask("/", { headers })).args).toEqual({ h: { userAgent: "curl", xCount: 2 } });
    expect(faultLines(await ask("/"))).toEqual(["missing header.user-agent", "missing header.x-count"]);
    expect(faultLines(await ask("/", { headers: [["x-count", "0"]] }))).toEqual([
      "missing header.user-agent",
      "greater_than_equal header.x-count",
    ]);
    expect(faultLines(await ask("/", { headers: [["x-count", "x"]] }))).toEqual([
      "int_parsing header.x-count",
      "missing header.user-agent",
    ]);
  });

  it("in Cookie reads each cookie", async () => {
    const ask = probe({ c: Cookie(t.Object({ session: t.String(), n: t.Integer() })) });
    expect((await ask("/", { headers: [["cookie", "session=abc; n=5"]] })).args).toEqual({
      c: { session: "abc", n: 5 },
    });
  });

  it("rejects other names in a query and among cookies if it is closed, but not other headers", async () => {
    const Closed = t.Object({ a: t.Optional(t.String()) }, { additionalProperties: false });
    expect(faultLines(await probe({ q: Query(Closed) })("/?a=1&b=2&b=3"))).toEqual(["extra_forbidden query.b"]);
    expect(faultLines(await probe({ q: Query(Closed, { default: null }) })("/?b=2"))).toEqual([
      "extra_forbidden query.b",
    ]);
    expect(faultLines(await probe({ c: Cookie(Closed) })("/", { headers: [["cookie", "b=1"]] }))).toEqual([
      "extra_forbidden cookie.b",
    ]);
    expect((await probe({ h: Header(Closed) })("/", { headers: [["b", "1"]] })).status).toBe(200);
  });

  it("may be a composite, an intersection or a reference", async () => {
    const A = t.Object({ a: t.Integer() });
    const B = t.Object({ b: t.Array(t.Integer()) });
    const Both = t.Module({ A, B, Both: t.Intersect([t.Ref("A"), t.Ref("B")]) }).Import("Both");
    for (const schema of [t.Composite([A, B]), t.Intersect([A, B]), Both]) {
      const ask = probe({ q: Query(schema) });
      expect((await ask("/?a=1&b=2&b=3")).args).toEqual({ q: { a: 1, b: [2, 3] } });
      expect(faultLines(await ask("/?b=x")).toSorted()).toEqual(["int_parsing query.b.0", "missing query.a"]);
    }
  });

  it("as a whole may be absent: null, undefined or a default", async () => {
    const Need = t.Object({ a: t.Integer() });
    expect((await probe({ q: Query(Need, { default: null }) })("/")).args).toEqual({ q: null });
    expect((await probe({ q: Query(t.Optional(Need)) })("/")).args).toEqual({ q: undefined });
    expect((await probe({ q: Query(Need, { default: { a: 7 } }) })("/")).args).toEqual({ q: { a: 7 } });
    expect((await probe({ q: Query(Need, { default: null }) })("/?a=5")).args).toEqual({ q: { a: 5 } });
  });

  it("of prototype names reads its own properties only", async () => {
    const Odd = t.Object({ constructor: t.String(), toString: t.Optional(t.String()) });
    const ask = probe({ q: Query(Odd) });
    expect((await ask("/?constructor=x")).args).toEqual({ q: { constructor: "x" } });
    expect(faultLines(await ask("/"))).toEqual(["missing query.constructor"]);
  });
});

describeMatrix("the possible contents of a query string", ({ probe }) => {
  it("decodes percent signs and plus signs, and keeps invalid escapes", async () => {
    const ask = probe({ q: Query() });
    expect((await ask("/?q=a+b%20c%2Bd")).args).toEqual({ q: "a b c+d" });
    expect((await ask("/?q=100%")).args).toEqual({ q: "100%" });
    expect((await ask("/?q=%E2%82%AC")).args).toEqual({ q: "€" });
    expect((await ask("/?q=%FF%ED%A0%80")).args).toEqual({ q: "\uFFFD\uFFFD\uFFFD\uFFFD" });
    expect((await ask("/?q=%00")).args).toEqual({ q: "\0" });
  });

  it("counts a question mark in a name as part of the name", async () => {
    expect(faultLines(await probe({ q: Query() })("/??q=1"))).toEqual(["missing query.q"]);
    expect((await probe({ q: Query({ alias: "?q" }) })("/??q=1")).args).toEqual({ q: "1" });
  });

  it("may be all separators", async () => {
    expect(faultLines(await probe({ q: Query() })("/?&&=&=x&"))).toEqual(["missing query.q"]);
  });
});

describeMatrix("cookies", ({ probe }) => {
  it.each([
    ["q=1; c=2", "2"],
    ["c=2;c=3", "2"],
    ["c=a=b", "a=b"],
    ['c="quoted"', "quoted"],
    ["c=%E2%82%AC", "€"],
    ["c=100%", "100%"],
    ["c=", ""],
    ["  c  =  x  ", "x"],
    [";;; c=x ;;", "x"],
  ])("%s is parsed as %s", async (cookie, expected) => {
    expect((await probe({ c: Cookie() })("/", { headers: [["cookie", cookie]] })).args).toEqual({ c: expected });
  });

  it("of one name give a list all their values, in their order", async () => {
    const ask = probe({
      c: Cookie(t.Array(t.Integer())),
      o: Cookie(t.Object({ c: t.Array(t.String()), d: t.String() })),
    });
    const headers = [
      ["cookie", "c=1; d=5; C=9; c=%32"],
      ["cookie", 'xc=7; d=6; c="3"'],
    ] as const;
    expect((await ask("/", { headers })).args).toEqual({ c: [1, 2, 3], o: { c: ["1", "2", "3"], d: "5" } });
  });

  it("of several Cookie headers count as one", async () => {
    const headers = [
      ["cookie", "a=1"],
      ["cookie", "b=2"],
    ] as const;
    expect((await probe({ a: Cookie(), b: Cookie() })("/", { headers })).args).toEqual({ a: "1", b: "2" });
  });

  it.each(["", ";", "c", "=c", "C=1", "xc=1"])("%j has no cookie c", async (cookie) => {
    expect(faultLines(await probe({ c: Cookie() })("/", { headers: [["cookie", cookie]] }))).toEqual([
      "missing cookie.c",
    ]);
  });
});
