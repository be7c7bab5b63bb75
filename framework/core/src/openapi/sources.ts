/** The parameters that a route reads from the request, prepared for the OpenAPI document. @module */
import type { SourceSpec } from "../parameters/dependencies/plan.js";
import { absenceOf, type SourceMarker } from "../parameters/source.js";
import type { CompiledSchema } from "../schema/compiled-schema.js";
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

/** The schema of its value, with the default of its descriptor. */
export function schemaOf(param: SourceParam, { components, at }: DocumentPlace): SchemaObject {
  const { spec, marker } = param;
  const json = marker.source.toJSONSchema(marker);
  const schema = components.convert(json, useOf(param, at));
  if (marker.source.body === "multipart") return schema; // A default that replaces files is not a file.
  // The schema's own default is in its JSON Schema, except in libraries that do not write it there.
  const value = toJSONValue(marker.options.default ?? (json.default === undefined ? spec.default : undefined));
  return value === undefined || value === null ? schema : components.annotate(schema, { default: value });
}

/** A property of an object schema that travels by its own name. */
export interface PropertyParam {
  readonly name: string;
  readonly property: JSONSchema;
  readonly schema: SchemaObject;
  readonly isRequired: boolean;
}

/** The properties that an object schema, or an intersection of some, requires. */
function requiredProperties(schema: JSONSchema): Set<string> {
  const target = schema.$ref === undefined ? schema : (resolveRef(schema.$ref, schema) ?? schema);
  return new Set([...(target.required ?? []), ...(target.allOf ?? []).flatMap((member) => member.required ?? [])]);
}

/** The properties of an object schema that are read by their own names; `null` for any other parameter. */
export function propertiesOf(param: SourceParam, { components, at }: DocumentPlace): PropertyParam[] | null {
  const { compiled, marker } = param;
  if (!marker.source.readsProperties || !compiled.properties) return null;
  const root = compiled.json ?? {};
  const required = requiredProperties(root);
  return Array.from(compiled.properties, ([key, property]) => ({
    name: marker.source.wireName(key),
    property,
    schema: components.convert(property, useOf(param, at), root),
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

const RULES_OF_TEXT = "format pattern minLength maxLength enum const anyOf oneOf allOf not".split(" ");

const RULES_OF_LISTS = ["minItems", "maxItems", "uniqueItems", "contains"];

function isAnyText(json: JSONSchema): boolean {
  return json.type === "string" && RULES_OF_TEXT.every((keyword) => json[keyword] === undefined);
}

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
