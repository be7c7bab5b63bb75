/** JSON Schema of what a document of OpenAPI 3.1 says. @module */
import type { SchemaObject } from "../openapi.js";

/** The components of a document, by name. */
export type Schemas = Readonly<Record<string, SchemaObject>>;

const COMPONENTS = '"$ref":"#/components/schemas/';
const DEFINITIONS = '"$ref":"#/$defs/';

/** A part of a document whose schemas are to stand alone. */
export function withLocalReferences<T>(part: T): T {
  return JSON.parse(JSON.stringify(part).replaceAll(COMPONENTS, DEFINITIONS)) as T;
}

/** The schema that a reference means. */
export function resolve(schema: SchemaObject, schemas: Schemas): SchemaObject {
  const target = schema.$ref === undefined ? undefined : schemas[schema.$ref.slice("#/$defs/".length)];
  return target ? resolve(target, schemas) : schema;
}

/** A schema with the components that it can reach. */
export function withDefinitions<T extends object>(schema: T, schemas: Schemas): T {
  const found = new Map<string, SchemaObject>();
  const visit = (part: object) => {
    for (const [, name = ""] of JSON.stringify(part).matchAll(/"\$ref":"#\/\$defs\/([^"]+)"/g)) {
      const target = schemas[name];
      if (!target || found.has(name)) continue;
      found.set(name, target);
      visit(target);
    }
  };
  visit(schema);
  return found.size === 0 ? schema : { ...schema, $defs: Object.fromEntries(found) };
}
