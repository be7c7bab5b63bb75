import { createRequire } from "node:module";
import { describe, expect, it } from "@jest/globals";
import { Components } from "../../src/openapi/components.js";
import type { SchemaObject } from "../../src/openapi/types.js";
import type { Direction } from "../../src/openapi/version.js";
import { VERSIONS } from "../../src/openapi/versions.js";
import type { JSONSchema } from "../../src/schema/json-schema.js";
import { t } from "../../src/schema/schema.js";
import { createKitchenSink } from "./_kitchen-sink.js";

function convert(schema: JSONSchema, direction: Direction = "input"): SchemaObject {
  return new Components(VERSIONS["3.1"]).convert(schema, { direction, place: "GET /", role: "body", of: null });
}

/** Schemas that are copied unchanged into an OpenAPI 3.1 document. */
const KEPT: readonly (readonly [rule: string, schema: JSONSchema])[] = [
  ["a type", { type: "string" }],
  ["several types", { type: ["string", "null"], minLength: 1 }],
  ["null", { type: "null" }],
  ["const", { const: "a", type: "string" }],
  ["const null", { const: null }],
  ["enum with null", { enum: ["a", null, 1] }],
  ["bounds", { type: "number", minimum: 0, exclusiveMinimum: 1, exclusiveMaximum: 9, multipleOf: 0.5 }],
  ["all examples", { type: "string", examples: ["a", "b"] }],
  ["annotations", { title: "T", description: "D", deprecated: true, readOnly: true, writeOnly: false, $comment: "c" }],
  ["extensions", { type: "string", "x-a": { b: 1 } }],
  ["tuples", { type: "array", prefixItems: [{ type: "string" }, {}], items: false, minItems: 2 }],
  ["contains", { type: "array", contains: { const: 1 }, minContains: 1, maxContains: 2, uniqueItems: true }],
  ["unevaluatedItems", { type: "array", unevaluatedItems: { type: "string" } }],
  [
    "patterns of keys",
    { type: "object", patternProperties: { "^a": { type: "string" } }, additionalProperties: false },
  ],
  ["propertyNames", { type: "object", propertyNames: { pattern: "^[a-z]+$" }, minProperties: 1 }],
  ["dependencies", { dependentRequired: { a: ["b"] }, dependentSchemas: { a: { required: ["c"] } } }],
  ["conditions", JSON.parse('{ "if": { "const": 1 }, "then": { "minimum": 0 }, "else": false }') as JSONSchema],
  ["unions", { anyOf: [{ type: "string" }, { type: "null" }] }],
  ["exclusive unions", { oneOf: [{ type: "string" }, { type: "integer" }] }],
  ["intersections", { allOf: [{ minimum: 1 }, { maximum: 2 }], unevaluatedProperties: false }],
  ["not", { not: { type: "string" } }],
  ["encoded text", { type: "string", contentEncoding: "base64", contentMediaType: "image/png" }],
  [
    "text of another schema",
    { type: "string", contentMediaType: "application/json", contentSchema: { type: "object" } },
  ],
  ["formats", { type: "string", format: "email" }],
  ["formats of numbers", { type: "integer", format: "int64" }],
  ["falsy defaults", { type: "boolean", default: false }],
  ["null as a default", { type: ["string", "null"], default: null }],
  ["properties without a type", { properties: { a: { type: "string" } }, required: ["a"] }],
  ["names of properties that are those of keywords", { properties: { $id: {}, id: {}, type: {}, required: {} } }],
];

/** Schemas that another draft, or TypeBox, writes in its own way. */
const REWRITTEN: readonly (readonly [rule: string, schema: JSONSchema, written: SchemaObject])[] = [
  [
    "draft-07's tuples",
    { type: "array", items: [{ type: "string" }], additionalItems: false },
    { type: "array", prefixItems: [{ type: "string" }], items: false },
  ],
  ["`example`", { type: "string", example: "a" }, { type: "string", examples: ["a"] }],
  [
    "a file",
    { type: "string", format: "binary" },
    { type: "string", format: "binary", contentMediaType: "application/octet-stream" },
  ],
  [
    "base64 as OpenAPI 3.0 has it",
    { type: "string", format: "byte" },
    { type: "string", format: "byte", contentEncoding: "base64" },
  ],
  ["TypeBox's date", t.Date({ minimumTimestamp: 0 }), { type: "string", format: "date-time" }],
  [
    "identifiers",
    { $schema: "https://json-schema.org/draft/2020-12/schema", $anchor: "a", type: "string" },
    { type: "string" },
  ],
  ["dates as values", { const: new Date(0) }, { const: "1970-01-01T00:00:00.000Z" }],
  [
    "required, for a default on the way in",
    { type: "object", properties: { a: { default: 1 }, b: {} }, required: ["a", "b"] },
    { type: "object", properties: { a: { default: 1 }, b: {} }, required: ["b"] },
  ],
];

describe("a schema in OpenAPI 3.1", () => {
  it.each(KEPT)("keeps %s", (_rule, schema) => {
    expect(convert(schema)).toEqual(schema);
  });

  it.each(REWRITTEN)("writes %s in the words of draft 2020-12", (_rule, schema, written) => {
    expect(convert(schema)).toEqual(written);
  });

  it("requires properties with a default in responses, and does not repeat that others are removed", () => {
    const schema = { type: "object", properties: { a: { default: 1 } }, additionalProperties: false };
    expect(convert(schema, "output")).toEqual({ type: "object", properties: { a: { default: 1 } }, required: ["a"] });
  });

  it("does not exist for a type without a JSON form", () => {
    expect(() => convert({ type: "bigint" })).toThrow(/"bigint" cannot be described in an OpenAPI document/);
  });
});

interface Ajv {
  validateSchema(schema: object): boolean;
  errors?: unknown[] | null;
}

/** Every value of a key that holds a schema in a document. */
function schemasOf(value: unknown): object[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    ["schema", "itemSchema", "x-itemSchema"].includes(key) ? [member as object] : schemasOf(member),
  );
}

describe("the schemas of an application that uses every feature", () => {
  it.each(["3.1", "3.2"] as const)("fit the meta-schema of draft 2020-12 in OpenAPI %s", (version) => {
    // The validator's own Ajv: the meta-schema of OpenAPI delegates schemas to the meta-schema of their dialect.
    const require = createRequire(createRequire(import.meta.url).resolve("@seriousme/openapi-schema-validator"));
    const { default: Ajv2020 } = require("ajv/dist/2020.js") as { default: new (options: object) => Ajv };
    const ajv = new Ajv2020({ strict: false });
    const { components, ...rest } = createKitchenSink(version).openapi();
    const schemas = [...Object.values(components?.schemas ?? {}), ...schemasOf(rest)];
    expect(schemas.length).toBeGreaterThan(100);
    expect(schemas.flatMap((schema) => (ajv.validateSchema(schema) ? [] : [ajv.errors]))).toEqual([]);
  });
});
