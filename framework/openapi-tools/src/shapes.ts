/** Schemas of any version of OpenAPI as lists of alternatives, each of one type, so that they can be compared. @module */
import { canonical, type Json, listOf, objectOf, resolve, textsOf } from "./json-parts.js";

export type ShapeType = "any" | "null" | "boolean" | "number" | "string" | "array" | "object";

/** One of the forms that a value may have. */
export interface Shape {
  readonly type: ShapeType;
  /** A number without a fraction. */
  readonly isInteger: boolean;
  /** The values that are allowed, as JSON; `null` for any. */
  readonly values: ReadonlySet<string> | null;
  /** The keywords of the schema, together with those of its intersection. */
  readonly keywords: Json;
  /** The address of its component, or an empty string. */
  readonly ref: string;
}

/** Keywords that allow less the greater they are, and those that allow less the smaller they are. */
export const LOWER = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"];
export const UPPER = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"];

/** The greatest depth of unions and intersections inside one another, which may lead back to themselves. */
const MAX_DEPTH = 24;

/** The alternatives of a schema; empty if it allows no value. */
export function shapesOf(schema: unknown, document: Json): Shape[] {
  return merged(flatten(schema, document, 0));
}

function flatten(schema: unknown, document: Json, depth: number): Shape[] {
  if (schema === false || depth > MAX_DEPTH) return [];
  const ref = refOf(schema, document);
  const whole = withParts(modern(resolve(schema, document)), document, depth);
  const union = listOf(whole["anyOf"] ?? whole["oneOf"]);
  if (union.length === 0) return typed(whole).map((shape) => ({ ...shape, ref }));
  const { anyOf: _any, oneOf: _one, discriminator: _discriminator, ...base } = whole;
  const isBare = Object.keys(constraints(base)).length === 0;
  return union.flatMap((member) =>
    isBare ? flatten(member, document, depth + 1) : flatten({ allOf: [base, member] }, document, depth + 1),
  );
}

/** The last address on the way to a component. OpenAPI 3.0 wraps a reference in `allOf` to say something of it. */
function refOf(schema: unknown, document: Json, depth = 0): string {
  const { $ref, allOf } = objectOf(schema);
  const [only, ...others] = listOf(allOf);
  if (depth > MAX_DEPTH || (typeof $ref !== "string" && (only === undefined || others.length > 0))) return "";
  if (typeof $ref !== "string") return refOf(only, document, depth + 1);
  return refOf(resolve({ $ref }, document), document, depth + 1) || $ref;
}

const ANNOTATIONS = new Set(
  ["title", "description", "default", "example", "examples", "deprecated", "externalDocs", "xml", "$comment"].concat([
    "$schema",
    "$id",
    "$defs",
    "discriminator",
    "readOnly",
    "writeOnly",
    "contentSchema",
  ]),
);

/** The keywords that decide what fits. */
export function constraints(schema: Json): Json {
  const entries = Object.entries(schema).filter(([key]) => !ANNOTATIONS.has(key) && !key.startsWith("x-"));
  return Object.fromEntries(entries);
}

/** The keywords of OpenAPI 3.0 in the words of 2020-12, and what can be said in several ways in one of them. */
function modern(schema: Json): Json {
  const { nullable, format, exclusiveMinimum, exclusiveMaximum, const: value, ...rest } = schema;
  const written: Record<string, unknown> = { ...rest };
  if ("const" in schema) written["enum"] = [value];
  if (format === "binary") written["contentMediaType"] ??= "application/octet-stream";
  else if (format === "byte") written["contentEncoding"] ??= "base64";
  else if (format !== undefined) written["format"] = format;
  setBound(written, "minimum", "exclusiveMinimum", exclusiveMinimum);
  setBound(written, "maximum", "exclusiveMaximum", exclusiveMaximum);
  if (schema["items"] === false) written["maxItems"] ??= listOf(schema["prefixItems"]).length;
  allKeys(written);
  return nullable === true ? withNull(written) : written;
}

/** `nullable` widens the type next to it, and its list of values. */
function withNull(schema: Record<string, unknown>): Json {
  if (schema["type"] === undefined) return schema;
  const values = listOf(schema["enum"]);
  const withValue = values.length > 0 && !values.includes(null) ? { enum: [...values, null] } : {};
  return { ...schema, type: [...typesOf(schema), "null"], ...withValue };
}

/** A pattern that every key fits is `additionalProperties`. TypeBox writes records so. */
function allKeys(schema: Record<string, unknown>): void {
  const [[pattern, values] = [], ...others] = Object.entries(objectOf(schema["patternProperties"]));
  if (others.length > 0 || !pattern || !/^\^?\(?\.\*\)?\$?$/.test(pattern)) return;
  delete schema["patternProperties"];
  schema["additionalProperties"] = values;
}

function setBound(schema: Record<string, unknown>, bound: string, exclusive: string, value: unknown): void {
  if (value === true) {
    schema[exclusive] = schema[bound];
    delete schema[bound];
  } else if (typeof value === "number") schema[exclusive] = value;
}

function typesOf({ type }: Json): string[] {
  return typeof type === "string" ? [type] : textsOf(type);
}

