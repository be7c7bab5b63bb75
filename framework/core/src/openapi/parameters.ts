/** Parameters of the OpenAPI document: path, query, headers and cookies. @module */
import {
  type DocumentPlace,
  examplesOf,
  isListed,
  propertiesOf,
  type PropertyParam,
  schemaOf,
  type SourceParam,
} from "./sources.js";
import type { ParameterObject } from "./types.js";

/** The order of the places in the document. */
const PLACES: readonly ParameterObject["in"][] = ["path", "query", "header", "cookie"];

/** Headers that a document describes elsewhere: parameters of these names are ignored (§4.7.12.1). */
const DESCRIBED_ELSEWHERE = new Set(["accept", "content-type"]);

/** One parameter by its own name. */
function parameterOf(source: SourceParam, where: ParameterObject["in"], place: DocumentPlace): ParameterObject {
  const { marker, name, compiled, isRequired } = source;
  const { description = compiled.json?.description, deprecated = compiled.json?.deprecated, examples } = marker.options;
  return {
    name,
    in: where,
    ...(description === undefined ? {} : { description }),
    required: marker.source.isInPattern || isRequired,
    ...(deprecated ? { deprecated } : {}),
    schema: schemaOf(source, place),
    ...examplesOf(examples),
  };
}

/** A parameter for each property of an object schema. */
function spread(
  { marker }: SourceParam,
  properties: readonly PropertyParam[],
  place: ParameterObject["in"],
): ParameterObject[] {
  return properties.map(({ name, property, schema, isRequired }) => ({
    name,
    in: place,
    ...(property.description === undefined ? {} : { description: property.description }),
    required: isRequired,
    ...(marker.options.deprecated || property.deprecated ? { deprecated: true } : {}),
    schema,
  }));
}

/** The parameters of a route. One that several dependencies read is listed once, and required when one requires it. */
export function parametersOf(sources: readonly SourceParam[], place: DocumentPlace): ParameterObject[] {
  const found = new Map<string, ParameterObject>();
  for (const source of sources) {
    const { in: where } = source.marker.source;
    if (!where || !isListed(source)) continue;
    const properties = propertiesOf(source, place);
    const parameters = properties ? spread(source, properties, where) : [parameterOf(source, where, place)];
    for (const parameter of parameters) {
      if (where === "header" && DESCRIBED_ELSEWHERE.has(parameter.name)) continue;
      const key = `${where} ${parameter.name}`;
      const known = found.get(key);
      if (!known) found.set(key, parameter);
      else if (parameter.required) known.required = true;
    }
  }
  return [...found.values()].toSorted((left, right) => PLACES.indexOf(left.in) - PLACES.indexOf(right.in));
}
