/** Operations: the description of a route in the document, and of the requests that it sends later. @module */
import { compileRoute } from "../parameters/dependencies/compile.js";
import { configurationError } from "../common/exceptions.js";
import { defined, mapValues } from "../common/records.js";
import { factsOf } from "../middleware/chain.js";
import { PathPattern } from "../routing/path-pattern.js";
import type { CallbackOperation } from "../routing/options.js";
import { DETAIL_BODIES, type ErrorBodies } from "./errors.js";
import type { Components } from "./components.js";
import { capitalize, type OperationIds, summaryOf } from "./naming.js";
import { responsesOf } from "./responses.js";
import { type DocumentedRoute, documentedMethod, placeOf } from "./route.js";
import type { SecuritySchemes } from "./security.js";
import {
  canFail,
  sourcesOf,
  type DocumentPlace,
  examplesOf,
  isListed,
  propertiesOf,
  schemaOf,
  type SourceParam,
  type Reader,
  sharedSchema,
} from "./sources.js";
import type {
  CallbackObject,
  DocumentedMethod,
  OperationObject,
  ParameterObject,
  EncodingObject,
  MediaTypeObject,
  RequestBodyObject,
  SchemaObject,
  WebSocketObject,
} from "./types.js";
import type { DocumentVersion } from "./version.js";
import { WEBSOCKET } from "../routing/router.js";
import type { JSONSchema } from "../schema/json-schema.js";
import { type Schema, toJSONSchema } from "../schema/schema.js";

/** Parts that the operations of one document share. */
export interface Parts {
  readonly version: DocumentVersion;
  readonly components: Components;
  readonly ids: OperationIds;
  readonly schemes: SecuritySchemes;
  readonly bodies: ErrorBodies;
  /** `false` for a request that the application sends. Defaults to `true`. */
  readonly isOurs?: boolean;
}

/**
 * One route as the document describes it.
 *
 * @param parts - With `isOurs: false` for a request that the application sends: without the response to an invalid one.
 */
export function operationOf(route: DocumentedRoute, operationId: string, parts: Parts): OperationObject {
  const { components, schemes, isOurs = true } = parts;
  const { metadata } = route.record;
  const place = { components, at: placeOf(route) };
  const sources = sourcesOf(route.plan.sources);
  const parameters = withHeaders(parametersOf(sources, place), route);
  return defined({
    ...headOf(route, operationId, parameters),
    requestBody: bodyOf(sources, route.plan.embedBody, place),
    responses: responsesOf(route, { ...parts, operationId, canBeInvalid: isOurs && sources.some(canFail) }),
    callbacks: callbacksOf(route, operationId, parts),
    deprecated: metadata.deprecated || undefined,
    security: unlessEmpty(schemes.of(route.plan)),
  });
}

/** The members with which the operation of a route or of a WebSocket begins. */
function headOf(route: DocumentedRoute, operationId: string, parameters: ParameterObject[]) {
  const { metadata } = route.record;
  return defined({
    tags: unlessEmpty(metadata.tags),
    summary: metadata.summary ?? summaryOf(route),
    description: metadata.description,
    operationId,
    parameters: unlessEmpty(parameters),
  });
}

function unlessEmpty<Item>(list: readonly Item[] = []): Item[] | undefined {
  return list.length > 0 ? [...list] : undefined;
}

/** Adds the headers that the middleware of a route reads, unless the route declares them itself. */
function withHeaders(parameters: ParameterObject[], { middleware = [], record }: DocumentedRoute): ParameterObject[] {
  const read = factsOf(middleware, record.method).flatMap(({ header }) => header ?? []);
  const isDeclared = (name: string) =>
    parameters.some((known) => known.in === "header" && known.name.toLowerCase() === name.toLowerCase());
  const added = read
    .filter(({ name }) => !isDeclared(name))
    .map(({ name, description, maxLength }): ParameterObject => {
      return { name, in: "header", description, required: false, schema: { type: "string", maxLength } };
    });
  return added.length === 0 ? parameters : [...parameters, ...added];
}

/** The braces of a callback's address hold expressions (OpenAPI 3.0.3 §4.7.18), not names. */
const NO_PATTERN = PathPattern.parse("", "callback");

/** A handler with the name of the callback, from which the summary is made. */
function handlerNamed(name: string): () => null {
  return Object.defineProperty(() => null, "name", { value: name });
}

/**
 * A request that the application sends, as a route.
 *
 * @param of - `address` replaces the pattern, and the summary is built from `name`.
 */
