/** `null` in OpenAPI 3.0, which has no such type. @module */
import { configurationError } from "../common/exceptions.js";
import type { SchemaObject } from "./types.js";

/**
 * The schema of `null` alone. A `type` is needed: `nullable` widens only a type that stands beside it.
 *
 * @see {@link https://github.com/OAI/OpenAPI-Specification/blob/main/proposals/2019-10-31-Clarify-Nullable.md}
 */
function nullSchema(): SchemaObject {
  return { type: "object", nullable: true, enum: [null] };
}

/** Widens a schema by `null`. */
export function toNullable(schema: SchemaObject): SchemaObject {
  if (schema.$ref === undefined && schema.type !== undefined) {
    const values = schema.enum && !schema.enum.includes(null) ? { enum: [...schema.enum, null] } : {};
    return { ...schema, nullable: true, ...values };
  }
  // A discriminator tells objects apart, and null is none.
  if (schema.anyOf && !schema.allOf && !schema.oneOf && !schema.not && !schema.discriminator) {
    return { ...schema, anyOf: [...schema.anyOf, nullSchema()] };
  }
  // A schema without any rule takes null as it is.
  const rules: readonly (keyof SchemaObject)[] = ["$ref", "allOf", "anyOf", "oneOf", "not", "enum"];
  return rules.every((keyword) => schema[keyword] === undefined) ? schema : { anyOf: [schema, nullSchema()] };
}

/** Which `type` a JSON value is of; `null` for null, which has none in OpenAPI 3.0. */
function typeOf(value: unknown): NonNullable<SchemaObject["type"]> | null {
  if (value === null) return null;
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  const type = typeof value;
  if (type === "string" || type === "boolean" || type === "object") return type;
  throw configurationError("TSGI_VALUE_WITHOUT_JSON_FORM.value", type);
}

function enumOfType(type: NonNullable<SchemaObject["type"]>, values: unknown[]): SchemaObject {
  return type === "array" ? { type, items: {}, enum: values } : { type, enum: values };
}

/** The schema of a list of fixed values: one `enum` for each type of them. */
export function enumSchema(values: readonly unknown[]): SchemaObject {
  const byType = new Map<NonNullable<SchemaObject["type"]>, unknown[]>();
  let takesNull = false;
  for (const value of new Set(values)) {
    const type = typeOf(value);
    if (type === null) takesNull = true;
    else if (byType.has(type)) byType.get(type)?.push(value);
    else byType.set(type, [value]);
  }
  if (byType.has("integer") && byType.has("number")) {
    byType.set("number", [...(byType.get("integer") ?? []), ...(byType.get("number") ?? [])]);
    byType.delete("integer");
  }
  const members = [...byType].map(([type, list]) => enumOfType(type, list));
  if (members.length === 0) return nullSchema();
  const schema = members.length === 1 ? (members[0] as SchemaObject) : { anyOf: members };
  return takesNull ? toNullable(schema) : schema;
}
