import { Validator } from "@seriousme/openapi-schema-validator";
import type { App } from "../../src/app/app.js";
import type { DocumentedMethod, OpenAPIDocument, OperationObject } from "../../src/openapi/types.js";

/** It compiles the schema of OpenAPI once: 0.2 s. */
const validator = new Validator();

/** Every `$ref` of a document. */
function refsOf(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  const own = "$ref" in value && typeof value.$ref === "string" ? [value.$ref] : [];
  return [...own, ...Object.values(value).flatMap(refsOf)];
}

/** The errors of a document: from the validator, unresolved references, unused components. */
export async function faultsOf(document: OpenAPIDocument): Promise<unknown[]> {
  const json = JSON.parse(JSON.stringify(document)) as OpenAPIDocument;
  const listed = Object.keys(json.components?.schemas ?? {}).map((name) => `#/components/schemas/${name}`);
  const used = new Set(refsOf(json));
  const { valid, errors } = await validator.validate({ ...json });
  return [
    ...(valid ? [] : [errors]),
    ...[...used].filter((ref) => !listed.includes(ref)).map((ref) => `${ref} leads nowhere`),
    ...listed.filter((ref) => !used.has(ref)).map((ref) => `${ref} is used nowhere`),
  ];
}

/** One operation of an application's document. */
export function operation(app: App, path: string, method: DocumentedMethod = "get"): OperationObject {
  const found = app.openapi().paths[path]?.[method];
  if (!found) throw new Error(`The document has no ${method} ${path}`);
  return found;
}
