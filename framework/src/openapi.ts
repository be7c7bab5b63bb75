/** The OpenAPI document of an application, and the pages that show it. @module */
export type { Change, ChangeKind, ChangeRule } from "./openapi/changes.js";
export { compareDocuments } from "./openapi/compare.js";
export {
  type AsyncAPIChannel,
  type AsyncAPIDocument,
  type AsyncAPIHandshake,
  type AsyncAPIMessage,
  type AsyncAPIOperation,
  type AsyncAPIReference,
  type AsyncAPIServer,
  buildAsyncAPI,
} from "./openapi/asyncapi.js";
export { type ClientOptions, writeClient } from "./openapi/client.js";
export { buildDocument, describeRoute, OPENAPI_OPTIONS, type OpenAPIOptions } from "./openapi/document.js";
export { Documentation } from "./openapi/documentation.js";
export type { GenerateOperationId } from "./openapi/naming.js";
export type { DocumentedRoute } from "./openapi/route.js";
export type * from "./openapi/types.js";
export type { OpenAPIVersion } from "./openapi/versions.js";
export type { WebhookOptions, Webhooks, WebhookVerb } from "./openapi/webhooks.js";
