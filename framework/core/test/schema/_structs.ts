/** Schemas of structs, and values for them: such as fit, and odd ones. */
import * as fc from "../../../test/support/fast-check.js";
import { t, type TSchema } from "../../src/index.js";

const names = fc.constantFrom("a", "b", "constructor", "toString", "then", "1", '"\u2028', "\ud800", "length");

/** Create schemas of one value each, again for each call, so that they are not compiled yet. */
export const leaves: readonly (() => TSchema)[] = [
  () => t.String(),
  () => t.String({ default: 'd"\n' }),
  () => t.String({ minLength: 2, maxLength: 3 }),
  () => t.String({ maxLength: 1, errorMessage: "Too long" }),
  () => t.String({ format: "date" }),
  () => t.Number({ default: -0 }),
  () => t.Number({ minimum: -1, maximum: 1.5 }),
  () => t.Number({ minimum: Infinity }),
  () => t.Number({ exclusiveMinimum: 0, multipleOf: 0.5 }),
  () => t.Integer(),
  () => t.Integer({ minimum: 1, maximum: 2 }),
  () => t.Boolean(),
  () => t.Date(),
  () => t.Unknown(),
  () => t.Record(t.String(), t.Unknown()),
  () => t.Union([t.Object({ k: t.Literal("a"), v: t.Number() }), t.Object({ k: t.Literal("b") })]),
  () => t.Intersect([t.Object({ a: t.String() }), t.Object({ b: t.Optional(t.Number()) })]),
  () => t.Recursive((This) => t.Object({ a: t.Unknown(), b: t.Optional(This) })),
  () => t.Object({ a: t.Unknown() }, { default: { a: 1 } }),
  () => t.Object({ a: t.String() }, { additionalProperties: true, minProperties: 2 }),
  () =>
    t
      .Transform(t.String())
      .Decode((text) => [text])
      .Encode(([text = ""]) => text.toUpperCase()),
];

/** The same for structs and lists of them. */
export const { schemas } = fc.letrec<{ schemas: () => TSchema }>((tie) => ({
  schemas: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(...leaves),
    fc.array(fc.tuple(names, tie("schemas"), fc.boolean()), { maxLength: 4 }).map((members) => () => {
      const entries = members.map(([name, make, isOptional]) => [name, isOptional ? t.Optional(make()) : make()]);
      return t.Object(Object.fromEntries(entries) as Record<string, TSchema>);
    }),
    tie("schemas").map((make) => () => t.Array(make())),
  ),
}));

class Account {
  a = "own";
  get b() {
    return 1.5;
  }
  toJSON() {
    return { a: "not asked for" };
  }
}

/** Values that match some of the leaves, and values that match no leaf. */
export const odd: readonly unknown[] = [
  "x",
  "a",
  "b",
  "ab",
  "abcd",
  "😀",
  "2024-02-29",
  "\u0000\u001f\u007f",
  "\ud800",
  "\udc00x",
  "😀\u2028",
  '\\"',
  "",
  Number.NaN,
  Infinity,
  -0,
  1,
  2,
  3,
  -1,
  1.5,
  1e21,
  5e-324,
  true,
  null,
  undefined,
  Symbol("s"),
  () => 1,
  new Date(0),
  new Date(Number.NaN),
  new Date(8.64e15),
  new Map([[1, 2]]),
  new Uint8Array(1),
  Object("boxed"),
  new Account(),
  new Proxy({ a: "x", b: 1 }, {}),
  Object.create({ a: "inherited" }),
  { k: "a", v: 1, x: 1 },
  { toJSON: () => "written" },
  { toJSON: () => undefined },
  { a: 1, b: { a: 2, b: { a: [3] } } },
];

export const { values } = fc.letrec<{ values: unknown }>((tie) => ({
  values: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>(...odd),
    fc.array(fc.tuple(fc.oneof(names, fc.constant("__proto__")), tie("values"))).map(Object.fromEntries),
    fc.array(tie("values"), { maxLength: 3 }),
  ),
}));
