/** `@tsgi/openapi-tools`: compares OpenAPI documents, writes clients made of them, and makes AsyncAPI documents. @module */
export {
  type AsyncAPIChannel,
  type AsyncAPIDocument,
  type AsyncAPIHandshake,
  type AsyncAPIMessage,
  type AsyncAPIOperation,
  type AsyncAPIReference,
  type AsyncAPIServer,
  buildAsyncAPI,
  type DescribedEvent,
  type EventCatalog,
} from "./asyncapi.js";
export type { Change, ChangeKind, ChangeRule } from "./changes.js";
export { type ClientOptions, writeClient } from "./client.js";
export { compareDocuments } from "./compare.js";