/** The schema with the members of its `allOf` laid over one another. */
function withParts(schema: Json, document: Json, depth: number): Json {
  const { allOf, ...rest } = schema;
  return listOf(allOf).reduce<Json>((whole, part) => {
    if (depth > MAX_DEPTH) return whole;
    const member = withParts(modern(resolve(part, document)), document, depth + 1);
    return intersect(whole, member);
  }, rest);
}

type Join = (left: unknown, right: unknown) => unknown;

/** Keywords whose intersection is neither of the two. */
const JOINS: Readonly<Record<string, Join>> = {
  ...Object.fromEntries(LOWER.map((keyword) => [keyword, (left, right) => pick(Math.max, left, right)] as const)),
  ...Object.fromEntries(UPPER.map((keyword) => [keyword, (left, right) => pick(Math.min, left, right)] as const)),
  required: (left, right) => [...new Set([...textsOf(left), ...textsOf(right)])],
  properties: (left, right) => intersectProperties(objectOf(left), objectOf(right)),
  enum: (left, right) => {
    const values = new Set(listOf(right).map(canonical));
    return listOf(left).filter((value) => values.has(canonical(value)));
  },
  type: (left, right) => commonTypes({ type: left }, { type: right }),
};

/** Both at once. Of another keyword, such as two patterns, the first one counts. */
function intersect(left: Json, right: Json): Json {
  const whole: Record<string, unknown> = { ...right, ...left };
  for (const [keyword, join] of Object.entries(JOINS)) {
    if (left[keyword] !== undefined && right[keyword] !== undefined)
      whole[keyword] = join(left[keyword], right[keyword]);
  }
  return whole;
}

function pick(choose: (...values: number[]) => number, left: unknown, right: unknown): number | undefined {
  const values = [left, right].filter((value) => typeof value === "number");
  return values.length > 0 ? choose(...values) : undefined;
}

function commonTypes(left: Json, right: Json): string[] {
  const types = typesOf(right);
  return typesOf(left).flatMap((type) => {
    if (types.includes(type)) return [type];
    if (type === "number" && types.includes("integer")) return ["integer"];
    return type === "integer" && types.includes("number") ? ["integer"] : [];
  });
}

function intersectProperties(left: Json, right: Json): Json {
  const shared = Object.keys(left).filter(
    (key) => Object.hasOwn(right, key) && canonical(left[key]) !== canonical(right[key]),
  );
  const both = shared.map((key): [string, unknown] => [key, { allOf: partsOf(left[key], right[key]) }]);
  return Object.fromEntries([...Object.entries(right), ...Object.entries(left), ...both]);
}

/** Flat and without repetition, so that structs that contain themselves come to an end. */
function partsOf(...schemas: readonly unknown[]): unknown[] {
  const parts = schemas.flatMap((schema) => {
    const { allOf, ...rest } = objectOf(schema);
    const isOnly = Array.isArray(allOf) && Object.keys(rest).length === 0;
    return isOnly ? partsOf(...listOf(allOf)) : [schema];
  });
  return [...new Map(parts.map((part) => [canonical(part), part])).values()];
}

function typeOfValue(value: unknown): ShapeType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  const type = typeof value;
  return type === "string" || type === "number" || type === "boolean" ? type : "object";
}

/** One shape for each type that the schema allows. */
function typed(schema: Json): Shape[] {
  const values = Array.isArray(schema["enum"]) ? schema["enum"] : null;
  const implied = schema["properties"] !== undefined ? ["object"] : schema["items"] !== undefined ? ["array"] : [];
  const stated = schema["type"] === undefined ? implied : typesOf(schema);
  const types: readonly string[] = stated.length > 0 ? stated : values ? values.map(typeOfValue) : ["any"];
  if (schema["type"] !== undefined && stated.length === 0) return [];
  return [...new Set(types)].flatMap((type) => {
    const kind = type === "integer" ? "number" : (type as ShapeType);
    const own = values?.filter((value) => kind === "any" || typeOfValue(value) === kind);
    if (own?.length === 0) return [];
    const set =
      kind === "boolean" || kind === "null" ? ownBooleans(kind, own) : own ? new Set(own.map(canonical)) : null;
    return [{ type: kind, isInteger: type === "integer", values: set, keywords: schema, ref: "" }];
  });
}

/** Only `null`, or `true` and `false` together, need no list. */
function ownBooleans(kind: ShapeType, values: readonly unknown[] | undefined): ReadonlySet<string> | null {
  const set = new Set(values?.map(canonical));
  return kind === "boolean" && set.size === 1 ? set : null;
}

/** Scalars of one type with fixed values are one shape, as an `enum` has them. */
function merged(shapes: readonly Shape[]): Shape[] {
  const result: Shape[] = [];
  for (const shape of shapes) {
    const index = result.findIndex((known) => canMerge(known, shape));
    const known = result[index];
    if (known?.values && shape.values) {
      result[index] = { ...known, values: new Set([...known.values, ...shape.values]), ref: "" };
    } else if (!known) result.push(shape);
  }
  return result;
}

function canMerge(known: Shape, shape: Shape): boolean {
  if (known.type !== shape.type || shape.type === "object" || shape.type === "array") return false;
  if (known.values && shape.values) return true;
  return (
    canonical([constraints(known.keywords), known.isInteger]) ===
    canonical([constraints(shape.keywords), shape.isInteger])
  );
}
