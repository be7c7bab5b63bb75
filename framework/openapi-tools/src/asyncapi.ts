/** AsyncAPI documents of WebSockets and events, built from the OpenAPI document. @module */
import type { SecuritySchemeObject } from "tsgi/security";
import {
  buildDocument,
  type DocumentedRoute,
  type InfoObject,
  type OpenAPIDocument,
  type OpenAPIOptions,
  type ParameterObject,
  type SchemaObject,
  type ServerObject,
  type WebSocketObject,
} from "tsgi/openapi";
import { type App, Body, type Params, type Schema } from "tsgi";
import { describedRoute, documentSourceOf, isListedSocket } from "tsgi/internals";

/** The address of an object in the document. @see AsyncAPI 3.0.0, Reference Object */
export interface AsyncAPIReference {
  $ref: string;
}

/** A message of a channel. @see AsyncAPI 3.0.0, Message Object */
export interface AsyncAPIMessage {
  name: string;
  contentType: "application/json";
  payload: SchemaObject;
}

/** The query or the headers of a handshake. @see AsyncAPI WebSockets binding 0.1.0 */
export interface AsyncAPIHandshake {
  type: "object";
  properties: Record<string, SchemaObject>;
  required?: string[];
}

/** One WebSocket, or one event. @see AsyncAPI 3.0.0, Channel Object */
export interface AsyncAPIChannel {
  address: string;
  summary?: string;
  description?: string;
  tags?: { name: string }[];
  /** The names in the address. */
  parameters?: Record<string, { description?: string }>;
  messages: Record<string, AsyncAPIMessage>;
  /** Only for a WebSocket. */
  bindings?: {
    ws: { method: "GET"; query?: AsyncAPIHandshake; headers?: AsyncAPIHandshake; bindingVersion: "0.1.0" };
  };
}

/**
 * One direction of a channel: `receive` is for messages that the application receives. @see AsyncAPI 3.0.0, Operation
 * Object
 */
export interface AsyncAPIOperation {
  action: "receive" | "send";
  channel: AsyncAPIReference;
  summary?: string;
  messages: AsyncAPIReference[];
  security?: AsyncAPIReference[];
}

/** An event of `jobs.event()` of `@tsgi/jobs`. */
export interface DescribedEvent {
  readonly name: string;
  /** The schema of its payload; `undefined` without one. */
  readonly payload: Schema | undefined;
  /** The names of its subscribers, such as `order.paid/receipt`. */
  readonly subscribers: readonly string[];
}

/** The events of a program: `Jobs` of `@tsgi/jobs`. */
export interface EventCatalog {
  readonly events: readonly DescribedEvent[];
}

/** An address of the application. @see AsyncAPI 3.0.0, Server Object */
export interface AsyncAPIServer {
  host: string;
  protocol: "ws" | "wss";
  pathname?: string;
  description?: string;
  variables?: NonNullable<ServerObject["variables"]>;
}

/** A document. @see {@link https://www.asyncapi.com/docs/reference/specification/v3.0.0} */
export interface AsyncAPIDocument {
  asyncapi: "3.0.0";
  info: InfoObject;
  servers?: Record<string, AsyncAPIServer>;
  defaultContentType: "application/json";
  channels: Record<string, AsyncAPIChannel>;
  operations: Record<string, AsyncAPIOperation>;
  components?: { schemas?: Record<string, SchemaObject>; securitySchemes?: Record<string, object> };
}

/** In AsyncAPI a discriminator is the name of a property, and means names of schemas: JSON Schema says it all without one. */
function withoutDiscriminator<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(withoutDiscriminator) as Value;
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([name, member]: [string, unknown]) => {
    const isObject = typeof member === "object" && member !== null;
    return !(name === "discriminator" && isObject && "propertyName" in member);
  });
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutDiscriminator(member)])) as Value;
}

function handshakeOf(parameters: readonly ParameterObject[], place: ParameterObject["in"]): AsyncAPIHandshake | null {
  const listed = parameters.filter((parameter) => parameter.in === place);
  if (listed.length === 0) return null;
  const required = listed.flatMap((parameter) => (parameter.required ? [parameter.name] : []));
  return {
    type: "object",
    properties: Object.fromEntries(listed.map(({ name, schema }) => [name, schema])),
    ...(required.length > 0 ? { required } : {}),
  };
}

