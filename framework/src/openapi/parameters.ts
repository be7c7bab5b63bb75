import { type JSONSchema, resolveRef } from "../schema.js";
import type { Components } from "./components.js";
import { examplesOf, isListed, schemaOf, type SourceParam, useOf } from "./sources.js";
import type { ParameterObject } from "./types.js";

/** The order of the places in the document. */
const PLACES: readonly ParameterObject["in"][] = ["path", "query", "header", "cookie"];

/** Headers that a document describes elsewhere: parameters of these names are ignored (§4.7.12.1). */
const DESCRIBED_ELSEWHERE = new Set(["accept", "content-type"]);

/** One parameter by its own name. */
function parameterOf(
  source: SourceParam,
  place: ParameterObject["in"],
  components: Components,
  at: string,
): ParameterObject {
  const { marker, name, compiled, isRequired } = source;
  const { description = compiled.json?.description, deprecated = compiled.json?.deprecated, examples } = marker.options;
  return {
    name,
    in: place,
    ...(description === undefined ? {} : { description }),
    required: marker.source.isInPattern || isRequired,
    ...(deprecated ? { deprecated } : {}),
    schema: schemaOf(source, components, at),
    ...examplesOf(examples),
  };
}

/** A parameter for each property of an object schema. */
function spread(
  source: SourceParam,
  properties: ReadonlyMap<string, JSONSchema>,
  place: ParameterObject["in"],
  components: Components,
  at: string,
): ParameterObject[] {
  const root = source.compiled.json ?? {};
  const required = requiredProperties(root);
  const { deprecated } = source.marker.options;
  return [...properties].map(([key, property]) => ({
    name: source.marker.source.wireName(key),
    in: place,
    ...(property.description === undefined ? {} : { description: property.description }),
    required: source.isRequired && required.has(key) && property.default === undefined,
    ...(deprecated || property.deprecated ? { deprecated: true } : {}),
    schema: components.convert(property, useOf(source, at), root),
  }));
}

/** The properties that an object schema, or an intersection of some, requires. */
export function requiredProperties(schema: JSONSchema): Set<string> {
  const target = schema.$ref === undefined ? schema : (resolveRef(schema.$ref, schema) ?? schema);
  return new Set([...(target.required ?? []), ...(target.allOf ?? []).flatMap((member) => member.required ?? [])]);
}

/** The parameters of a route. One that several dependencies read is listed once, and required when one requires it. */
export function parametersOf(sources: readonly SourceParam[], components: Components, at: string): ParameterObject[] {
  const found = new Map<string, ParameterObject>();
  for (const source of sources) {
    const { in: place, readsProperties } = source.marker.source;
    if (!place || !isListed(source)) continue;
    const { properties } = source.compiled;
    const parameters =
      readsProperties && properties
        ? spread(source, properties, place, components, at)
        : [parameterOf(source, place, components, at)];
    for (const parameter of parameters) {
      if (place === "header" && DESCRIBED_ELSEWHERE.has(parameter.name)) continue;
      const key = `${place} ${parameter.name}`;
      const known = found.get(key);
      if (!known) found.set(key, parameter);
      else if (parameter.required) known.required = true;
    }
  }
  return [...found.values()].toSorted((left, right) => PLACES.indexOf(left.in) - PLACES.indexOf(right.in));
}
