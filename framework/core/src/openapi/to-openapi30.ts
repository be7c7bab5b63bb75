/** From JSON Schema (draft 2020-12, draft-07 and TypeBox's own) to the dialect of OpenAPI 3.0. @module */
import { configurationError } from "../common/exceptions.js";
import { defined, mapValues } from "../common/records.js";
import { type JSONSchema, listItems, unionMembers } from "../schema/json-schema.js";
import {
  type Annotations,
  type Direction,
  type Inner,
  requiredOf,
  type SchemaContext,
  toJSONValue,
} from "./version.js";
import type { SchemaObject } from "./types.js";

/**
 * The schema of only `null`. A `type` is required: `nullable` only widens a type next to it.
 *
 * @see {@link https://github.com/OAI/OpenAPI-Specification/blob/main/proposals/2019-10-31-Clarify-Nullable.md}
 */
function nullSchema(): SchemaObject {
  return { type: "object", nullable: true, enum: [null] };
}

/** A schema that allows what any of these does: a single one as it is. */
function anyOf(members: SchemaObject[]): SchemaObject {
  const [only] = members;
  return only !== undefined && members.length === 1 ? only : { anyOf: members };
}

/** Widens a schema by `null`. */
function toNullable(schema: SchemaObject): SchemaObject {
  if (schema.$ref === undefined && schema.type !== undefined) {
    const values = schema.enum && !schema.enum.includes(null) ? { enum: [...schema.enum, null] } : {};
    return { ...schema, nullable: true, ...values };
  }
  // A discriminator distinguishes objects, and null is not an object.
  if (schema.anyOf && !schema.allOf && !schema.oneOf && !schema.not && !schema.discriminator) {
    return { ...schema, anyOf: [...schema.anyOf, nullSchema()] };
  }
  // A schema without any rule takes null as it is.
  const rules: readonly (keyof SchemaObject)[] = ["$ref", "allOf", "anyOf", "oneOf", "not", "enum"];
  return rules.every((keyword) => schema[keyword] === undefined) ? schema : { anyOf: [schema, nullSchema()] };
}

/** The `type` of a JSON value; `null` for null, which has no type in OpenAPI 3.0. */
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
function enumSchema(values: readonly unknown[]): SchemaObject {
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
  const schema = anyOf(members);
  return takesNull ? toNullable(schema) : schema;
}

const PLAIN_ANNOTATIONS = ["title", "description", "deprecated", "readOnly", "writeOnly"] as const;

/** The annotations of a schema; `null` without annotations. */
function annotationsOf(schema: JSONSchema): Partial<SchemaObject> | null {
  let annotations: Record<string, unknown> | null = null;
  for (const keyword of PLAIN_ANNOTATIONS) {
    if (schema[keyword] !== undefined) (annotations ??= {})[keyword] = schema[keyword];
  }
  const fallback = toJSONValue(schema.default);
  if (fallback !== undefined) (annotations ??= {})["default"] = fallback;
  const example: unknown = Array.isArray(schema.examples) ? schema.examples[0] : schema["example"];
  if (example !== undefined) (annotations ??= {})["example"] = toJSONValue(example);
  for (const keyword in schema) {
    if (keyword.startsWith("x-")) (annotations ??= {})[keyword] = toJSONValue(schema[keyword]);
  }
  return annotations;
}

/** Puts annotations on a schema. Keywords next to a `$ref` are ignored (§4.7.23), so a reference is wrapped. */
function annotate(schema: SchemaObject, annotations: Partial<SchemaObject> | null): SchemaObject {
  if (annotations === null) return schema;
  return Object.assign(schema.$ref === undefined ? schema : { allOf: [schema] }, annotations);
}

/** The tighter of two lower or upper bounds: in OpenAPI 3.0 `exclusiveMinimum` says how `minimum` is meant. */
function numberOf(type: "integer" | "number", schema: JSONSchema): SchemaObject {
  const { format, minimum, maximum, exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity, multipleOf } = schema;
  const isAbove = exclusiveMinimum > -Infinity && exclusiveMinimum >= (minimum ?? -Infinity);
  const isBelow = exclusiveMaximum < Infinity && exclusiveMaximum <= (maximum ?? Infinity);
  return defined({
    type,
    format,
    minimum: isAbove ? exclusiveMinimum : minimum,
    exclusiveMinimum: isAbove || undefined,
    maximum: isBelow ? exclusiveMaximum : maximum,
    exclusiveMaximum: isBelow || undefined,
    multipleOf,
  });
}

function textOf(schema: JSONSchema): SchemaObject {
  const { pattern, minLength, maxLength } = schema;
  const { format = schema["contentEncoding"] === "base64" ? "byte" : undefined } = schema;
  return defined({ type: "string" as const, format, pattern, minLength, maxLength });
}

/** The dialect has no tuples: a list of any of the members, as long as the tuple. */
function listOf(schema: JSONSchema, inner: Inner): SchemaObject {
  const { prefix: tuple, rest } = listItems(schema);
  const maxItems = Math.min(schema.maxItems ?? Infinity, tuple && rest === false ? tuple.length : Infinity);
  return defined({
    type: "array" as const,
    items: tuple ? tupleItems(tuple, rest, inner) : inner(rest ?? true),
    minItems: schema.minItems,
    maxItems: maxItems === Infinity ? undefined : maxItems,
    uniqueItems: schema.uniqueItems || undefined,
  });
}

function tupleItems(tuple: readonly JSONSchema[], rest: JSONSchema | boolean | undefined, inner: Inner): SchemaObject {
  if (rest === undefined || rest === true) return {};
  const members = rest === false ? tuple : [...tuple, rest];
  const distinct = new Map(members.map((member) => [JSON.stringify(member), member]));
  if (distinct.size === 0) return {};
  const converted = [...distinct.values()].map(inner);
  return anyOf(converted);
}

