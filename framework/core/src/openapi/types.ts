/** The parts of an OpenAPI document that are written here. References name sections of 3.0.3. */
import type { SecuritySchemeObject } from "../parameters/security/scheme.js";

/** A schema under `components`, by its address in the document. @see OpenAPI 3.0.3 §4.7.23 */
export interface ReferenceObject {
  $ref: string;
}

type TextKeywords = "$ref" | "title" | "description" | "format" | "pattern" | "contentEncoding" | "contentMediaType";

type FlagKeywords = "nullable" | "deprecated" | "readOnly" | "writeOnly" | "uniqueItems";

type NumberKeywords =
  | ("minLength" | "maxLength" | "minimum" | "maximum" | "multipleOf")
  | ("minItems" | "maxItems" | "minProperties" | "maxProperties");

type JSONType = "array" | "boolean" | "integer" | "null" | "number" | "object" | "string";

/** Tells the members of a union apart by the value of one property. @see OpenAPI 3.0.3 §4.7.25 */
export interface DiscriminatorObject {
  propertyName: string;
  /** The addresses of the members by that value. */
  mapping?: Record<string, string>;
}

/**
 * A schema: in OpenAPI 3.0 in a dialect of an early draft of JSON Schema, with `nullable`, `example` and limits that
 * are flags; from 3.1 on JSON Schema 2020-12 with any of its keywords.
 *
 * @see OpenAPI 3.0.3 §4.7.24
 * @see {@link https://json-schema.org/draft/2020-12/json-schema-core}
 */
export interface SchemaObject
  extends
    Partial<Record<TextKeywords, string>>,
    Partial<Record<FlagKeywords, boolean>>,
    Partial<Record<NumberKeywords, number>> {
  /** One type in 3.0. */
  type?: JSONType | JSONType[];
  enum?: unknown[];
  default?: unknown;
  exclusiveMinimum?: boolean | number;
  exclusiveMaximum?: boolean | number;
  /** Only in 3.0. */
  example?: unknown;
  /** `false` forbids items after `prefixItems`, from 3.1 on. */
  items?: SchemaObject | boolean;
  properties?: Record<string, SchemaObject>;
  required?: string[];
  additionalProperties?: SchemaObject | boolean;
  allOf?: SchemaObject[];
  anyOf?: SchemaObject[];
  oneOf?: SchemaObject[];
  not?: SchemaObject;
  discriminator?: DiscriminatorObject;
  [keyword: string]: unknown;
}

/** An example, under its name. @see OpenAPI 3.0.3 §4.7.19 */
export interface ExampleObject {
  summary?: string;
  value: unknown;
}

/** A parameter of an operation; name and place together are unique in it. @see OpenAPI 3.0.3 §4.7.12 */
export interface ParameterObject {
  name: string;
  in: "path" | "query" | "header" | "cookie";
  description?: string;
  required?: boolean;
  deprecated?: boolean;
  schema: SchemaObject;
  example?: unknown;
  examples?: Record<string, ExampleObject>;
}

/** A body in one media type. @see OpenAPI 3.0.3 §4.7.14 */
export interface MediaTypeObject {
  schema?: SchemaObject;
  /** That of each item of a stream, in 3.2. @see OpenAPI 3.2.0 §4.14.3 */
  itemSchema?: SchemaObject;
  /** That of each line of JSON Lines, before 3.2. */
  "x-itemSchema"?: SchemaObject;
  example?: unknown;
  examples?: Record<string, ExampleObject>;
  /** By the name of the property. */
  encoding?: Record<string, EncodingObject>;
}

/** The media type of one property of a form. @see OpenAPI 3.0.3 §4.7.15 */
export interface EncodingObject {
  contentType?: string;
}

/** The body of a request, by media type. @see OpenAPI 3.0.3 §4.7.13 */
export interface RequestBodyObject {
  description?: string;
  content: Record<string, MediaTypeObject>;
  required?: boolean;
}

