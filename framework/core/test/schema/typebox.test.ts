/** Every TypeBox type, as a body and as a result. */
import { describe, expect, it } from "@jest/globals";
import { type TSchema, Type } from "@sinclair/typebox";
import { Body, t } from "../../src/index.js";
import { faultLines, probe, returning } from "../../../test/support/probe.js";

type Bad = readonly [value: unknown, ...faults: string[]];

interface Row {
  readonly schema: TSchema;
  /** Pairs of a received value and the handler's value. */
  readonly good: readonly (readonly [unknown, unknown])[];
  readonly bad: readonly Bad[];
}

const same = (...values: unknown[]) => values.map((value) => [value, value] as const);

const Node = t.Recursive((This) => t.Object({ value: t.Integer(), kids: t.Array(This, { default: [] }) }));
const Shop = t.Module({
  Price: t.Object({ amount: t.Integer({ minimum: 0 }), currency: t.Union([t.Literal("EUR"), t.Literal("USD")]) }),
  Item: t.Object({ name: t.String(), price: t.Ref("Price"), parts: t.Optional(t.Array(t.Ref("Item"))) }),
  PartialItem: t.Partial(t.Ref("Item")),
  Id: t.Integer(),
});
const Other = t.Module({ Item: t.Object({ title: t.String() }) });
const A = t.Object({ a: t.Integer() });
const B = t.Object({ b: t.Date() });
const Seconds = t
  .Transform(t.Integer())
  .Decode((seconds) => new Date(seconds * 1000))
  .Encode((date) => date.getTime() / 1000);

