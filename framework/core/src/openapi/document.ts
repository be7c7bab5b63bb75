/** The OpenAPI document of an application, built from its routes. @module */
import { withPlace } from "../common/exceptions.js";
import { defined } from "../common/records.js";
import { type ErrorFormat, isErrorFormat, VALIDATION_STATUS } from "./error-format.js";
import { bodiesOf, DETAIL_BODIES } from "./errors.js";
import { ANYTHING, expecting, FLAG, FUNCTION, LIST, OBJECT, oneOf, type OptionRules, TEXT } from "../common/options.js";
import type { PathPattern } from "../routing/path-pattern.js";
import { Components } from "./components.js";
import { type GenerateOperationId, OperationIds } from "./naming.js";
import { operationOf, type Parts, isListedSocket, webSocketOf } from "./operation.js";
import { type DocumentedRoute, documentedMethod, placeOf } from "./route.js";
import { SecuritySchemes } from "./security.js";
import type {
  DocumentedMethod,
  ExternalDocumentationObject,
  InfoObject,
  OpenAPIDocument,
  OperationObject,
  PathItemObject,
  ServerObject,
  TagObject,
} from "./types.js";
import { type OpenAPIVersion, VERSIONS } from "./versions.js";

/** Options of the document and of the pages that show it. */
export interface OpenAPIOptions {
  /** The version of OpenAPI. Defaults to `"3.0"`, which every tool reads; 3.1 and 3.2 have JSON Schema as it is written. */
  openapiVersion?: OpenAPIVersion;
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
  /** The address of the terms of service. */
  termsOfService?: string;
  /** Further documentation. */
  externalDocs?: ExternalDocumentationObject;
  /** The addresses of the API. Defaults to the host of the document, below the `root_path`. */
  servers?: readonly ServerObject[];
  /** Descriptions of tags, in the order in which the pages show them. */
  tags?: readonly TagObject[];
  /** Names the operations whose routes have no `operationId`. By default method and path do: `getItemsByItemId`. */
  generateOperationId?: GenerateOperationId;
  /** The format of every error, made by {@link errorFormat}. Defaults to `{"detail": …}`. */
  errorFormat?: ErrorFormat;
  /**
   * The status of a request with invalid parameters, from 400 to 499. Defaults to the one of `errorFormat`, or 422.
   */
  validationStatus?: number;
  /**
   * `true` sends every error as `application/problem+json` (RFC 9457), and describes it so. Schemas in `responses` from
   * 400 on then describe extension members. Defaults to `false`.
   */
  problemDetails?: boolean;
  /** The path of the document. Defaults to `"/openapi.json"`; `null` switches it off. */
  openapiUrl?: string | null;
  /** The path of Swagger UI. Defaults to `"/docs"`; `null` switches it off. */
  docsUrl?: string | null;
  /** The path of ReDoc. Defaults to `"/redoc"`; `null` switches it off. */
  redocUrl?: string | null;
  /** The path of Scalar, such as `"/scalar"`. Defaults to `null`, which leaves it off. */
  scalarUrl?: string | null;
}

/** The rules of these options. `Documentation` refuses paths that cannot be served. */
export const OPENAPI_OPTIONS: OptionRules<OpenAPIOptions> = {
  openapiVersion: oneOf(...Object.keys(VERSIONS)),
  title: TEXT,
  version: TEXT,
  description: TEXT,
  contact: OBJECT,
  license: OBJECT,
  termsOfService: TEXT,
  externalDocs: OBJECT,
  servers: LIST,
  tags: LIST,
  generateOperationId: FUNCTION,
  errorFormat: expecting("the result of errorFormat()", isErrorFormat),
  validationStatus: VALIDATION_STATUS,
  problemDetails: FLAG,
  openapiUrl: ANYTHING,
  docsUrl: ANYTHING,
  redocUrl: ANYTHING,
  scalarUrl: ANYTHING,
};

/**
 * Makes the function that finds the item of a pattern. Templates that differ only in their names are one path (§4.7.8.1);
 * the names of the first one are used.
 */
function findingItems(items: Record<string, PathItemObject>) {
  const byShape = new Map<string, PathPattern>();
  return (pattern: PathPattern, operation: Pick<OperationObject, "parameters">): PathItemObject => {
    const listed = byShape.get(pattern.shape) ?? pattern;
    byShape.set(pattern.shape, listed);
    if (listed !== pattern) rename(operation, pattern.names, listed.names);
    return (items[listed.template] ??= {});
  };
}

function rename(operation: Pick<OperationObject, "parameters">, from: readonly string[], to: readonly string[]): void {
  for (const parameter of operation.parameters ?? []) {
    if (parameter.in === "path") parameter.name = to[from.indexOf(parameter.name)] ?? parameter.name;
  }
}

/** The tags with a description first, as they were given, then the others in the order of their first use. */
function tagsOf(declared: readonly TagObject[], items: readonly PathItemObject[]): TagObject[] {
  const tags = new Map(declared.map((tag) => [tag.name, tag]));
  for (const item of items) {
    for (const operation of Object.values(item)) {
      for (const name of operation.tags ?? []) {
        if (!tags.has(name)) tags.set(name, { name });
      }
    }
  }
  return [...tags.values()];
}

