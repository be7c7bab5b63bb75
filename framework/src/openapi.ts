/** The OpenAPI document of an application, and the pages that show it. @module */
export { buildDocument } from "./openapi/document.js";
export { Documentation } from "./openapi/documentation.js";
export type { GenerateOperationId, OpenAPIOptions } from "./openapi/options.js";
export type { DocumentedRoute } from "./openapi/route.js";
export type {
  DocumentedMethod,
  ExampleObject,
  HeaderObject,
  MediaTypeObject,
  OpenAPIDocument,
  OperationObject,
  ParameterObject,
  PathItemObject,
  ReferenceObject,
  RequestBodyObject,
  ResponseObject,
  SchemaObject,
  ServerObject,
  TagObject,
} from "./openapi/types.js";
