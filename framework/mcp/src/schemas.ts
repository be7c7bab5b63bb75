/** JSON Schema for the content of an OpenAPI 3.1 document. @module */
import type { SchemaObject } from "tsgi/openapi";

/** The components of a document, by name. */
export type Schemas = Readonly<Record<string, SchemaObject>>;

/** A part of a document whose schemas should be self-contained. */
export function withLocalReferences<T>(part: T): T {
  return JSON.parse(JSON.stringify(part).replaceAll('"#/components/schemas/', '"#/$defs/')) as T;
}

/** The schema that a reference means. */
export function resolve(schema: SchemaObject, schemas: Schemas): SchemaObject {
  const target = schema.$ref === undefined ? undefined : schemas[schema.$ref.slice("#/$defs/".length)];
  return target ? resolve(target, schemas) : schema;
}

/** A schema with the components that it can reach. */
export function withDefinitions<T extends object>(schema: T, schemas: Schemas): T {
  const names = new Set<string>();
  const collect = (part: object) => {
    for (const [, name = ""] of JSON.stringify(part).matchAll(/"#\/\$defs\/([^"]+)"/g)) names.add(name);
  };
  collect(schema);
  for (const name of names) collect(schemas[name] ?? {}); // those that it adds are visited as well
  const definitions = Array.from(names, (name) => [name, schemas[name]] as const);
  return names.size === 0 ? schema : { ...schema, $defs: Object.fromEntries(definitions) };
}
