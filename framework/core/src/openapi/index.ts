/** `tsgi/openapi`: documents without an application that serves them. @module */
export { buildDocument, type OpenAPIOptions } from "./document.js";
export {
  type CallbackObject,
  type DiscriminatorObject,
  type DocumentedMethod,
  type ExampleObject,
  type ExternalDocumentationObject,
  type HeaderObject,
  type InfoObject,
  type MediaTypeObject,
  type OpenAPIDocument,
  type OperationObject,
  type ParameterObject,
  type PathItemObject,
  type ReferenceObject,
  type RequestBodyObject,
  type ResponseObject,
  type SchemaObject,
  type SecurityRequirementObject,
  type ServerObject,
  type TagObject,
  type WebSocketObject,
} from "./types.js";
export { type DocumentedRoute } from "./route.js";
export { type GenerateOperationId } from "./naming.js";
export { type OpenAPIVersion } from "./versions.js";
export { type WebhookOptions, type Webhooks, type WebhookVerb } from "./webhooks.js";
