/**
 * From JSON Schema (draft 2020-12, draft-07 and TypeBox's own) to the dialect of OpenAPI 3.1 and 3.2, draft 2020-12.
 * @module
 */
import { configurationError } from "../common/exceptions.js";
import { defined, mapValues } from "../common/records.js";
import { type JSONSchema, listItems } from "../schema/json-schema.js";
import { type Annotations, type Inner, requiredOf, type SchemaContext, toJSONValue } from "./version.js";
import type { DiscriminatorObject, SchemaObject } from "./types.js";

const setOf = (words: string) => new Set(words.split(" "));

/** Keywords that hold a schema, a list of schemas, and schemas by name. Any other keeps its value. */
const SCHEMAS = setOf(
  "additionalProperties contains contentSchema else if not propertyNames then unevaluatedItems unevaluatedProperties",
);
const LISTS = setOf("allOf anyOf oneOf");
const MAPS = setOf("dependentSchemas patternProperties properties");

/** Keywords that are written from several, that would move the base of references, or that only tsgi and TypeBox have. */
const OMITTED = setOf(
  "type format items prefixItems additionalItems required example $anchor $defs $dynamicAnchor $id $schema $vocabulary " +
    "definitions errorMessage id minimumTimestamp maximumTimestamp exclusiveMinimumTimestamp exclusiveMaximumTimestamp " +
    "multipleOfTimestamp",
);

function valueOf(keyword: string, value: unknown, inner: Inner): unknown {
  if (typeof value === "boolean") return value;
  if (SCHEMAS.has(keyword)) return inner(value as JSONSchema);
  if (LISTS.has(keyword)) return (value as JSONSchema[]).map(inner);
  if (!MAPS.has(keyword)) return toJSONValue(value);
  return mapValues(value as Record<string, JSONSchema>, inner);
}

const TYPES = new Set(["array", "boolean", "integer", "null", "number", "object", "string"]);

/** Only TypeBox has the type `Date`. */
function typeOf(type: string): string {
  if (type === "Date") return "string";
  if (TYPES.has(type)) return type;
  throw configurationError("TSGI_SCHEMA_WITHOUT_OPENAPI_FORM", type);
}

/**
 * The keywords that replaced the formats of OpenAPI 3.0 for encoded text. The format is kept: Swagger UI detects an
 * array of files only by it, and `orval` 7 any file.
 *
 * @see OpenAPI 3.1.1 §4.8.14
 */
const ENCODINGS: Readonly<Record<string, Partial<SchemaObject>>> = {
  binary: { contentMediaType: "application/octet-stream" },
  byte: { contentEncoding: "base64" },
};

function typeAndFormat({ type, format, contentEncoding, contentMediaType }: JSONSchema): Partial<SchemaObject> {
  if (type === "Date") return { type: "string", format: "date-time" };
  const types = Array.isArray(type) ? type.map(typeOf) : type && typeOf(type);
  const written = types === undefined ? {} : { type: types as SchemaObject["type"] & {} };
  if (format === undefined) return written;
  const saysEncoding = contentEncoding !== undefined || contentMediaType !== undefined;
  const isEncoded = type === "string" && !saysEncoding && Object.hasOwn(ENCODINGS, format);
  return { ...written, format, ...(isEncoded ? ENCODINGS[format] : {}) };
}

/** Draft-07's tuples are `prefixItems`. */
function itemsOf(schema: JSONSchema, inner: Inner): Partial<SchemaObject> {
  const { prefix, rest } = listItems(schema);
  const prefixItems = prefix && prefix.length > 0 ? prefix.map(inner) : undefined;
  return defined({ prefixItems, items: typeof rest === "object" ? inner(rest) : rest });
}

/** An output never has unknown properties, regardless of its schema, so only an input states that it rejects them. */
function isImplied(keyword: string, value: unknown, { direction }: SchemaContext): boolean {
  return direction === "output" && value === false && /^(?:additional|unevaluated)Properties$/.test(keyword);
}

/** Writes a schema in the keywords of draft 2020-12: nearly as it is. Names and references are `inner`'s part. */
export function toJSONSchema202012(schema: JSONSchema, context: SchemaContext): SchemaObject {
  const { inner, discriminator, direction } = context;
  const written: Record<string, unknown> = typeAndFormat(schema);
  for (const keyword of Object.keys(schema)) {
    const value = schema[keyword];
    if (value === undefined || isImplied(keyword, value, context)) continue;
    const result = OMITTED.has(keyword) ? undefined : valueOf(keyword, value, inner);
    if (result !== undefined) written[keyword] = result;
  }
  Object.assign(written, itemsOf(schema, inner));
  const required = requiredOf(schema, direction);
  if (required.length > 0) written["required"] = required;
  if (schema["example"] !== undefined) written["examples"] ??= [toJSONValue(schema["example"])];
  return discriminator ? discriminate(written, schema, discriminator) : written;
}

/** Adds the discriminator. It distinguishes objects: with null they are a separate union. */
function discriminate(written: SchemaObject, schema: JSONSchema, discriminator: DiscriminatorObject): SchemaObject {
  const keyword = schema.anyOf ? "anyOf" : "oneOf";
  const members = written[keyword] ?? [];
  const isNull = (_: SchemaObject, index: number) => schema[keyword]?.[index]?.type === "null";
  const nulls = members.filter(isNull);
  if (nulls.length === 0) return { ...written, discriminator };
  const others = members.filter((member, index) => !isNull(member, index));
  return { ...written, [keyword]: [{ [keyword]: others, discriminator }, ...nulls] };
}

/** A reference can have annotations next to it, like any other schema. */
export function annotateJSONSchema(schema: SchemaObject, annotations: Annotations): SchemaObject {
  for (const [keyword, value] of Object.entries(annotations)) {
    if (value !== undefined) schema[keyword] = toJSONValue(value);
  }
  return schema;
}
