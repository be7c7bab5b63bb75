/** Steps of a release: the document of each version, a client for the pages, and webhooks for partners. @module */
import type { App } from "tsgi";
import { endpointsOf } from "tsgi/internals";
import {
  type AsyncAPIDocument,
  buildAsyncAPI,
  type ClientOptions,
  type DescribedEvent,
  type EventCatalog,
  writeClient,
} from "@tsgi/openapi-tools";
import {
  buildDocument,
  type DocumentedRoute,
  type GenerateOperationId,
  type OpenAPIDocument,
  type OpenAPIOptions,
  type OpenAPIVersion,
  type WebhookOptions,
  type Webhooks,
  type WebhookVerb,
} from "tsgi/openapi";
import { Loan } from "./models.js";

/** Names for the operations of another document: `get_listTools`. */
export const idOf: GenerateOperationId = ({ method, name, path }) => {
  return `${method.toLowerCase()}_${name === "" ? path.replaceAll(/\W+/g, "_") : name}`;
};

/** The routes that documents describe. */
const routesOf = (app: App): readonly DocumentedRoute[] => endpointsOf(app);

/** The document in another version, with custom names for the operations. */
export function documentOf(app: App, openapiVersion: OpenAPIVersion): OpenAPIDocument {
  const options: OpenAPIOptions = { title: app.settings.title, openapiVersion, generateOperationId: idOf };
  return buildDocument(options, routesOf(app));
}

/** A loan of a tool, which the program of the reminders receives. */
const LENT: DescribedEvent = { name: "loan.begun", payload: Loan, subscribers: ["loan.begun/reminder"] };

/** The WebSockets and the events of the library. */
export function socketsDocument(app: App): AsyncAPIDocument {
  const catalog: EventCatalog = { events: [LENT] };
  return buildAsyncAPI(app, catalog);
}

/** Writes the client of the pages. */
export function releaseClient(app: App, options: ClientOptions): Promise<string> {
  return writeClient(app.openapi(), options);
}

const overdue: WebhookOptions = { tags: ["loans"], params: { loan: Loan }, statusCode: 204 };

/** Describes the additional webhooks of partners. */
export function addWebhooks({ put, delete: remove }: Webhooks): void {
  const announce: WebhookVerb = put;
  announce("loan.changed", overdue);
  remove("loan.gone", { ...overdue, deprecated: true });
}
