/** Responses of the OpenAPI document, those to errors included. @module */
import { configurationError, statusPhrase } from "../common/exceptions.js";
import { defined, mapValues } from "../common/records.js";
import { factsOf } from "../middleware/chain.js";
import { responseFacts } from "../protocol/response.js";
import { declaredResponsesOf, type MediaTypeDoc, type ResponseDoc } from "../parameters/annotation.js";
import { EventSchemas, type Returns, type StreamFormat } from "../routing/options.js";
import { type Schema, toJSONSchema } from "../schema/schema.js";
import type { Components, Use } from "./components.js";
import type { ErrorBodies } from "./errors.js";
import { type DocumentedRoute, placeOf } from "./route.js";
import { refusalsOf } from "./security.js";
import { examplesOf } from "./sources.js";
import type { HeaderObject, MediaTypeObject, ResponseObject, SchemaObject } from "./types.js";
import type { DocumentVersion } from "./version.js";

/** Gives the schema of a value on the wire. */
type SchemaOf = (schema: Schema) => SchemaObject;

const FIELDS = { id: { type: "string" }, retry: { type: "integer", minimum: 0 } } as const;

/** The field `data`: text is sent as it is, anything else as JSON. */
function dataSchema(data: SchemaObject): SchemaObject {
  if (Object.keys(data).length === 0) return { type: "string" };
  return data.type === "string" ? data : { type: "string", contentMediaType: "application/json", contentSchema: data };
}

function eventSchema(event: SchemaObject, data: SchemaObject, required: string[]): SchemaObject {
  return { type: "object", properties: { event, data: dataSchema(data), ...FIELDS }, required };
}

/** The schema of one event of a route. */
function schemaOfEvent(returns: Returns | undefined, schemaOf: SchemaOf): SchemaObject {
  if (!(returns instanceof EventSchemas)) {
    return eventSchema({ type: "string" }, returns ? schemaOf(returns) : {}, ["data"]);
  }
  const events = Object.entries(returns.events).map(([name, schema]) =>
    eventSchema({ type: "string", enum: [name] }, schemaOf(schema), ["event", "data"]),
  );
  const [first] = events;
  return events.length === 1 && first ? first : { oneOf: events };
}

const JSON_TYPE = "application/json";

/** A status, or a range of statuses, of errors. */
const ERROR = /^[45]|^default$/;

/** The body of an error, as `httpExceptionHandler` and middleware write it. */
function errorContent({ mediaType, error }: ErrorBodies, components: Components): ResponseObject["content"] {
  return { [mediaType]: { schema: error(components) } };
}

/** Tells if the application describes the body itself, because a custom exception handler writes another one. */
function hasBody(docs: readonly ResponseDoc[] = []): boolean {
  return docs.some(({ schema, content }) => schema !== undefined || content !== undefined);
}

/** Statuses whose responses have no body, or no meaningful one. */
function isBodyless(status: number): boolean {
  return responseFacts(status, "GET").bodyless || (status >= 300 && status < 400);
}

/** Writes the responses of one route. */
class Responses {
  readonly #components: Components;
  readonly #bodies: ErrorBodies;
  readonly #use: Omit<Use, "of">;
  readonly #list = new Map<string, ResponseObject>();
  /** Statuses of middleware, which all have the same body. */
  readonly #refused = new Set<number>();

  constructor(components: Components, bodies: ErrorBodies, use: Omit<Use, "of">) {
    this.#components = components;
    this.#bodies = bodies;
    this.#use = use;
  }

  /** Records a fact about a status. */
  set(status: number, response: ResponseObject): void {
    this.#list.set(String(status), response);
  }

  /** Adds headers to a known response. */
  addHeaders(status: number, headers: Record<string, HeaderObject>): void {
    const known = this.#list.get(String(status));
    if (known) this.set(status, { ...known, headers: { ...known.headers, ...headers } });
  }

  /** Adds the response of a middleware, next to a known one of the same status. */
  addRefusal(status: number, refusal: ResponseObject): void {
    const known = this.#list.get(String(status));
    const headers = { ...known?.headers, ...refusal.headers };
    const { mediaType, error, invalid } = this.#bodies;
    const [schema, other] = [known, refusal].map((one) => one?.content?.[mediaType]?.schema);
    const isAlone = schema === undefined || other === undefined || this.#refused.has(status) || error === invalid;
    const anyOf = isAlone ? (schema ?? other) : { anyOf: [schema, other] };
    this.#refused.add(status);
    const { description } = known ?? refusal;
    const content = anyOf && { [mediaType]: { schema: anyOf } };
    this.set(status, defined({ description, headers: unlessEmpty(headers), content }));
  }