function messagesOf({ operationId, receives, sends }: WebSocketObject): Record<string, AsyncAPIMessage> {
  const message = (name: string, payload: SchemaObject): AsyncAPIMessage => ({
    name: `${operationId}${name}`,
    contentType: "application/json",
    payload,
  });
  return {
    ...(receives ? { received: message("Received", receives) } : {}),
    ...(sends ? { sent: message("Sent", sends) } : {}),
  };
}

function channelOf(address: string, socket: WebSocketObject): AsyncAPIChannel {
  const { summary, description, tags, parameters = [] } = socket;
  const inPath = parameters.filter((parameter) => parameter.in === "path");
  const query = handshakeOf(parameters, "query");
  const headers = handshakeOf(parameters, "header");
  return {
    address,
    summary,
    ...(description === undefined ? {} : { description }),
    ...(tags ? { tags: tags.map((name) => ({ name })) } : {}),
    ...(inPath.length > 0
      ? {
          parameters: Object.fromEntries(
            inPath.map(({ name, description: text }) => [name, text === undefined ? {} : { description: text }]),
          ),
        }
      : {}),
    messages: messagesOf(socket),
    bindings: {
      ws: { method: "GET", ...(query ? { query } : {}), ...(headers ? { headers } : {}), bindingVersion: "0.1.0" },
    },
  };
}

const DIRECTIONS = [
  { action: "receive", member: "receives", message: "received" },
  { action: "send", member: "sends", message: "sent" },
] as const;

function operationsOf(socket: WebSocketObject): [name: string, operation: AsyncAPIOperation][] {
  const { operationId, summary, security = [] } = socket;
  const channel = `#/channels/${operationId}`;
  const names = [...new Set(security.flatMap((requirement) => Object.keys(requirement)))];
  const schemes = names.map((name) => ({ $ref: `#/components/securitySchemes/${name}` }));
  return DIRECTIONS.filter(({ member }) => socket[member]).map(({ action, message }) => [
    `${operationId}.${action}`,
    {
      action,
      channel: { $ref: channel },
      summary,
      messages: [{ $ref: `${channel}/messages/${message}` }],
      ...(schemes.length > 0 ? { security: schemes } : {}),
    },
  ]);
}

/** Replaces the host of relative addresses, if no server has one. AsyncAPI has no relative ones. */
const NO_HOST = "http://localhost";

/** A scheme in the words of AsyncAPI, whose `apiKey` is a user name or a password. */
function securitySchemeOf(scheme: SecuritySchemeObject, base: string): object {
  if (scheme.type === "apiKey") return { ...scheme, type: "httpApiKey" };
  if (scheme.type !== "oauth2") return scheme;
  const absolute = ([name, url]: [string, unknown]) => [
    name,
    name.endsWith("Url") && typeof url === "string" ? new URL(url, base).href : url,
  ];
  const flows = Object.entries(scheme.flows).map(([name, { scopes, ...flow }]) => [
    name,
    { ...(Object.fromEntries(Object.entries(flow).map(absolute)) as object), availableScopes: scopes },
  ]);
  return { ...scheme, flows: Object.fromEntries(flows) as object };
}

/** A server with a host. A relative one is the host of the document, which AsyncAPI cannot express. */
function serversOf(servers: readonly ServerObject[]): Record<string, AsyncAPIServer> {
  const found = servers.flatMap(({ url, description, variables }): AsyncAPIServer[] => {
    const [, scheme = "", host, pathname] = /^(https?|wss?):\/\/([^/]+)(\/.*)?$/.exec(url) ?? [];
    if (host === undefined) return [];
    return [
      {
        host,
        protocol: scheme.endsWith("s") && scheme !== "ws" ? "wss" : "ws",
        ...(pathname === undefined || pathname === "/" ? {} : { pathname }),
        ...(description === undefined ? {} : { description }),
        ...(variables ? { variables } : {}),
      },
    ];
  });
  return Object.fromEntries(found.map((server, index) => [`server${index + 1}`, server]));
}

/**
 * An event, as the request of a webhook that has it as its body: the document describes its schema in the same way. The
 * operation id is the name of its channel, which no WebSocket may have.
 */
function toRoute({ name, payload }: DescribedEvent): DocumentedRoute {
  const params: Params = payload === undefined ? {} : { event: Body(payload) };
  return describedRoute({ method: "POST", address: name, name }, { params, operationId: name });
}

