/** The writer of results, compared with its plain twin: the check, and `JSON.stringify` of what it gives. @module */
import { expect, it } from "@jest/globals";
import * as fc from "../support/fast-check.js";
import { t, type TSchema } from "../../src/index.js";
import { compileCheck, compileWrite } from "../../src/schema/compile.js";
import { Faults } from "../../src/schema/faults.js";

const names = fc.constantFrom("a", "b", "constructor", "toString", "then", "1", '"\u2028', "\ud800", "length");

const leaves: readonly (() => TSchema)[] = [
  () => t.String(),
  () => t.String({ default: 'd"\n' }),
  () => t.Number({ default: -0 }),
  () => t.Integer(),
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

const { schemas } = fc.letrec<{ schemas: () => TSchema }>((tie) => ({
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

const odd = [
  "x",
  "a",
  "b",
  "\u0000\u001f\u007f",
  "\ud800",
  "\udc00x",
  "😀\u2028",
  '\\"',
  "",
  Number.NaN,
  Infinity,
  -0,
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

const { values } = fc.letrec<{ values: unknown }>((tie) => ({
  values: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<unknown>(...odd),
    fc.array(fc.tuple(fc.oneof(names, fc.constant("__proto__")), tie("values"))).map(Object.fromEntries),
    fc.array(tie("values"), { maxLength: 3 }),
  ),
}));

it("writes what JSON.stringify writes of the checked value, and finds the same faults", () => {
  let written = 0;
  const property = fc.property(schemas, values, (make, value) => {
    const schema = make();
    const [checkFaults, writeFaults] = [new Faults(), new Faults()];
    const checked = compileCheck(schema, "encode")(value, checkFaults);
    const text = compileWrite(schema)(value, writeFaults);
    expect(writeFaults.list).toEqual(checkFaults.list);
    if (checkFaults.count > 0) return;
    expect(text).toBe(JSON.stringify(checked));
    written++;
  });
  fc.assert(property, { numRuns: 1_500 });
  expect(written).toBeGreaterThan(50);
});