export function describedRoute(
  { method, address, name }: { readonly method: string; readonly address: string; readonly name: string },
  operation: CallbackOperation,
): DocumentedRoute {
  const handler = handlerNamed(name);
  const plan = compileRoute({ handler, role: name, names: [], params: operation.params ?? {}, protocol: "http" });
  return { record: { method, path: address, handler, metadata: operation }, pattern: NO_PATTERN, plan };
}

/** The callbacks of a route, if it has any. */
function callbacksOf(
  route: DocumentedRoute,
  operationId: string,
  parts: Parts,
): Record<string, CallbackObject> | undefined {
  const { callbacks } = route.record.metadata;
  if (!callbacks) return undefined;
  return mapValues(callbacks, (addresses, name) =>
    mapValues(addresses, (operations, address) => {
      const item: { [M in DocumentedMethod]?: OperationObject } = {};
      for (const [key, operation] of Object.entries(operations)) {
        const method = documentedMethod(key);
        const place = `${placeOf(route)}, callback ${JSON.stringify(name)}, ${key} ${address}`;
        if (!method) throw configurationError("TSGI_INVALID_CALLBACK_METHOD", place);
        const described = describedRoute({ method: method.toUpperCase(), address, name }, operation);
        const id = parts.ids.take(operation.operationId, operationId + capitalize(name), place);
        item[method] = operationOf(described, id, { ...parts, bodies: DETAIL_BODIES, isOurs: false });
      }
      return item;
    }),
  );
}

/** One member of an object, with the metadata of its parameter function. */
function memberOf(source: SourceParam, place: DocumentPlace): Reader {
  const { name, isRequired, marker } = source;
  const { description, deprecated, examples } = marker.options;
  const schema = place.components.annotate(schemaOf(source, place), {
    description,
    deprecated: deprecated || undefined,
    examples: examples?.length ? examples : undefined,
  });
  return { name, json: jsonOf(source), schema, isRequired };
}

function jsonOf({ marker }: SourceParam): JSONSchema {
  return marker.source.toJSONSchema(marker);
}

/** Those that read the same value together. */
function byName<One extends Reader>(readers: readonly One[]): Map<string, [One, ...One[]]> {
  const groups = new Map<string, [One, ...One[]]>();
  for (const reader of readers) {
    const known = groups.get(reader.name);
    if (known) known.push(reader);
    else groups.set(reader.name, [reader]);
  }
  return groups;
}

/** The schema of an object with these members. It is required when one of them is. */
function objectOf(members: readonly Reader[], place: DocumentPlace): Pick<Reader, "schema" | "isRequired"> {
  const shared = Array.from(byName(members), ([name, readers]) => ({ name, ...sharedSchema(readers, place) }));
  const properties = Object.fromEntries(shared.map(({ name, schema }) => [name, schema]));
  const required = unlessEmpty(shared.filter(({ isRequired }) => isRequired).map(({ name }) => name));
  return { schema: defined({ type: "object" as const, properties, required }), isRequired: required !== undefined };
}

function jsonBody(bodies: readonly SourceParam[], embed: boolean, place: DocumentPlace): RequestBodyObject {
  const [first, ...others] = bodies;
  if (!embed && first) {
    const { description, examples } = first.marker.options;
    const readerOf = (source: SourceParam): Reader => {
      const { name, isRequired } = source;
      return { name, json: jsonOf(source), schema: schemaOf(source, place), isRequired };
    };
    const { schema, isRequired } = sharedSchema([readerOf(first), ...others.map(readerOf)], place);
    return defined({
      description,
      content: { "application/json": { schema, ...examplesOf(examples) } },
      required: isRequired,
    });
  }
  const { schema, isRequired } = objectOf(
    bodies.map((source) => memberOf(source, place)),
    place,
  );
  return { content: { "application/json": { schema } }, required: isRequired };
}