function eventChannel({ name }: DescribedEvent, payload: SchemaObject = { type: "null" }): AsyncAPIChannel {
  return { address: name, messages: { event: { name, contentType: "application/json", payload } } };
}

/** The application sends an event, and receives it once for each subscriber. */
function eventOperations({ name, subscribers }: DescribedEvent): [name: string, operation: AsyncAPIOperation][] {
  // A name may have a slash (RFC 6901 §3).
  const channel = `#/channels/${name.replaceAll("/", "~1")}`;
  const operation = { channel: { $ref: channel }, messages: [{ $ref: `${channel}/messages/event` }] };
  return [
    [`${name}.send`, { action: "send", ...operation }],
    ...subscribers.map((subscriber): [string, AsyncAPIOperation] => [
      `${subscriber}.receive`,
      { action: "receive", ...operation },
    ]),
  ];
}

/**
 * The AsyncAPI 3.0 document of an App's own WebSockets that have the options `receives` or `sends`, and of the events of
 * its jobs.
 *
 * @param jobs - The `Jobs` of `@tsgi/jobs`, whose events are channels.
 * @throws ConfigurationError naming the route or the event that cannot be described.
 * @example
 * ```ts
 * import { buildAsyncAPI } from "@tsgi/openapi-tools";
 * import { App, t } from "tsgi";
 *
 * const app = new App();
 * app.websocket("/ticks", { sends: t.Integer() }, async ({ ws }) => ws.close());
 * console.log(Object.keys(buildAsyncAPI(app).operations)); // [ 'websocketTicks.send' ]
 * ```
 */
export function buildAsyncAPI(app: App, jobs?: EventCatalog): AsyncAPIDocument;
/** The same for the options of a document and the routes that it describes. */
export function buildAsyncAPI(options: OpenAPIOptions, routes: readonly DocumentedRoute[]): AsyncAPIDocument;
export function buildAsyncAPI(
  source: App | OpenAPIOptions,
  more: readonly DocumentedRoute[] | EventCatalog = [],
): AsyncAPIDocument {
  const isApp = typeof source === "function";
  const [options, routes] = isApp ? documentSourceOf(source) : [source, "events" in more ? [] : more];
  const events = "events" in more ? more.events : [];
  const {
    info,
    servers,
    paths,
    webhooks = {},
    components = {},
  } = buildDocument({ ...options, openapiVersion: "3.1" }, routes.filter(isListedSocket), events.map(toRoute));
  const sockets = Object.entries(paths).flatMap(([address, { "x-websocket": socket }]) =>
    socket ? [{ address, socket }] : [],
  );
  const schemaOf = ({ name }: DescribedEvent) => webhooks[name]?.post?.requestBody?.content["application/json"]?.schema;
  const addresses = serversOf(servers);
  const lists = componentsOf(components, servers);
  return withoutDiscriminator({
    asyncapi: "3.0.0",
    info,
    ...(Object.keys(addresses).length > 0 ? { servers: addresses } : {}),
    defaultContentType: "application/json",
    channels: Object.fromEntries([
      ...sockets.map(({ address, socket }) => [socket.operationId, channelOf(address, socket)] as const),
      ...events.map((event) => [event.name, eventChannel(event, schemaOf(event))] as const),
    ]),
    operations: Object.fromEntries([
      ...sockets.flatMap(({ socket }) => operationsOf(socket)),
      ...events.flatMap(eventOperations),
    ]),
    ...(Object.keys(lists).length > 0 ? { components: lists } : {}),
  } satisfies AsyncAPIDocument);
}

/** The components that are not empty. */
function componentsOf(
  { schemas, securitySchemes }: NonNullable<OpenAPIDocument["components"]>,
  servers: readonly ServerObject[],
): NonNullable<AsyncAPIDocument["components"]> {
  const base = servers.map(({ url }) => url).find((url) => URL.canParse(url)) ?? NO_HOST;
  const schemes = Object.entries(securitySchemes ?? {}).map(([name, scheme]) => [name, securitySchemeOf(scheme, base)]);
  return {
    ...(schemas ? { schemas } : {}),
    ...(securitySchemes ? { securitySchemes: Object.fromEntries(schemes) as Record<string, object> } : {}),
  };
}
