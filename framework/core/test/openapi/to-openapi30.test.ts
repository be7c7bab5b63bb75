import { describe, expect, it } from "@jest/globals";
import { Components } from "../../src/openapi/components.js";
import type { Direction } from "../../src/openapi/version.js";
import { VERSIONS } from "../../src/openapi/versions.js";
import type { SchemaObject } from "../../src/openapi/types.js";
import type { JSONSchema } from "../../src/schema/json-schema.js";
import { t } from "../../src/schema/schema.js";
import { isLinear } from "../../../test/support/growth.js";

function convert(schema: JSONSchema, direction: Direction = "input"): SchemaObject {
  return new Components(VERSIONS["3.0"]).convert(schema, { direction, place: "GET /", role: "body", of: null });
}

const NULL: SchemaObject = { type: "object", nullable: true, enum: [null] };

/** JSON Schema, and the same in OpenAPI 3.0.3 §4.7.24. */
const KEYWORDS: readonly (readonly [rule: string, schema: JSONSchema, converted: SchemaObject])[] = [
  [
    "keeps what both have",
    { type: "string", minLength: 1, maxLength: 9, pattern: "^a", format: "email" },
    { type: "string", minLength: 1, maxLength: 9, pattern: "^a", format: "email" },
  ],
  [
    "keeps title, description, deprecated",
    { type: "string", title: "T", description: "D", deprecated: true },
    { type: "string", title: "T", description: "D", deprecated: true },
  ],
  [
    "keeps readOnly, writeOnly and extensions",
    { type: "string", readOnly: true, writeOnly: false, "x-a": 1 },
    { type: "string", readOnly: true, writeOnly: false, "x-a": 1 },
  ],
  ["takes the first of the examples", { type: "string", examples: ["a", "b"] }, { type: "string", example: "a" }],
  ["takes `example` as it is", { type: "string", example: "a" }, { type: "string", example: "a" }],
  [
    "drops what it does not know",
    {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $comment: "c",
      type: "string",
      contentMediaType: "text/html",
    },
    { type: "string" },
  ],
  ["writes base64 as `byte`", { type: "string", contentEncoding: "base64" }, { type: "string", format: "byte" }],
  [
    "writes an exclusive bound as a flag",
    { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 },
    { type: "number", minimum: 0, exclusiveMinimum: true, maximum: 1, exclusiveMaximum: true },
  ],
  [
    "keeps an inclusive bound that is tighter",
    { type: "number", minimum: 5, exclusiveMinimum: 1, maximum: 6, exclusiveMaximum: 9 },
    { type: "number", minimum: 5, maximum: 6 },
  ],
  [
    "prefers an exclusive bound that is tighter",
    { type: "integer", minimum: 1, exclusiveMinimum: 1, maximum: 9, exclusiveMaximum: 6 },
    { type: "integer", minimum: 1, exclusiveMinimum: true, maximum: 6, exclusiveMaximum: true },
  ],
  [
    "keeps a bound of 0 and multipleOf",
    { type: "integer", minimum: 0, multipleOf: 5, format: "int32" },
    { type: "integer", minimum: 0, multipleOf: 5, format: "int32" },
  ],

  [
    "writes null beside a type as nullable",
    { type: ["string", "null"], minLength: 2 },
    { type: "string", minLength: 2, nullable: true },
  ],
  [
    "writes a union with null as nullable",
    { anyOf: [{ type: "string" }, { type: "null" }] },
    { type: "string", nullable: true },
  ],
  [
    "writes oneOf with null as nullable",
    { oneOf: [{ type: "null" }, { type: "integer" }] },
    { type: "integer", nullable: true },
  ],
  [
    "gives null in a larger union a member",
    { anyOf: [{ type: "string" }, { type: "integer" }, { type: "null" }] },
    { anyOf: [{ type: "string" }, { type: "integer" }, NULL] },
  ],
  ["writes null alone as an enum", { type: "null" }, NULL],
  [
    "keeps what is said of a union",
    { description: "D", default: null, anyOf: [{ type: "string" }, { type: "null" }] },
    { description: "D", default: null, type: "string", nullable: true },
  ],
  ["leaves a schema of anything open to null", { anyOf: [{}, { type: "null" }] }, {}],
  [
    "writes several types as a union, each with its keywords",
    { type: ["string", "integer", "null"], minLength: 2, minimum: 3, description: "D" },
    { description: "D", anyOf: [{ type: "string", minLength: 2 }, { type: "integer", minimum: 3 }, NULL] },
  ],

  ["writes const as an enum of its type", { const: "a" }, { type: "string", enum: ["a"] }],
  ["writes const: null as null", { const: null }, NULL],
  ["writes const: false", { const: false }, { type: "boolean", enum: [false] }],
  [
    "writes a union of constants as one enum",
    { anyOf: [{ const: "a" }, { const: "b" }] },
    { type: "string", enum: ["a", "b"] },
  ],
  [
    "writes constants with null as a nullable enum that lists it",
    { anyOf: [{ const: "a" }, { enum: ["b", "a"] }, { type: "null" }] },
    { type: "string", nullable: true, enum: ["a", "b", null] },
  ],
  ["gives an enum its type", { enum: [1, 2] }, { type: "integer", enum: [1, 2] }],
  ["writes whole and broken numbers as one enum", { enum: [1, 2.5] }, { type: "number", enum: [1, 2.5] }],
  [
    "splits an enum of several types",
    { enum: ["a", 1, null] },
    { anyOf: [{ type: "string", enum: ["a"] }, { type: "integer", enum: [1] }, NULL] },
  ],
  [
    "writes a constant object or list",
    { enum: [{ a: 1 }, [1]] },
    {
      anyOf: [
        { type: "object", enum: [{ a: 1 }] },
        { type: "array", items: {}, enum: [[1]] },
      ],
    },
  ],
  [
    "keeps the descriptions of constants apart",
    { anyOf: [{ const: "a", description: "A" }, { const: "b" }] },
    {
      anyOf: [
        { type: "string", enum: ["a"], description: "A" },
        { type: "string", enum: ["b"] },
      ],
    },
  ],

  [
    "keeps a list",
    { type: "array", items: { type: "string" }, minItems: 1, maxItems: 2, uniqueItems: true },
    { type: "array", items: { type: "string" }, minItems: 1, maxItems: 2, uniqueItems: true },
  ],
  ["gives a list without items some", { type: "array" }, { type: "array", items: {} }],
  [
    "writes a tuple as a list of any of its members (2020-12)",
    {
      type: "array",
      prefixItems: [{ type: "string" }, { type: "integer" }, { type: "string" }],
      items: false,
      minItems: 3,
    },
    { type: "array", items: { anyOf: [{ type: "string" }, { type: "integer" }] }, minItems: 3, maxItems: 3 },
  ],
  [
    "writes a tuple as a list of any of its members (draft-07)",
    { type: "array", items: [{ type: "string" }, { type: "integer" }], additionalItems: { type: "boolean" } },
    { type: "array", items: { anyOf: [{ type: "string" }, { type: "integer" }, { type: "boolean" }] } },
  ],
  [
    "writes an open tuple as a list of anything",
    { type: "array", prefixItems: [{ type: "string" }] },
    { type: "array", items: {} },
  ],
  [
    "writes a tuple of one kind as a plain list",
    { type: "array", prefixItems: [{ type: "string" }, { type: "string" }], items: false },
    { type: "array", items: { type: "string" }, maxItems: 2 },
  ],
  [
    "writes an empty tuple",
    { type: "array", prefixItems: [], items: false },
    { type: "array", items: {}, maxItems: 0 },
  ],

  [
    "takes properties for an object",
    { properties: { a: { type: "string" } }, required: ["a"] },
    { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
  ],
  [
    "leaves an empty `required` out",
    { type: "object", properties: {}, required: [] },
    { type: "object", properties: {} },
  ],
  [
    "keeps additionalProperties",
    { type: "object", additionalProperties: { type: "integer" }, minProperties: 1, maxProperties: 2 },
    { type: "object", additionalProperties: { type: "integer" }, minProperties: 1, maxProperties: 2 },
  ],
  [
    "writes key patterns as additionalProperties",
    { type: "object", patternProperties: { "^(.*)$": { type: "integer" } } },
    { type: "object", additionalProperties: { type: "integer" } },
  ],
  [
    "writes several key patterns as a union",
    {
      type: "object",
      patternProperties: { "^a": { type: "integer" }, "^b": { type: "string" } },
      additionalProperties: false,
    },
    { type: "object", additionalProperties: { anyOf: [{ type: "integer" }, { type: "string" }] } },
  ],
  [
    "writes unevaluatedProperties as additionalProperties",
    { type: "object", unevaluatedProperties: false },
    { type: "object", additionalProperties: false },
  ],
  [
    "drops unevaluatedProperties of an intersection",
    { allOf: [{ type: "object" }], unevaluatedProperties: false },
    { allOf: [{ type: "object" }] },
  ],
  [
    "keeps a property called __proto__ or $ref as data",
    JSON.parse('{"type":"object","properties":{"$ref":{"type":"string"},"__proto__":{"type":"string"}}}') as JSONSchema,
    JSON.parse(
      '{"type":"object","properties":{"$ref":{"type":"string"},"__proto__":{"type":"string"}}}',
    ) as SchemaObject,
  ],

  [
    "converts inside a union, an intersection and a negation",
    { anyOf: [{ const: 1 }, { type: "string" }] },
    { anyOf: [{ type: "integer", enum: [1] }, { type: "string" }] },
  ],
  [
    "keeps oneOf",
    { oneOf: [{ type: "string" }, { type: "integer" }] },
    { oneOf: [{ type: "string" }, { type: "integer" }] },
  ],
  [
    "converts inside allOf",
    { allOf: [{ type: ["string", "null"] }, { const: "a" }] },
    {
      allOf: [
        { type: "string", nullable: true },
        { type: "string", enum: ["a"] },
      ],
    },
  ],
  ["converts inside not", { not: { const: 1 } }, { not: { type: "integer", enum: [1] } }],
  [
    "keeps a type beside a union of other keywords",
    { type: "object", properties: { a: {} }, anyOf: [{ required: ["a"] }, { type: "object" }] },
    { type: "object", properties: { a: {} }, anyOf: [{}, { type: "object" }] },
  ],
  [
    "puts rules that collide under allOf",
    { type: "string", minLength: 2, anyOf: [{ type: "string", pattern: "a" }, { type: "null" }] },
    {
      allOf: [
        { type: "string", minLength: 2 },
        { type: "string", pattern: "a", nullable: true },
      ],
    },
  ],
  [
    "converts boolean schemas",
    { type: "object", properties: { a: true as unknown as JSONSchema, b: false as unknown as JSONSchema } },
    { type: "object", properties: { a: {}, b: { not: {} } } },
  ],
  [
    "writes a Date as date-time",
    t.Date({ default: new Date(0) }),
    { type: "string", format: "date-time", default: "1970-01-01T00:00:00.000Z" },
  ],
];

describe("the dialect of OpenAPI 3.0", () => {
  it.each(KEYWORDS)("%s", (_rule, schema, converted) => {
    expect(convert(schema)).toEqual(converted);
  });

  it("carries no symbol of TypeBox's", () => {
    const converted = convert(t.Object({ a: t.Optional(t.Union([t.Literal("x"), t.Null()])), b: t.Tuple([t.Date()]) }));
    const symbols = (value: unknown): unknown[] =>
      typeof value === "object" && value !== null
        ? [...Object.getOwnPropertySymbols(value), ...Object.values(value).flatMap(symbols)]
        : [];
    expect(symbols(converted)).toEqual([]);
  });

  it.each([
    ["a record", t.Record(t.String(), t.Integer()), { type: "object", additionalProperties: { type: "integer" } }],
    [
      "an enum",
      t.Enum({ A: "a", B: 2 }),
      {
        anyOf: [
          { type: "string", enum: ["a"] },
          { type: "integer", enum: [2] },
        ],
      },
    ],
    ["a template literal", t.TemplateLiteral("a${0|1}"), { type: "string", pattern: "^a(0|1)$" }],
    ["a transform, as what travels", t.Transform(t.String()).Decode(Number).Encode(String), { type: "string" }],
    ["anything", t.Unknown(), {}],
    ["nothing", t.Never(), { not: {} }],
    [
      "an intersection",
      t.Intersect([t.Object({ a: t.String() }), t.Object({ b: t.String() })]),
      {
        type: "object",
        allOf: [
          { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
          { type: "object", properties: { b: { type: "string" } }, required: ["b"] },
        ],
      },
    ],
  ])("writes TypeBox's form of %s", (_name, schema, converted) => {
    expect(convert(schema)).toEqual(converted);
  });

  it("rejects a default that JSON cannot write, and a type without a JSON form", () => {
    expect(() => convert({ type: "integer", default: 1n })).toThrow(/default or an example has no JSON form/);
    expect(() => convert(t.Uint8Array())).toThrow(/"Uint8Array" cannot be described/);
    expect(() => convert({ enum: [1n] })).toThrow(/bigint has no JSON form/);
  });

  it("takes time linear in the number of an enum's values", async () => {
    const prepare = (count: number) => {
      const values = Array.from({ length: count }, (_, index) => `value ${index}`);
      return () => convert({ enum: values });
    };
    expect(await isLinear(prepare, 250)).toBe(true);
  });

  it("makes a property with a default optional as input and certain as output", () => {
    const schema = t.Object({
      a: t.String(),
      b: t.Boolean({ default: false }),
      c: t.Optional(t.Integer({ default: 1 })),
    });
    expect(convert(schema, "input").required).toEqual(["a"]);
    expect(convert(schema, "output").required).toEqual(["a", "b", "c"]);
  });

  it("rejects additional properties only for an input", () => {
    const schema = t.Object({ a: t.String() }, { additionalProperties: false });
    expect(convert(schema, "input").additionalProperties).toBe(false);
    expect(convert(schema, "output")).not.toHaveProperty("additionalProperties");
  });
});