const TABLE: Record<string, Row> = {
  "t.String with bounds, counted in characters": {
    schema: t.String({ minLength: 2, maxLength: 3 }),
    good: same("ab", "abc", "💙💙", "💙💙💙"),
    bad: [
      ["a", "string_too_short body"],
      ["💙", "string_too_short body"],
      ["abcd", "string_too_long body"],
      ["💙💙💙💙", "string_too_long body"],
    ],
  },
  "t.String with a pattern": {
    schema: t.String({ pattern: "^\\p{Lu}+$" }),
    good: same("ÄB"),
    bad: [["äb", "string_pattern_mismatch body"]],
  },
  "t.Integer": {
    schema: t.Integer({ minimum: 0, exclusiveMaximum: 10, multipleOf: 3 }),
    good: same(0, 9),
    bad: [
      [-3, "greater_than_equal body"],
      [10, "less_than body"],
      [4, "multiple_of body"],
      [1.5, "int_type body"],
      [2 ** 53, "int_size body"],
      [true, "int_type body"],
    ],
  },
  "t.Number": {
    schema: t.Number({ exclusiveMinimum: 0, maximum: 1, multipleOf: 0.1 }),
    good: same(0.1, 0.3, 0.7, 1),
    bad: [
      [0, "greater_than body"],
      [1.1, "less_than_equal body"],
      [0.35, "multiple_of body"],
    ],
  },
  "t.Date within bounds": {
    schema: t.Date({ minimumTimestamp: 0, exclusiveMaximumTimestamp: 1000, multipleOfTimestamp: 10 }),
    good: [
      ["1970-01-01T00:00:00Z", new Date(0)],
      ["1970-01-01T01:00:00.99+01:00", new Date(990)],
    ],
    bad: [
      ["1969-12-31T23:59:59.99Z", "greater_than_equal body"],
      ["1970-01-01T00:00:01Z", "less_than body"],
      ["1970-01-01T00:00:00.005Z", "multiple_of body"],
      ["1970-01-01", "datetime_parsing body"],
    ],
  },
  "t.Date with the other bounds": {
    schema: t.Date({ exclusiveMinimumTimestamp: 0, maximumTimestamp: 1000 }),
    good: [["1970-01-01T00:00:01Z", new Date(1000)]],
    bad: [
      ["1970-01-01T00:00:00Z", "greater_than body"],
      ["1970-01-01T00:00:01.001Z", "less_than_equal body"],
    ],
  },
  "t.Boolean": { schema: t.Boolean(), good: same(true, false), bad: [[0, "bool_type body"]] },
  "t.Null": { schema: t.Null(), good: same(null), bad: [["null", "null_type body"]] },
  "t.Any": { schema: t.Any(), good: same(null, 1, "x", [{}]), bad: [] },
  "t.Unknown": { schema: t.Unknown(), good: same(null, 1, "x", [{}]), bad: [] },
  "t.Never": { schema: t.Never(), good: [], bad: [[null, "not_allowed body"]] },
  "t.Literal": {
    schema: t.Literal("x"),
    good: same("x"),
    bad: [
      ["y", "literal_error body"],
      [["x"], "literal_error body"],
    ],
  },
  "t.Enum": { schema: t.Enum({ A: "a", One: 1 }), good: same("a", 1), bad: [["1", "enum body"]] },
  "t.Const": { schema: t.Const({ a: 1 } as const), good: same({ a: 1 }), bad: [[{ a: 2 }, "literal_error body.a"]] },
  "t.TemplateLiteral": {
    schema: t.TemplateLiteral("item-${string}"),
    good: same("item-1"),
    bad: [["1", "string_pattern_mismatch body"]],
  },
  "t.KeyOf": { schema: t.KeyOf(t.Object({ a: A, b: A })), good: same("a", "b"), bad: [["c", "enum body"]] },
  "t.Array": {
    schema: t.Array(t.Integer(), { minItems: 1, maxItems: 3, uniqueItems: true }),
    good: same([1], [1, 2, 3]),
    bad: [
      [[], "too_short body"],
      [[1, 2, 3, 4], "too_long body"],
      [[1, 2, 1], "unique_items body"],
      [{ length: 1, 0: 1 }, "list_type body"],
    ],
  },
  "t.Array of objects that differ": {
    schema: t.Array(t.Record(t.String(), t.Unknown()), { uniqueItems: true }),
    good: same([{ a: 1 }, { a: 2 }]),
    bad: [
      [
        [
          { a: 1, b: [2] },
          { b: [2], a: 1 },
        ],
        "unique_items body",
      ],
    ],
  },
  "t.Array that contains": {
    schema: t.Array(t.Integer(), { contains: t.Literal(7), maxContains: 1 }),
    good: same([1, 7]),
    bad: [
      [[1, 2], "contains body"],
      [[7, 7], "contains body"],
    ],
  },
  "t.Tuple": {
    schema: t.Tuple([t.Integer(), t.String()]),
    good: same([1, "x"]),
    bad: [
      [[1], "too_short body"],
      [[1, "x", 2], "too_long body"],
      [["x", 1], "int_type body.0", "string_type body.1"],
    ],
  },
  "an empty t.Tuple": { schema: t.Tuple([]), good: same([]), bad: [[[1], "too_long body"]] },
  "t.Record of any text": {
    schema: t.Record(t.String({ minLength: 0 }), t.Integer()),
    good: same({}, { a: 1, "line\nbreak": 2 }),
    bad: [[{ a: "1" }, "int_type body.a"]],
  },
  "t.Record of a pattern": {
    schema: t.Record(t.String({ pattern: "^x" }), t.Integer()),
    good: [[{ x1: 1, y: "cut" }, { x1: 1 }]],
    bad: [[{ x1: "1" }, "int_type body.x1"]],
  },
  "t.Record of a pattern, closed": {
    schema: t.Record(t.String({ pattern: "^x" }), t.Integer(), { additionalProperties: false }),
    good: same({ x: 1 }),
    bad: [[{ y: 1 }, "extra_forbidden body.y"]],
  },
  "t.Record of a pattern, open": {
    schema: t.Record(t.String({ pattern: "^x" }), t.Integer(), { additionalProperties: true }),
    good: same({ x: 1, y: "kept" }),
    bad: [[{ x: "1" }, "int_type body.x"]],
  },
  "t.Record of a union of names": {
    schema: t.Record(t.Union([t.Literal("a"), t.Literal("b")]), t.Integer()),
    good: [
      [
        { a: 1, b: 2, c: 3 },
        { a: 1, b: 2 },
      ],
    ],
    bad: [[{ a: 1 }, "missing body.b"]],
  },
  "t.Record of integers": {
    schema: t.Record(t.Integer(), t.String()),
    good: [[{ 1: "a", x: "cut" }, { 1: "a" }]],
    bad: [[{ 1: 1 }, "string_type body.1"]],
  },
  "t.Record with bounds": {
    schema: t.Record(t.String(), t.Integer(), { minProperties: 1, maxProperties: 2 }),
    good: same({ a: 1 }),
    bad: [
      [{}, "too_short body"],
      [{ a: 1, b: 2, c: 3 }, "too_long body"],
    ],
  },
  "an empty t.Object": { schema: t.Object({}), good: [[{ a: 1 }, {}]], bad: [[null, "object_type body"]] },
  "t.Object with t.Readonly and t.Optional": {
    schema: t.Object({ a: t.Readonly(t.Integer()), b: t.ReadonlyOptional(t.Integer()) }),
    good: same({ a: 1 }, { a: 1, b: 2 }),
    bad: [[{}, "missing body.a"]],
  },
  "t.Partial, t.Required, t.Pick and t.Omit": {
    schema: t.Object({
      partial: t.Partial(A),
      required: t.Required(t.Partial(A)),
      pick: t.Pick(t.Composite([A, B]), ["a"]),
      omit: t.Omit(t.Composite([A, B]), ["b"]),
    }),
    good: [
      [
        { partial: {}, required: { a: 1 }, pick: { a: 1, b: 2 }, omit: { a: 1, b: 2 } },
        { partial: {}, required: { a: 1 }, pick: { a: 1 }, omit: { a: 1 } },
      ],
    ],
    bad: [
      [
        { partial: {}, required: {}, pick: {}, omit: {} },
        "missing body.required.a",
        "missing body.pick.a",
        "missing body.omit.a",
      ],
    ],
  },
  "t.Composite": {
    schema: t.Composite([A, B]),
    good: [
      [
        { a: 1, b: "2024-01-01T00:00:00Z", c: 1 },
        { a: 1, b: new Date("2024-01-01T00:00:00Z") },
      ],
    ],
    bad: [[{}, "missing body.a", "missing body.b"]],
  },
  "t.Intersect": {
    schema: t.Intersect([A, B]),
    good: [
      [
        { a: 1, b: "2024-01-01T00:00:00Z", c: 1 },
        { a: 1, b: new Date("2024-01-01T00:00:00Z") },
      ],
    ],
    bad: [
      [{}, "missing body.a", "missing body.b"],
      ["x", "object_type body"],
    ],
  },
  "t.Intersect, closed": {
    schema: t.Intersect([A, B], { unevaluatedProperties: false }),
    good: [
      [
        { a: 1, b: "2024-01-01T00:00:00Z" },
        { a: 1, b: new Date("2024-01-01T00:00:00Z") },
      ],
    ],
    bad: [
      [{ a: 1, b: "2024-01-01T00:00:00Z", c: 1 }, "extra_forbidden body.c"],
      [{ a: "1", c: 1 }, "int_type body.a", "missing body.b", "extra_forbidden body.c"],
    ],
  },
  "t.Intersect with a schema for the rest": {
    schema: t.Intersect([A, t.Object({})], { unevaluatedProperties: t.Date() }),
    good: [
      [
        { a: 1, c: "2024-01-01T00:00:00Z" },
        { a: 1, c: new Date("2024-01-01T00:00:00Z") },
      ],
    ],
    bad: [[{ a: 1, c: 1 }, "datetime_type body.c"]],
  },
  "t.Intersect with a record, whose values do not undo what the other made": {
    schema: t.Intersect([t.Record(t.String(), t.Unknown()), B, t.Record(t.String(), t.Unknown())]),
    good: [
      [
        { b: "2024-01-01T00:00:00Z", c: 1 },
        { b: new Date("2024-01-01T00:00:00Z"), c: 1 },
      ],
    ],
    bad: [[{ b: 1 }, "datetime_type body.b"]],
  },
  "t.Intersect of the same property in two shapes": {
    schema: t.Intersect([t.Object({ user: A, list: t.Array(A) }), t.Object({ user: B, list: t.Array(B) })]),
    good: [
      [
        { user: { a: 1, b: "2024-01-01T00:00:00Z", c: 1 }, list: [{ a: 2, b: "2024-01-01T00:00:00Z" }] },
        { user: { a: 1, b: new Date("2024-01-01T00:00:00Z") }, list: [{ a: 2, b: new Date("2024-01-01T00:00:00Z") }] },
      ],
    ],
    bad: [[{ user: { a: 1 }, list: [] }, "missing body.user.b"]],
  },
  "t.Intersect with a union": {
    schema: t.Intersect([A, t.Union([B, t.Object({ c: t.Integer() })])]),
    good: [
      [
        { a: 1, c: 2, d: 3 },
        { a: 1, c: 2 },
      ],
      [
        { a: 1, b: "2024-01-01T00:00:00Z" },
        { a: 1, b: new Date("2024-01-01T00:00:00Z") },
      ],
    ],
    bad: [[{ a: 1 }, "union_error body"]],
  },
  "t.Intersect with a union, closed": {
    schema: t.Intersect([A, t.Union([B, t.Object({ c: t.Integer() })])], { unevaluatedProperties: false }),
    good: same({ a: 1, c: 2 }),
    bad: [
      [{ a: 1, c: 2, d: 3 }, "extra_forbidden body.d"],
      [{ a: 1, c: "2" }, "union_error body"],
    ],
  },
  "t.Union of a transform and a literal": {
    schema: t.Union([
      t
        .Transform(t.Literal("on"))
        .Decode(() => true)
        .Encode((value): "on" => {
          if (typeof value !== "boolean") throw new TypeError("Should be a boolean");
          return "on";
        }),
      t.Literal("off"),
    ]),
    good: [
      ["on", true],
      ["off", "off"],
    ],
    bad: [["x", "union_error body"]],
  },
  "an object with a union beside its properties": {
    schema: t.Unsafe({
      type: "object",
      properties: { a: { type: "integer" } },
      required: ["a"],
      anyOf: [
        { type: "object", properties: { b: { type: "integer" } }, required: ["b"] },
        { type: "object", properties: { c: { type: "integer" } }, required: ["c"] },
      ],
    }),
    good: [
      [
        { a: 1, c: 2, d: 3 },
        { a: 1, c: 2 },
      ],
    ],
    bad: [[{ a: 1 }, "union_error body"]],
  },
  "t.Union of scalars": {
    schema: t.Union([t.Integer(), t.String({ minLength: 2 })]),
    good: same(5, "55"),
    bad: [["5", "union_error body"]],
  },
  "t.Union of literals and null": {
    schema: t.Union([t.Literal("a"), t.Null(), t.Literal("b")]),
    good: same("a", null),
    bad: [["c", "enum body"]],
  },
  "t.Union with null": {
    schema: t.Union([t.Null(), A]),
    good: same(null, { a: 1 }),
    bad: [[{ a: "1" }, "int_type body.a"]],
  },
  "t.Union of two structs and null": {
    schema: t.Union([A, t.Object({ c: t.Integer() }), t.Null()]),
    good: same(null, { a: 1 }, { c: 1 }),
    bad: [[{}, "union_error body"]],
  },
  "t.Union with a tag": {
    schema: t.Union([
      t.Object({ kind: t.Literal("circle"), radius: t.Number() }),
      t.Object({ kind: t.Literal("square"), side: t.Number() }),
    ]),
    good: [
      [
        { kind: "square", side: 1, radius: 2 },
        { kind: "square", side: 1 },
      ],
    ],
    bad: [
      [{ kind: "square" }, "missing body.side"],
      [{ kind: "line" }, "union_tag_invalid body.kind"],
      [{ radius: 1 }, "missing body.kind"],
      [5, "object_type body"],
    ],
  },
  "t.Union with a tag named as what every object has": {
    schema: t.Union([
      t.Object({ constructor: t.Literal("a"), x: t.Integer() }),
      t.Object({ constructor: t.Literal("b"), y: t.Integer() }),
    ]),
    good: same({ constructor: "a", x: 1 }),
    bad: [[{}, "missing body.constructor"]],
  },
  "t.Union of lists": {
    schema: t.Union([t.Array(t.Integer()), t.Array(t.String())]),
    good: same([1], ["a"], []),
    bad: [[[1, "a"], "union_error body"]],
  },
  "t.Not": {
    schema: t.Intersect([t.String(), t.Not(t.Literal("admin"))]),
    good: same("x"),
    bad: [["admin", "not_allowed body"]],
  },
  "t.Recursive": {
    schema: Node,
    good: [
      [
        { value: 1, kids: [{ value: 2, x: 1 }] },
        { value: 1, kids: [{ value: 2, kids: [] }] },
      ],
    ],
    bad: [[{ value: 1, kids: [{ value: 2, kids: [{}] }] }, "missing body.kids.0.kids.0.value"]],
  },
  "t.Module": {
    schema: Shop.Import("Item"),
    good: [
      [
        {
          name: "a",
          price: { amount: 1, currency: "EUR", x: 1 },
          parts: [{ name: "b", price: { amount: 0, currency: "USD" } }],
        },
        {
          name: "a",
          price: { amount: 1, currency: "EUR" },
          parts: [{ name: "b", price: { amount: 0, currency: "USD" } }],
        },
      ],
    ],
    bad: [
      [
        { name: "a", price: { amount: -1, currency: "X" } },
        "greater_than_equal body.price.amount",
        "enum body.price.currency",
      ],
    ],
  },
  "two modules with the same names": {
    schema: t.Object({
      a: Shop.Import("Item"),
      b: Other.Import("Item"),
      c: Shop.Import("PartialItem"),
      d: Shop.Import("Id"),
    }),
    good: same({ a: { name: "a", price: { amount: 1, currency: "EUR" } }, b: { title: "b" }, c: {}, d: 5 }),
    bad: [
      [
        { a: { title: "a" }, b: { name: "b" }, c: {}, d: 1 },
        "missing body.a.name",
        "missing body.a.price",
        "missing body.b.title",
      ],
    ],
  },
  "t.Ref to a schema with an $id": {
    schema: t.Object({ first: t.Object({ n: t.Integer() }, { $id: "First" }), second: t.Ref("First") }),
    good: same({ first: { n: 1 }, second: { n: 2 } }),
    bad: [[{ first: { n: 1 }, second: { n: "2" } }, "int_type body.second.n"]],
  },
  "t.Transform, also inside lists, objects, unions and records": {
    schema: t.Object({
      one: Seconds,
      list: t.Array(Seconds),
      either: t.Union([t.Null(), Seconds, t.String()]),
      map: t.Record(t.String(), Seconds),
      maybe: t.Optional(Seconds),
    }),
    good: [
      [
        { one: 1, list: [2], either: "x", map: { a: 3 } },
        { one: new Date(1000), list: [new Date(2000)], either: "x", map: { a: new Date(3000) } },
      ],
    ],
    bad: [[{ one: "1", list: [true], either: "x", map: {} }, "int_type body.one", "int_type body.list.0"]],
  },
  "t.Date": {
    schema: t.Date(),
    good: [
      "2024-01-01T00:00:00Z",
      "0000-01-01T00:00:00-10:00",
      "9999-12-31T23:59:59.999+10:00",
      "9999-12-31T23:59:59Z",
    ].map((text): [string, Date] => [text, new Date(text)]),
    bad: [
      [0, "datetime_type body"],
      ["2024-01-01", "datetime_parsing body"],
      ["2024-12-31T23:59:60Z", "datetime_parsing body"],
      ["9999-12-31T23:59:59-10:00", "datetime_parsing body"],
      ["0000-01-01T00:00:00+10:00", "datetime_parsing body"],
    ],
  },
  "t.Unsafe": {
    schema: t.Unsafe({ type: ["string", "null"], maxLength: 2 }),
    good: same("ab", null),
    bad: [
      ["abc", "string_too_long body"],
      [5, "string_type body"],
    ],
  },
  "t.Transform of a value of two types, which converts once": {
    schema: t
      .Transform(t.Unsafe<number | null>({ type: ["integer", "null"] }))
      .Decode((value) => (value ?? 0) + 1)
      .Encode((value) => value - 1),
    good: [[1, 2]],
    bad: [["x", "int_type body"]],
  },
  "a list in the words of draft 2020-12": {
    schema: t.Unsafe({ type: "array", prefixItems: [{ type: "integer" }], items: { type: "string" }, minItems: 1 }),
    good: same([1], [1, "a", "b"]),
    bad: [
      [["a"], "int_type body.0"],
      [[1, 2], "string_type body.1"],
    ],
  },
  "a schema of the user's own copy of TypeBox": {
    schema: Type.Object({ a: Type.Optional(Type.Integer()) }),
    good: same({}, { a: 1 }),
    bad: [[{ a: "1" }, "int_type body.a"]],
  },
};

