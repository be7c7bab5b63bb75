/** The promises of the document to its clients, in words that every version of OpenAPI has. @module */
import {
  type AsyncAPIChannel,
  type AsyncAPIDocument,
  type AsyncAPIHandshake,
  type AsyncAPIMessage,
  type AsyncAPIOperation,
  type AsyncAPIReference,
  type AsyncAPIServer,
  type Change,
  type ChangeKind,
  type ChangeRule,
  compareDocuments,
} from "@tsgi/openapi-tools";
import type {
  CallbackObject,
  DiscriminatorObject,
  DocumentedMethod,
  ExampleObject,
  ExternalDocumentationObject,
  HeaderObject,
  InfoObject,
  MediaTypeObject,
  OpenAPIDocument,
  OperationObject,
  ParameterObject,
  PathItemObject,
  ReferenceObject,
  RequestBodyObject,
  ResponseObject,
  SchemaObject,
  SecurityRequirementObject,
  ServerObject,
  TagObject,
  WebSocketObject,
} from "tsgi/openapi";

const METHODS: readonly DocumentedMethod[] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/** The components that a schema refers to, and its own type if it has no references. */
function schemaText(schema: SchemaObject | ReferenceObject | undefined): string {
  if (schema === undefined) return "anything";
  const refs = [...JSON.stringify(schema).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(([, name = ""]) => name);
  const names = [...new Set(refs)].toSorted((a, b) => (a < b ? -1 : 1));
  return names.length > 0 ? names.join(" ") : typeText(schema as SchemaObject);
}

/** 3.0 has no type null, and uses `nullable` next to the others. */
function typeText({ type, anyOf = [], nullable }: SchemaObject): string {
  const types = [type ?? anyOf.map((member) => member.type ?? "")].flat(2);
  const all = [...types.filter(Boolean), ...(nullable ? ["null"] : [])];
  return [...new Set(all)].toSorted().join(" | ");
}

/** The media types, each with the component of its content or of its items. Events have one from 3.2 on. */
const contentText = (content: Readonly<Record<string, MediaTypeObject>> = {}): string[] =>
  Object.entries(content).map(([type, { schema, example, examples = {}, ...media }]) => {
    const shown: (ExampleObject | undefined)[] = Object.values(examples);
    const count = example === undefined ? shown.length : 1;
    const described = media.itemSchema ?? media["x-itemSchema"] ?? schema;
    return `${type}${type === "text/event-stream" ? "" : ` ${schemaText(described)}`}, ${count} examples`;
  });

const parameterText = ({ name, in: place, required = false, deprecated = false }: ParameterObject) =>
  `${place} ${name}${required ? "!" : ""}${deprecated ? " (deprecated)" : ""}`;

const bodyText = ({ required = false, content }: RequestBodyObject) => [required, ...contentText(content)];

function responseText({ description, headers = {}, content }: ResponseObject) {
  const named = Object.entries(headers).map(
    ([name, header]: [string, HeaderObject]) => `${name} ${header.description ?? ""}`,
  );
  return { description, headers: named, content: contentText(content) };
}

const callbackText = (callback: CallbackObject): string[] =>
  Object.entries(callback).flatMap(([url, item]) => operationsOf(item).map(([method]) => `${method} ${url}`));

const operationsOf = (item: PathItemObject): [DocumentedMethod, OperationObject][] =>
  METHODS.flatMap((method): [DocumentedMethod, OperationObject][] => (item[method] ? [[method, item[method]]] : []));

const securityText = (security: readonly SecurityRequirementObject[] | undefined) => security ?? "none";

/** One operation: its parameters, bodies, responses and credentials. */
function promiseOf(operation: OperationObject) {
  const { operationId, tags = [], deprecated = false, parameters = [], requestBody, responses, security } = operation;
  return {
    operationId,
    tags,
    deprecated,
    parameters: parameters.map(parameterText),
    body: requestBody ? bodyText(requestBody) : null,
    responses: Object.fromEntries(Object.entries(responses).map(([status, one]) => [status, responseText(one)])),
    security: securityText(security),
    callbacks: Object.entries(operation.callbacks ?? {}).map(([name, callback]) => [name, callbackText(callback)]),
  };
}

const socketText = ({ operationId, parameters = [], security, receives, sends }: WebSocketObject) => ({
  operationId,
  parameters: parameters.map(parameterText),
  security: securityText(security),
  receives: schemaText(receives),
  sends: schemaText(sends),
});

/** Tells the members of a union apart. */
const discriminatorText = ({ propertyName, mapping = {} }: DiscriminatorObject) => [propertyName, Object.keys(mapping)];

function pathsOf(paths: Readonly<Record<string, PathItemObject>>) {
  return Object.entries(paths).flatMap(([path, item]): [string, object][] => [
    ...operationsOf(item).map(([method, operation]): [string, object] => [`${method} ${path}`, promiseOf(operation)]),
    ...(item["x-websocket"] ? [[`websocket ${path}`, socketText(item["x-websocket"])] as [string, object]] : []),
  ]);
}

const headOf = (
  { title, version }: InfoObject,
  servers: readonly ServerObject[],
  tags: readonly TagObject[] = [],
  guide?: ExternalDocumentationObject,
) => ({
  title,
  version,
  servers: servers.map(({ url }) => url),
  tags: tags.map(({ name }) => name),
  guide: guide?.url,
});

/** Everything that the document promises. */
export function promisesOf(document: OpenAPIDocument) {
  const { info, servers, tags, externalDocs, paths, components = {} } = document;
  const { schemas = {}, securitySchemes = {} } = components;
  const unions = Object.entries(schemas).flatMap(([name, { discriminator }]) =>
    discriminator ? [[name, discriminatorText(discriminator)]] : [],
  );
  return {
    head: headOf(info, servers, tags, externalDocs),
    operations: Object.fromEntries(pathsOf(paths)),
    webhooks: Object.fromEntries(pathsOf(document.webhooks ?? document["x-webhooks"] ?? {})),
    schemas: Object.keys(schemas),
    securitySchemes,
    unions,
  };
}

/** The names of the rules that a new document breaks for clients. */
export function breaksOf(before: OpenAPIDocument, after: OpenAPIDocument): ChangeRule[] {
  const isBreaking = (kind: ChangeKind) => kind === "breaking";
  return compareDocuments(before, after).flatMap(({ kind, rule }: Change) => (isBreaking(kind) ? [rule] : []));
}

const refText = ({ $ref }: AsyncAPIReference) => $ref.split("/").at(-1);
const namesOf = (handshake: AsyncAPIHandshake | undefined) => Object.keys(handshake?.properties ?? {});
const hostOf = ({ protocol, host }: AsyncAPIServer) => `${protocol}://${host}`;
const messageText = ({ name, contentType }: AsyncAPIMessage) => `${name} as ${contentType}`;

function channelText({ address, messages, bindings }: AsyncAPIChannel) {
  return { address, messages: Object.values(messages).map(messageText), query: namesOf(bindings?.ws.query) };
}

const operationText = ({ action, channel, security = [] }: AsyncAPIOperation) =>
  `${action} ${refText(channel)} ${security.map(refText).join(" ")}`.trim();

/** The WebSockets, in the words of AsyncAPI. */
export function socketsOf({ channels, operations, servers = {} }: AsyncAPIDocument) {
  return {
    servers: Object.values(servers).map(hostOf),
    channels: Object.values(channels).map(channelText),
    operations: Object.values(operations).map(operationText),
  };
}