function structOf(schema: JSONSchema, inner: Inner, direction: Direction): SchemaObject {
  const { properties, minProperties, maxProperties } = schema;
  const required = requiredOf(schema, direction);
  const others = othersOf(schema, inner);
  return defined({
    type: "object" as const,
    properties: properties && mapValues(properties, inner),
    required: required.length > 0 ? required : undefined,
    // An output never has unknown properties, regardless of the schema, so only an input states that it rejects them.
    additionalProperties: others === false && direction === "output" ? undefined : others,
    minProperties,
    maxProperties,
  });
}

/** The dialect has no patterns for keys: a value can match any of the patterns' schemas. */
function othersOf(schema: JSONSchema, inner: Inner): SchemaObject | boolean | undefined {
  const additional = schema.additionalProperties ?? (schema.allOf ? undefined : schema.unevaluatedProperties);
  const patterns = Object.values(schema.patternProperties ?? {});
  if (patterns.length === 0) return typeof additional === "object" ? inner(additional) : additional;
  const members = [...patterns, ...(typeof additional === "object" ? [additional] : [])].map(inner);
  return anyOf(members);
}

const TYPES = new Set(["array", "boolean", "integer", "number", "object", "string"]);

/** The keywords of one type. */
function typedOf(type: string, schema: JSONSchema, { inner, direction }: SchemaContext): SchemaObject {
  switch (type) {
    case "Date":
      return { type: "string", format: "date-time" };
    case "string":
      return textOf(schema);
    case "integer":
    case "number":
      return numberOf(type, schema);
    case "array":
      return listOf(schema, inner);
    case "object":
      return structOf(schema, inner, direction);
    default:
      if (TYPES.has(type)) return { type: type as "boolean" };
      throw configurationError("TSGI_SCHEMA_WITHOUT_OPENAPI_FORM", type);
  }
}

/** The values of a schema that fixes them, or `null`. */
function fixedValues(schema: JSONSchema): readonly unknown[] | null {
  if (Object.hasOwn(schema, "const") && schema.const !== undefined) return [schema.const];
  if (schema.enum) return schema.enum;
  return schema.type === "null" ? [null] : null;
}

/** A union; if it consists only of fixed values, it is an enum. */
function unionOf(
  members: readonly JSONSchema[],
  keyword: "anyOf" | "oneOf",
  { inner, discriminator }: Pick<SchemaContext, "inner" | "discriminator">,
): SchemaObject {
  const isBare = (member: JSONSchema) => member.title === undefined && member.description === undefined && !member.$id;
  const values = members.map((member) => (isBare(member) ? fixedValues(member) : null));
  if (values.every((list) => list !== null)) return enumSchema(values.flat());
  const others = members.filter((member) => member.type !== "null");
  const [only] = others;
  const isSingle = only !== undefined && others.length === 1;
  const union: SchemaObject = isSingle ? inner(only) : { [keyword]: others.map(inner) };
  if (discriminator) union.discriminator = discriminator;
  return others.length < members.length ? toNullable(union) : union;
}

/** The rules of a schema without its annotations. */
function rulesOf(schema: JSONSchema, context: SchemaContext): SchemaObject {
  const { inner } = context;
  const values = fixedValues(schema);
  if (values) return enumSchema(values);
  if (Array.isArray(schema.type))
    return unionOf(membersByType(schema, schema.type), "anyOf", { inner, discriminator: null });
  const type = schema.type ?? (schema.properties ? "object" : undefined);
  const union = unionMembers(schema);
  const parts: SchemaObject[] = [];
  if (type !== undefined) parts.push(typedOf(type, schema, context));
  if (union) parts.push(unionOf(union, schema.anyOf ? "anyOf" : "oneOf", context));
  if (schema.allOf) parts.push({ allOf: schema.allOf.map(inner) });
  if (schema.not) parts.push({ not: inner(schema.not) });
  return joined(parts);
}

/** Keywords of a schema of several types that its parts do not repeat. */
const OF_WHOLE = new Set(["type", "title", "description", "default", "examples", "$id"]);

/** A schema of several types as one schema for each. */
function membersByType(schema: JSONSchema, types: readonly string[]): JSONSchema[] {
  const rest = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !OF_WHOLE.has(keyword)));
  return types.map((type) => ({ ...rest, type }));
}

/** All parts at the same time: merged if no keyword is repeated, otherwise under `allOf`. */
function joined(parts: readonly SchemaObject[]): SchemaObject {
  const [only] = parts;
  // Not copied: a reference is the very object whose name is written later.
  if (only !== undefined && parts.length === 1) return only;
  const keywords = parts.flatMap((part) => Object.keys(part));
  const fits = new Set(keywords).size === keywords.length && !keywords.includes("$ref");
  return fits ? (Object.assign({}, ...parts) as SchemaObject) : { allOf: [...parts] };
}

/**
 * Converts one schema. Keywords that the dialect does not have (`contains`, `propertyNames`, `if`, …) are omitted, so
 * that the result allows at least everything that the schema allows.
 *
 * @throws ConfigurationError when it has no JSON form.
 */
export function toOpenAPI30(schema: JSONSchema, context: SchemaContext): SchemaObject {
  return annotate(rulesOf(schema, context), annotationsOf(schema));
}

/** Of several examples, the first is in `example`. */
export function annotateOpenAPI30(schema: SchemaObject, annotations: Annotations): SchemaObject {
  return annotate(schema, annotationsOf(annotations as JSONSchema));
}