const GOOD = Object.entries(TABLE).flatMap(([name, { schema, good }]) =>
  good.map(([input, output]) => ({ name, schema, input, output, shown: JSON.stringify(input) })),
);
const BAD = Object.entries(TABLE).flatMap(([name, { schema, bad }]) =>
  bad.map(([input, ...faults]) => ({ name, schema, input, faults, shown: JSON.stringify(input) })),
);

describe("a body", () => {
  it.each(GOOD)("$name takes $shown", async ({ schema, input, output }) => {
    const answer = await probe({ body: Body(schema) })("/", { json: input });
    expect(faultLines(answer)).toEqual([]);
    expect(answer.args).toEqual({ body: output });
  });

  it.each(BAD)("$name rejects $shown", async ({ schema, input, faults }) => {
    const answer = await probe({ body: Body(schema) })("/", { json: input });
    expect(faultLines(answer)).toEqual(faults);
    expect(answer.args).toBeUndefined();
  });

  it("reports a transform's own error", async () => {
    const Even = t
      .Transform(t.Integer())
      .Decode((value) => {
        if (value % 2 !== 0) throw new Error("Should be even");
        return value;
      })
      .Encode((value) => value);
    const answer = await probe({ body: t.Object({ n: Even }) })("/", { json: { n: 3 } });
    expect(answer.faults).toEqual([{ type: "value_error", loc: ["body", "n"], msg: "Should be even", input: 3 }]);
  });

  it("decodes the default of a transform afresh for each request", async () => {
    const ask = probe({
      body: t.Object({
        at: t
          .Transform(t.Integer({ default: 5 }))
          .Decode((n) => new Date(n))
          .Encode((d) => d.getTime()),
      }),
    });
    const [first, second] = [await ask("/", { json: {} }), await ask("/", { json: {} })];
    expect(first.args).toEqual({ body: { at: new Date(5) } });
    expect((second.args as { body: { at: Date } }).body.at).not.toBe((first.args as { body: { at: Date } }).body.at);
  });
});

describe("a result", () => {
  it("has the default of a transform as it travels", async () => {
    const At = t
      .Transform(t.Integer({ default: 5 }))
      .Decode((ms) => new Date(ms))
      .Encode((date) => date.getTime());
    expect((await returning({}, { returns: t.Object({ at: At }) })()).json).toEqual({ at: 5 });
  });

  it.each(GOOD)("$name accepts the result of the body $shown", async ({ schema, output }) => {
    const answer = await returning(output, { returns: schema })();
    expect({ status: answer.status, log: answer.log }).toEqual({ status: 200, log: [] });
    // A sent value is received as the same value again.
    const again = await probe({ body: Body(schema) })("/", { text: answer.text });
    expect(again.args).toEqual({ body: output });
  });
});