  /** Adds the declarations of a status, the nearest first, to the known facts. */
  add(status: string, docs: readonly ResponseDoc[]): void {
    if (!/^(?:[1-5](?:\d\d|XX)|default)$/.test(status)) {
      throw configurationError("TSGI_INVALID_RESPONSE_STATUS", status);
    }
    const known = this.#list.get(status) ?? { description: phraseOf(status) };
    const declared = docs.toReversed().flatMap((doc) => Object.entries(this.#headersOf(doc)));
    const headers = { ...known.headers, ...Object.fromEntries(declared) };
    const content = ERROR.test(status)
      ? this.#errorContentOf(docs, known.content)
      : this.#contentOf(docs, known.content);
    const { description = known.description } = docs.find((doc) => doc.description !== undefined) ?? {};
    this.#list.set(status, defined({ description, headers: unlessEmpty(headers), content }));
  }

  /** In the order of statuses, which is the order of integer keys; ranges and `default` are last. */
  get byStatus(): Record<string, ResponseObject> {
    const byStatus: Record<string, ResponseObject> = {};
    const sorted = [...this.#list].toSorted(([left], [right]) => (left < right ? -1 : 1));
    for (const [status, response] of sorted) byStatus[status] = response;
    return byStatus;
  }

  /** The schema of a result on the wire. */
  schemaOf(schema: Schema): SchemaObject {
    const json = toJSONSchema(schema, "output");
    return json ? this.#components.convert(json, { ...this.#use, of: schema }) : {};
  }

  /** One media type of several declarations. Their schemas are alternatives. */
  #mediaTypeOf(docs: readonly MediaTypeDoc[]): MediaTypeObject {
    const schemas = distinct(docs.flatMap(({ schema }) => schema ?? [])).map((schema) => this.schemaOf(schema));
    const [first, ...others] = schemas;
    const schema = first && others.length === 0 ? first : { anyOf: schemas };
    const examples = docs.find((doc) => doc.examples !== undefined)?.examples;
    return defined({ schema: first && schema, ...examplesOf(examples) });
  }

  /**
   * The schemas of all declarations, and the other media types of the nearest one that has a body: they stand for JSON of
   * any kind.
   */
  #contentOf(docs: readonly ResponseDoc[], known: ResponseObject["content"]): ResponseObject["content"] {
    const content = { ...known };
    const media = this.#mediaTypeOf(docs);
    const listed = docs.find((doc) => hasBody([doc]))?.content;
    if (listed && isAnything(content[JSON_TYPE])) delete content[JSON_TYPE];
    if (Object.keys(media).length > 0) content[JSON_TYPE] = { ...content[JSON_TYPE], ...media };
    for (const [type, one] of Object.entries(listed ?? {})) content[type] = this.#mediaTypeOf([one]);
    return unlessEmpty(content);
  }

  /** The same in the format of the application's errors. */
  #errorContentOf(docs: readonly ResponseDoc[], known: ResponseObject["content"]): ResponseObject["content"] {
    const { mediaType, declared, error, hasBodyAlways } = this.#bodies;
    const { [mediaType]: other, ...rest } = known ?? {};
    const { [JSON_TYPE]: json, ...content } = this.#contentOf(docs, mediaType === JSON_TYPE ? known : rest) ?? {};
    if (json?.schema) return { [mediaType]: { ...json, schema: declared(json.schema, this.#components) }, ...content };
    if (hasBodyAlways && !docs.some((doc) => doc.content)) {
      return { [mediaType]: { schema: error(this.#components), ...other, ...json }, ...content };
    }
    return unlessEmpty(json ? { [mediaType]: json, ...content } : content);
  }

  #headersOf({ headers = {} }: ResponseDoc): Record<string, HeaderObject> {
    return mapValues(headers, ({ description, schema }) =>
      defined({ description, schema: schema ? this.schemaOf(schema) : { type: "string" as const } }),
    );
  }
}

function unlessEmpty<Members extends object>(members: Members): Members | undefined {
  return Object.keys(members).length > 0 ? members : undefined;
}

function headerOf(description: string): HeaderObject {
  return { description, schema: { type: "string" } };
}

/** Schemas, each once. */
function distinct(schemas: readonly Schema[]): readonly Schema[] {
  return [...new Map(schemas.map((schema) => [JSON.stringify(toJSONSchema(schema, "output")), schema])).values()];
}

function isAnything(media: MediaTypeObject | undefined): boolean {
  return Object.keys(media?.schema ?? {}).length === 0;
}

function phraseOf(status: string): string {
  if (status === "default") return "Any other response";
  return status.endsWith("XX") ? `Any other ${status} response` : statusPhrase(Number(status));
}

const STREAM_TYPES: Readonly<Record<StreamFormat, string>> = { jsonl: "application/jsonl", sse: "text/event-stream" };

/** A result, or the items of a stream, by the media type. */
function contentOf(
  { record, streamFormat: stream }: DocumentedRoute,
  responses: Responses,
  version: DocumentVersion,
): ResponseObject["content"] {
  const { returns } = record.metadata;
  const schemaOf = (schema: Schema) => responses.schemaOf(schema);
  const item = () =>
    stream === "sse" || returns instanceof EventSchemas
      ? schemaOfEvent(returns, schemaOf)
      : returns
        ? schemaOf(returns)
        : {};
  return stream ? { [STREAM_TYPES[stream]]: version.streamBody(stream, item) } : { [JSON_TYPE]: { schema: item() } };
}

/**
 * The declared responses of a route by status, the nearest first. Of a success only the nearest one is used. The
 * errors are declared by the route, by the routers and the App around it, and by its dependencies.
 */
function declaredBy({ record, responses, plan }: DocumentedRoute): ReadonlyMap<string, readonly ResponseDoc[]> {
  const around = responses ?? [record.metadata.responses ?? {}];
  const callables = [record.handler, ...plan.allDependencies.map(({ callable }) => callable)];
  const byStatus = new Map<string, ResponseDoc[]>();
  const add = ([status, doc]: [string, ResponseDoc | undefined]) => {
    const known = byStatus.get(status);
    if (doc === undefined || (known !== undefined && !ERROR.test(status))) return;
    if (known === undefined) byStatus.set(status, [doc]);
    else if (!known.includes(doc)) known.push(doc);
  };
  for (const docs of [...around, ...callables.map(declaredResponsesOf)]) Object.entries(docs ?? {}).forEach(add);
  return byStatus;
}

/** Facts about an operation that decide on its responses. */
interface ResponseContext {
  readonly components: Components;
  readonly version: DocumentVersion;
  readonly operationId: string;
  readonly canBeInvalid: boolean;
  readonly bodies: ErrorBodies;
}

/** Adds the responses to the conditions of a route with the option `etag`, and the tag. */
function addTagged(
  responses: Responses,
  statusCode: number,
  { components, bodies }: Pick<ResponseContext, "components" | "bodies">,
): void {
  const headers = { ETag: headerOf("A tag of this result, for `If-None-Match` and `If-Match`.") };
  responses.addHeaders(statusCode, headers);
  responses.set(304, { description: statusPhrase(304), headers });
  responses.addRefusal(412, { description: statusPhrase(412), content: errorContent(bodies, components) });
}

/** Adds the responses that the middleware around a route sends instead of it. */
function addRefusals(
  { middleware = [], record }: DocumentedRoute,
  responses: Responses,
  { components, bodies }: Pick<ResponseContext, "components" | "bodies">,
): void {
  for (const { refusals } of factsOf(middleware, record.method)) {
    for (const [status, { description, headers = {} }] of Object.entries(refusals)) {
      responses.addRefusal(Number(status), {
        description,
        headers: mapValues(headers, headerOf),
        content: errorContent(bodies, components),
      });
    }
  }
}

/** Every response of a route that is known before a request, by status. */
export function responsesOf(
  route: DocumentedRoute,
  { components, version, operationId, canBeInvalid, bodies }: ResponseContext,
): Record<string, ResponseObject> {
  const { statusCode = 200 } = route.record.metadata;
  const docs = declaredBy(route);
  const role = `${operationId}Response`;
  const responses = new Responses(components, bodies, { direction: "output", place: placeOf(route), role });
  const content = isBodyless(statusCode) ? undefined : contentOf(route, responses, version);
  responses.set(statusCode, defined({ description: statusPhrase(statusCode), content }));
  for (const status of refusalsOf(route.plan)) {
    const refused = hasBody(docs.get(String(status))) ? undefined : errorContent(bodies, components);
    const headers = { "WWW-Authenticate": headerOf("How to authenticate.") };
    responses.set(status, defined({ description: statusPhrase(status), headers, content: refused }));
  }
  if (canBeInvalid) {
    const { validationStatus: status, mediaType, invalid } = bodies;
    const body = hasBody(docs.get(String(status))) ? undefined : { [mediaType]: { schema: invalid(components) } };
    responses.set(status, defined({ description: statusPhrase(status), content: body }));
  }
  if (route.record.metadata.etag) addTagged(responses, statusCode, { components, bodies });
  addRefusals(route, responses, { components, bodies });
  for (const [status, declared] of docs) responses.add(status, declared);
  return responses.byStatus;
}