/** A header of a response. @see OpenAPI 3.0.3 §4.7.21 */
export interface HeaderObject {
  description?: string;
  schema: SchemaObject;
}

/** The response with one status. @see OpenAPI 3.0.3 §4.7.17 */
export interface ResponseObject {
  description: string;
  headers?: Record<string, HeaderObject>;
  content?: Record<string, MediaTypeObject>;
}

/** Schemes, all of them needed, with the scopes that are asked for. @see OpenAPI 3.0.3 §4.7.30 */
export type SecurityRequirementObject = Record<string, string[]>;

/** Requests by address. @see OpenAPI 3.0.3 §4.7.18 */
export type CallbackObject = Record<string, PathItemObject>;

/** One method on one path. @see OpenAPI 3.0.3 §4.7.10 */
export interface OperationObject {
  tags?: string[];
  summary?: string;
  description?: string;
  operationId: string;
  parameters?: ParameterObject[];
  requestBody?: RequestBodyObject;
  responses: Record<string, ResponseObject>;
  callbacks?: Record<string, CallbackObject>;
  deprecated?: boolean;
  /** Any one of these; no requirement if it is missing. */
  security?: SecurityRequirementObject[];
}

/** The methods that a document can describe. @see OpenAPI 3.0.3 §4.7.9 */
export type DocumentedMethod = "get" | "put" | "post" | "delete" | "options" | "head" | "patch" | "trace";

/** The operations on one path, by method. @see OpenAPI 3.0.3 §4.7.9 */
export type PathItemObject = { [M in DocumentedMethod]?: OperationObject } & { "x-websocket"?: WebSocketObject };

/** A WebSocket, which OpenAPI has no words for: its handshake as an operation's, and the schemas of its messages. */
export interface WebSocketObject extends Omit<OperationObject, "requestBody" | "responses" | "callbacks"> {
  summary: string;
  /** The schema of data that the application receives. */
  receives?: SchemaObject;
  /** The schema of data that the application sends. */
  sends?: SchemaObject;
}

/** An address under which the API is served. @see OpenAPI 3.0.3 §4.7.5 */
export interface ServerObject {
  /** Absolute, or relative to where the document is served. May have `{variables}`. */
  url: string;
  description?: string;
  variables?: Record<string, { enum?: string[]; default: string; description?: string }>;
}

/** A page outside the document. @see OpenAPI 3.0.3 §4.7.11 */
export interface ExternalDocumentationObject {
  url: string;
  /** Markdown. */
  description?: string;
}

/** The title, version and owners of the API. @see OpenAPI 3.0.3 §4.7.2 */
export interface InfoObject {
  title: string;
  version: string;
  /** Markdown. */
  description?: string;
  termsOfService?: string;
  contact?: { name?: string; url?: string; email?: string };
  license?: { name: string; url?: string };
}

/** A group of operations. @see OpenAPI 3.0.3 §4.7.22 */
export interface TagObject {
  name: string;
  /** Markdown. */
  description?: string;
  externalDocs?: ExternalDocumentationObject;
}

/**
 * A document.
 *
 * @see {@link https://spec.openapis.org/oas/v3.0.3}
 * @see {@link https://spec.openapis.org/oas/v3.1.1}
 * @see {@link https://spec.openapis.org/oas/v3.2.0}
 */
export interface OpenAPIDocument {
  openapi: "3.0.3" | "3.1.1" | "3.2.0";
  info: InfoObject;
  servers: ServerObject[];
  /** The default requirements of operations: empty. */
  security: [];
  tags?: TagObject[];
  externalDocs?: ExternalDocumentationObject;
  paths: Record<string, PathItemObject>;
  /** Webhooks that the API sends, by name. In 3.0 an extension holds them. */
  webhooks?: Record<string, PathItemObject>;
  "x-webhooks"?: Record<string, PathItemObject>;
  components?: { schemas?: Record<string, SchemaObject>; securitySchemes?: Record<string, SecuritySchemeObject> };
}
