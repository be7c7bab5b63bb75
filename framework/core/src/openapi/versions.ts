/** The versions of OpenAPI that a document can be written in. @module */
import type { StreamFormat } from "../routing/options.js";
import { annotateJSONSchema, toJSONSchema202012 } from "./to-json-schema.js";
import { annotateOpenAPI30, toOpenAPI30 } from "./to-openapi30.js";
import type { MediaTypeObject, SchemaObject } from "./types.js";
import type { DocumentVersion } from "./version.js";

/** A version of OpenAPI, as `new App({ openapiVersion })` takes it. */
export type OpenAPIVersion = "3.0" | "3.1" | "3.2";

/**
 * Before 3.2, a schema describes the whole body (OpenAPI 3.1.1 §4.8.14.1), and JSON Lines as a whole are not JSON. So the
 * schema of a line is in an extension.
 */
function describeAsText(format: StreamFormat, item: () => SchemaObject): MediaTypeObject {
  if (format === "sse") return { schema: { type: "string" } };
  const description = "JSON Lines. `x-itemSchema` is the schema of a line.";
  return { schema: { type: "string", description }, "x-itemSchema": item() };
}

/** OpenAPI 3.2.0 §4.14.3: JSON Lines and server-sent events are sequential media types, with a schema for each item. */
function describeItems(_format: StreamFormat, item: () => SchemaObject): MediaTypeObject {
  return { itemSchema: item() };
}

const OPENAPI_30: DocumentVersion = {
  openapi: "3.0.3",
  writeSchema: toOpenAPI30,
  annotate: annotateOpenAPI30,
  streamBody: describeAsText,
  webhooks: (items) => ({ "x-webhooks": items }),
};

const OPENAPI_31: DocumentVersion = {
  openapi: "3.1.1",
  writeSchema: toJSONSchema202012,
  annotate: annotateJSONSchema,
  streamBody: describeAsText,
  webhooks: (items) => ({ webhooks: items }),
};

const OPENAPI_32: DocumentVersion = { ...OPENAPI_31, openapi: "3.2.0", streamBody: describeItems };

/** The writers by version. */
export const VERSIONS: Readonly<Record<OpenAPIVersion, DocumentVersion>> = {
  "3.0": OPENAPI_30,
  "3.1": OPENAPI_31,
  "3.2": OPENAPI_32,
};