/**
 * Describes routes as an OpenAPI document.
 *
 * @param webhooks - Requests that the application sends, as `app.webhooks` takes them.
 * @throws ConfigurationError naming method and path, when a schema has no form in a document, or two routes have one
 *   operation id.
 * @see {@link https://spec.openapis.org/oas/v3.0.3}
 * @example
 * ```ts
 * import { App } from "tsgi";
 * import { endpointsOf } from "tsgi/internals";
 * import { buildDocument } from "tsgi/openapi";
 *
 * const app = new App();
 * app.get("/items", async () => []);
 * const document = buildDocument({ title: "Items", version: "1.0.0" }, endpointsOf(app));
 * console.log(Object.keys(document.paths)); // [ '/items' ]
 * ```
 */
export function buildDocument(
  options: OpenAPIOptions,
  routes: readonly DocumentedRoute[],
  webhooks: readonly DocumentedRoute[] = [],
): OpenAPIDocument {
  const version = VERSIONS[options.openapiVersion ?? "3.0"];
  const listed = routes.filter(
    ({ record }) => record.metadata.includeInSchema !== false && documentedMethod(record.method),
  );
  const sockets = routes.filter(isListedSocket);
  const schemes = new SecuritySchemes([...listed, ...sockets].map(({ plan }) => plan));
  const components = new Components(version);
  const ids = new OperationIds(options.generateOperationId);
  const parts = { version, components, ids, schemes, bodies: bodiesOf(options) };
  const paths = pathsOf(listed, sockets, parts);
  const sent = webhooksOf(webhooks, parts);
  const schemas = components.finish();
  const tags = tagsOf(options.tags ?? [], [...Object.values(paths), ...Object.values(sent)]);
  const { servers, externalDocs } = options;
  return defined({
    openapi: version.openapi,
    info: infoOf(options),
    servers: servers?.length ? [...servers] : [{ url: "/" }],
    security: [],
    tags: tags.length > 0 ? tags : undefined,
    externalDocs,
    paths,
    ...(webhooks.length > 0 ? version.webhooks(sent) : {}),
    components: componentsOf({ schemas, securitySchemes: schemes.definitions }),
  });
}

/** Describes one route by itself, listed or not, with the components that it refers to. */
export function describeRoute(
  openapiVersion: OpenAPIVersion,
  { record, pattern, plan, streamFormat, responses }: Required<DocumentedRoute>,
): { operation: OperationObject | undefined; components: NonNullable<OpenAPIDocument["components"]> } {
  const metadata = { ...record.metadata, includeInSchema: true };
  const route = { record: { ...record, metadata }, pattern, plan, streamFormat, responses };
  const { paths, components = {} } = buildDocument({ openapiVersion }, [route]);
  const operations = Object.values(paths).flatMap((item) => Object.values(item));
  const operation = operations.find((one) => "responses" in one);
  return { operation, components };
}

function pathsOf(
  routes: readonly DocumentedRoute[],
  sockets: readonly DocumentedRoute[],
  parts: Parts,
): Record<string, PathItemObject> {
  const items: Record<string, PathItemObject> = {};
  const itemOf = findingItems(items);
  // Explicit names take precedence over generated ones.
  const named = new Map<DocumentedRoute, string>();
  for (const route of [...routes, ...sockets].toSorted((left, right) => hasOwnId(right) - hasOwnId(left))) {
    withPlace(placeOf(route), () => named.set(route, parts.ids.of(route)));
  }
  const nameOf = (route: DocumentedRoute): string => named.get(route) ?? parts.ids.of(route);
  for (const route of routes) {
    const method = documentedMethod(route.record.method) as DocumentedMethod;
    const operation = withPlace(placeOf(route), () => operationOf(route, nameOf(route), parts));
    itemOf(route.pattern, operation)[method] = operation;
  }
  for (const route of sockets) {
    const socket = withPlace(placeOf(route), () => webSocketOf(route, nameOf(route), parts));
    itemOf(route.pattern, socket)["x-websocket"] = socket;
  }
  return items;
}

function webhooksOf(routes: readonly DocumentedRoute[], parts: Parts): Record<string, PathItemObject> {
  const items = new Map<string, PathItemObject>();
  for (const route of routes) {
    const { method, path } = route.record;
    const item = items.get(path) ?? {};
    items.set(path, item);
    withPlace(placeOf(route), () => {
      item[documentedMethod(method) as DocumentedMethod] = operationOf(route, parts.ids.ofWebhook(route), {
        ...parts,
        bodies: DETAIL_BODIES,
        isOurs: false,
      });
    });
  }
  return Object.fromEntries(items);
}

function infoOf({ title = "tsgi", version = "0.1.0", ...more }: OpenAPIOptions): InfoObject {
  const { description, termsOfService, contact, license } = more;
  return defined({ title, version, description, termsOfService, contact, license });
}

/** The lists of components that are not empty, if any. */
function componentsOf(lists: NonNullable<OpenAPIDocument["components"]>): OpenAPIDocument["components"] {
  const filled = Object.entries(lists).filter(([, list]) => Object.keys(list).length > 0);
  return filled.length > 0 ? Object.fromEntries(filled) : undefined;
}

function hasOwnId({ record }: DocumentedRoute): number {
  return Number(record.metadata.operationId !== undefined);
}
