/** The parameters that a route reads from the request, prepared for the OpenAPI document. @module */
import type { SourceSpec } from "../parameters/dependencies/plan.js";
import { absenceOf, type SourceMarker } from "../parameters/source.js";
import { type CompiledSchema, propertiesIn } from "../schema/compiled-schema.js";
import { jsonEqual } from "../schema/check.js";
import { haveSameRules, isAnyText } from "../schema/compatible.js";
import { type JSONSchema, resolveRef } from "../schema/json-schema.js";
import type { Components, Use } from "./components.js";
import { toJSONValue } from "./version.js";
import type { ExampleObject, SchemaObject } from "./types.js";

/** A parameter that is read from the request, with its facts for the document. */
export interface SourceParam {
  readonly spec: SourceSpec;
  readonly marker: SourceMarker;
  /** The name under which it travels. */
  readonly name: string;
  readonly compiled: CompiledSchema;
  readonly isRequired: boolean;
}

/** The parameters of a route that are read from the request. */
export function sourcesOf(specs: readonly SourceSpec[]): SourceParam[] {
  return specs.map((spec) => {
    const { name, marker } = spec;
    const { isRequired } = absenceOf(marker);
    return { spec, marker, name: marker.wireName(name), compiled: marker.compiled, isRequired };
  });
}

/** Tells if the document lists it. */
export function isListed({ marker: { source, options } }: SourceParam): boolean {
  return source.isInPattern || options.includeInSchema !== false;
}

/** A place in the document, with the components that it refers to. */
export interface DocumentPlace {
  readonly components: Components;
  /** The method and the pattern of its route, for messages. */
  readonly at: string;
}

/** The use of its schema. */
function useOf({ spec, marker }: SourceParam, place: string): Use {
  return { direction: "input", place, role: spec.name, of: marker.schema };
}

/** One function that reads a value of the request: a parameter, or a property of an object schema. */
export interface Reader {
  readonly name: string;
  readonly json: JSONSchema;
  readonly schema: SchemaObject;
  readonly isRequired: boolean;
}

/** The schema of its value, with the default of its parameter function. */
export function schemaOf(param: SourceParam, { components, at }: DocumentPlace): SchemaObject {
  const { spec, marker } = param;
  const json = marker.source.toJSONSchema(marker);
  const schema = components.convert(json, useOf(param, at));
  if (marker.source.body === "multipart") return schema; // A default that replaces files is not a file.
  if (marker.source.body !== "json") omitNull(schema);
  // The schema's own default is in its JSON Schema, except in libraries that do not write it there.
  const value = toJSONValue(marker.options.default ?? (json.default === undefined ? spec.default : undefined));
  return value === undefined || value === null ? schema : components.annotate(schema, { default: value });
}

/** No string represents null. */
function omitNull(schema: SchemaObject): SchemaObject {
  if (schema.default === null) delete schema.default;
  return schema;
}

/** In OpenAPI 3.0, a reference with a default is in an `allOf`. */
function withoutDefault(schema: SchemaObject): SchemaObject {
  delete schema.default;
  const [only, ...others] = schema.allOf ?? [];
  return only !== undefined && others.length === 0 && Object.keys(schema).length === 1 ? only : schema;
}

/**
 * The schema of a value that several functions read: it must match each of their schemas, and is required if one of
 * them requires it. Without the value, all of them must have the same default, or the document does not list it.
 */
export function sharedSchema(
  readers: readonly [Reader, ...Reader[]],
  { components }: DocumentPlace,
): Pick<Reader, "schema" | "isRequired"> {
  const [first, ...others] = readers;
  if (others.length === 0) return first;
  const { default: value } = first.schema;
  const hasDefault = value !== undefined && others.every(({ schema }) => jsonEqual(schema.default, value));
  const bare = readers.map((reader) => ({ ...reader, schema: withoutDefault(reader.schema) }));
  const distinct = bare.filter(
    ({ json }, index) => bare.findIndex((other) => haveSameRules(other.json, json)) === index,
  );
  const strict = distinct.filter(({ json }) => !isAnyText(json));
  const [only = distinct[0] ?? first, ...more] = strict;
  const schema = more.length === 0 ? only.schema : { allOf: strict.map((reader) => reader.schema) };
  return {
    schema: hasDefault ? components.annotate(schema, { default: value }) : schema,
    isRequired: readers.some(({ isRequired }) => isRequired),
  };
}

/** The properties that an object schema, or an intersection of some, requires. */
function requiredProperties(schema: JSONSchema): Set<string> {
  const target = schema.$ref === undefined ? schema : (resolveRef(schema.$ref, schema) ?? schema);
  return new Set([...(target.required ?? []), ...(target.allOf ?? []).flatMap((member) => member.required ?? [])]);
}

/** The properties of an object schema that are read by their own names; `null` for any other parameter. */
export function propertiesOf(param: SourceParam, { components, at }: DocumentPlace): Reader[] | null {
  const { compiled, marker } = param;
  if (!marker.source.readsProperties || !compiled.properties) return null;
  const root = compiled.json ?? {};
  const required = requiredProperties(root);
  // With the defaults and examples of a library, which fills them in itself.
  const properties = propertiesIn(root) ?? compiled.properties;
  return Array.from(properties, ([key, property]) => ({
    name: marker.source.wireName(key),
    json: property,
    schema: omitNull(components.convert(property, useOf(param, at), root)),
    isRequired: param.isRequired && required.has(key) && property.default === undefined,
  }));
}

/** Examples next to a schema: a single one, or several by number. */
export function examplesOf(examples: readonly unknown[] | undefined): {
  example?: unknown;
  examples?: Record<string, ExampleObject>;
} {
  if (!examples || examples.length === 0) return {};
  if (examples.length === 1) return { example: toJSONValue(examples[0]) };
  return {
    examples: Object.fromEntries(examples.map((value, index) => [String(index + 1), { value: toJSONValue(value) }])),
  };
}

const RULES_OF_LISTS = ["minItems", "maxItems", "uniqueItems", "contains"];

/** Tells if any text that can travel there fits, or any list of texts. */
function takesAnyText({ json }: CompiledSchema): boolean {
  if (json === null || isAnyText(json)) return json !== null;
  const isList = json.type === "array" && RULES_OF_LISTS.every((keyword) => json[keyword] === undefined);
  return isList && typeof json.items === "object" && !Array.isArray(json.items) && isAnyText(json.items);
}

/** Tells if a request can be refused for this parameter. */
export function canFail({ marker: { source }, compiled, isRequired }: SourceParam): boolean {
  return source.body !== null || (!source.isInPattern && isRequired) || !takesAnyText(compiled);
}
