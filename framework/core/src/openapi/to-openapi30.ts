/** From JSON Schema (draft 2020-12, draft-07 and TypeBox's own) to the dialect of OpenAPI 3.0. @module */
import { configurationError } from "../common/exceptions.js";
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
  if (annotations === null || isEmpty(annotations)) return schema;
  return Object.assign(schema.$ref === undefined ? schema : { allOf: [schema] }, annotations);
}

function isEmpty(object: object): boolean {
  for (const _ in object) return false;
  return true;
}

/** The tighter of two lower or upper bounds: in OpenAPI 3.0 `exclusiveMinimum` says how `minimum` is meant. */
function addBounds(
  bounds: SchemaObject,
  { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: JSONSchema,
): SchemaObject {
  if (exclusiveMinimum !== undefined && exclusiveMinimum >= (minimum ?? -Infinity)) {
    bounds.minimum = exclusiveMinimum;
    bounds.exclusiveMinimum = true;
  } else if (minimum !== undefined) bounds.minimum = minimum;
  if (exclusiveMaximum !== undefined && exclusiveMaximum <= (maximum ?? Infinity)) {
    bounds.maximum = exclusiveMaximum;
    bounds.exclusiveMaximum = true;
  } else if (maximum !== undefined) bounds.maximum = maximum;
  if (multipleOf !== undefined) bounds.multipleOf = multipleOf;
  return bounds;
}

const TEXT_KEYWORDS = ["format", "pattern", "minLength", "maxLength"] as const;

function textOf(schema: JSONSchema): SchemaObject {
  const text: Record<string, unknown> = { type: "string" };
  for (const keyword of TEXT_KEYWORDS) {
    if (schema[keyword] !== undefined) text[keyword] = schema[keyword];
  }
  if (schema["contentEncoding"] === "base64") text["format"] ??= "byte";
  return text;
}

/** The dialect has no tuples: a list of any of the members, as long as the tuple. */
function listOf(schema: JSONSchema, inner: Inner): SchemaObject {
  const { prefix: tuple, rest } = listItems(schema);
  const list: SchemaObject = { type: "array", items: tuple ? tupleItems(tuple, rest, inner) : inner(rest ?? true) };
  if (schema.minItems !== undefined) list.minItems = schema.minItems;
  const maxItems = Math.min(schema.maxItems ?? Infinity, tuple && rest === false ? tuple.length : Infinity);
  if (maxItems !== Infinity) list.maxItems = maxItems;
  if (schema.uniqueItems) list.uniqueItems = true;
  return list;
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
  const struct: SchemaObject = { type: "object" };
  if (schema.properties) struct.properties = byName(schema.properties, inner);
  const required = requiredOf(schema, direction);
  if (required.length > 0) struct.required = required;
  const others = othersOf(schema, inner);
  // An output never has unknown properties, regardless of the schema, so only an input states that it rejects them.
  if (others !== undefined && (others !== false || direction === "input")) struct.additionalProperties = others;
  if (schema.minProperties !== undefined) struct.minProperties = schema.minProperties;
  if (schema.maxProperties !== undefined) struct.maxProperties = schema.maxProperties;
  return struct;
}

function byName(schemas: Readonly<Record<string, JSONSchema>>, inner: Inner): Record<string, SchemaObject> {
  return Object.fromEntries(Object.entries(schemas).map(([key, schema]) => [key, inner(schema)]));
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
    case "number": {
      const number: SchemaObject = { type };
      if (schema.format !== undefined) number.format = schema.format;
      return addBounds(number, schema);
    }
    case "array":
      return listOf(schema, inner);
    case "object":
      return structOf(schema, inner, direction);
    case "null":
      return enumSchema([null]);
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

/** A schema of several types as one schema for each. */
function membersByType(schema: JSONSchema, types: readonly string[]): JSONSchema[] {
  const {
    type: _type,
    title: _title,
    description: _description,
    default: _default,
    examples: _examples,
    $id: _id,
    ...rest
  } = schema;
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
