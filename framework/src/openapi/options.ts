import type { ExternalDocumentationObject, InfoObject, ServerObject, TagObject } from "./types.js";

/** Makes the name of an operation in generated clients. Each must be unique in the document. */
export type GenerateOperationId = (route: {
  /** In upper case. */
  readonly method: string;
  /** The whole pattern. */
  readonly path: string;
  /** The handler's name, `""` for an anonymous one. */
  readonly name: string;
  readonly tags: readonly string[];
}) => string;

/** What an App says about its document and the pages that show it. */
export interface OpenAPIOptions {
  /** The title in the document. Defaults to `"tsgi"`. */
  title?: string;
  /** The version of the API in the document. Defaults to `"0.1.0"`. */
  version?: string;
  /** Markdown for the document. */
  description?: string;
  /** Whom to ask. */
  contact?: InfoObject["contact"];
  /** Under which licence the API may be used: a name, and where to read it. */
  license?: InfoObject["license"];
  /** Where the terms of service stand. */
  termsOfService?: string;
  /** What there is to read beside the document. */
  externalDocs?: ExternalDocumentationObject;
  /** Where the API is served. Defaults to the host that the document comes from, below the `root_path`. */
  servers?: readonly ServerObject[];
  /** Descriptions of tags, in the order in which the pages show them. */
  tags?: readonly TagObject[];
  /** Names the operations whose routes have no `operationId`. By default method and path do: `getItemsByItemId`. */
  generateOperationId?: GenerateOperationId;
  /** The path of the document. Defaults to `"/openapi.json"`; `null` switches it off. */
  openapiUrl?: string | null;
  /** The path of Swagger UI. Defaults to `"/docs"`; `null` switches it off. */
  docsUrl?: string | null;
  /** The path of ReDoc. Defaults to `"/redoc"`; `null` switches it off. */
  redocUrl?: string | null;
}