/** The media types of the files, unless all may have any. */
function encodingOf(files: readonly SourceParam[]): Record<string, EncodingObject> | undefined {
  const entries = files.flatMap(({ name, marker }) => {
    const { mediaTypes } = marker.options;
    return mediaTypes ? [[name, { contentType: mediaTypes.join(", ") }] as const] : [];
  });
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

function formBody(forms: readonly [SourceParam, ...SourceParam[]], place: DocumentPlace): RequestBodyObject {
  const [first] = forms;
  const files = forms.filter(({ marker }) => marker.source.body === "multipart");
  const mediaTypes = files.length > 0 ? [] : ["application/x-www-form-urlencoded"];
  const isWhole = forms.length === 1 && files.length === 0 && first.compiled.properties;
  const { schema, isRequired } = isWhole
    ? { schema: schemaOf(first, place), isRequired: first.isRequired }
    : objectOf(
        forms.flatMap((source) => propertiesOf(source, place) ?? [memberOf(source, place)]),
        place,
      );
  const media: MediaTypeObject = defined({ schema, encoding: encodingOf(files) });
  return {
    content: Object.fromEntries([...mediaTypes, "multipart/form-data"].map((type) => [type, media])),
    required: isRequired,
  };
}

/** The body that a route reads, if it reads one. */
function bodyOf(sources: readonly SourceParam[], embed: boolean, place: DocumentPlace): RequestBodyObject | undefined {
  const listed = sources.filter(isListed);
  const bodies = listed.filter(({ marker }) => marker.source.body === "json");
  if (bodies.length > 0) return jsonBody(bodies, embed, place);
  const [form, ...forms] = listed.filter(({ marker }) => marker.source.body !== null);
  return form && formBody([form, ...forms], place);
}

/** The order of the places in the document. */
const PLACES: readonly ParameterObject["in"][] = ["path", "query", "header", "cookie"];

/** Headers that a document describes elsewhere: parameters of these names are ignored (§4.7.12.1). */
const DESCRIBED_ELSEWHERE = new Set(["accept", "content-type"]);

/** One function that reads a parameter, with its description. */
interface ParameterReader extends Reader {
  readonly in: ParameterObject["in"];
  readonly described: Pick<ParameterObject, "description" | "deprecated" | "example" | "examples">;
}

/** A parameter by its own name. */
function parameterOf(source: SourceParam, where: ParameterObject["in"], place: DocumentPlace): ParameterReader {
  const { marker, name, compiled, isRequired } = source;
  const { description = compiled.json?.description, deprecated = compiled.json?.deprecated, examples } = marker.options;
  return {
    name,
    in: where,
    json: jsonOf(source),
    schema: schemaOf(source, place),
    isRequired: marker.source.isInPattern || isRequired,
    described: defined({ description, deprecated: deprecated || undefined, ...examplesOf(examples) }),
  };
}

/** A parameter for each property of an object schema. */
function spread(
  { marker }: SourceParam,
  properties: readonly Reader[],
  where: ParameterObject["in"],
): ParameterReader[] {
  return properties.map((reader) => {
    const { description, deprecated } = reader.json;
    const isDeprecated = marker.options.deprecated || deprecated || undefined;
    return { ...reader, in: where, described: defined({ description, deprecated: isDeprecated }) };
  });
}

/** The parameters of a route. One that several functions read is listed once. */
export function parametersOf(sources: readonly SourceParam[], place: DocumentPlace): ParameterObject[] {
  const readers = sources.filter(isListed).flatMap((source) => {
    const { in: where } = source.marker.source;
    if (!where) return [];
    const properties = propertiesOf(source, place);
    return properties ? spread(source, properties, where) : [parameterOf(source, where, place)];
  });
  return PLACES.flatMap((where) => {
    const here = readers.filter((reader) => reader.in === where);
    const listed = where === "header" ? here.filter(({ name }) => !DESCRIBED_ELSEWHERE.has(name)) : here;
    return Array.from(byName(listed), ([name, group]) => {
      const { schema, isRequired: required } = sharedSchema(group, place);
      const { description, deprecated, ...examples } = group.reduceRight<ParameterReader["described"]>(
        (later, { described }) => ({ ...later, ...described }),
        {},
      );
      return defined({ name, in: where, description, required, deprecated, schema, ...examples });
    });
  });
}

/** Tells if the document describes a WebSocket: if it declares its messages. */
export function isListedSocket({ record: { method, metadata } }: DocumentedRoute): boolean {
  const hasMessages = metadata.receives !== undefined || metadata.sends !== undefined;
  return method === WEBSOCKET && hasMessages && metadata.includeInSchema !== false;
}

/** One WebSocket as the document describes it. */
export function webSocketOf(route: DocumentedRoute, operationId: string, parts: Parts): WebSocketObject {
  const { components, schemes } = parts;
  const { metadata } = route.record;
  const place = placeOf(route);
  const parameters = parametersOf(sourcesOf(route.plan.sources), { components, at: place });
  const messageOf = (schema: Schema | undefined, direction: "input" | "output"): SchemaObject | undefined => {
    if (!schema) return undefined;
    const json = toJSONSchema(schema, direction);
    const role = `${operationId}${direction === "input" ? "Received" : "Sent"}`;
    return json ? components.convert(json, { direction, place, role, of: schema }) : {};
  };
  return defined({
    ...headOf(route, operationId, parameters),
    receives: messageOf(metadata.receives, "input"),
    sends: messageOf(metadata.sends, "output"),
    deprecated: metadata.deprecated || undefined,
    security: unlessEmpty(schemes.of(route.plan)),
  });
}
