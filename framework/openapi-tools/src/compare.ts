/** Comparison of two documents: changes for the clients of an API. @module */
import { type Change, Place } from "./changes.js";
import { type Member, SchemaComparison } from "./compare-schemas.js";
import { canonical, type Json, listOf, objectOf, resolve, textsOf } from "./json-parts.js";
import { compareSecurity } from "./compare-security.js";

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/** An operation together with the parts of its path item for all methods. */
interface Operation {
  /** Method and path, or method and the name of a webhook. */
  readonly name: string;
  readonly template: string;
  readonly definition: Json;
  readonly parameters: readonly unknown[];
}

/**
 * Compares two documents of OpenAPI 3 by what clients may send and have to expect. Texts, examples, names of operations
 * and of components do not count, and neither does the version of OpenAPI.
 *
 * @returns The changes, in the order of the later document's operations; those that were removed come last.
 * @example
 * ```ts
 * import { App, t } from "tsgi";
 * import { compareDocuments } from "@tsgi/openapi-tools";
 *
 * const before = new App();
 * before.get("/items", async () => []);
 * const after = new App();
 * after.get("/items", { params: { limit: t.Integer() } }, async () => []);
 * const [change] = compareDocuments(before.openapi(), after.openapi());
 * console.log(change?.kind, change?.operation, change?.place); // breaking GET /items query/limit
 * ```
 */
export function compareDocuments(before: object, after: object): Change[] {
  const changes: Change[] = [];
  const documents = [before as Json, after as Json] as const;
  const comparison = new DocumentComparison(...documents);
  comparison.compareOperations(...both(documents, pathOperations), (name) => new Place(changes, name, "request"));
  comparison.compareOperations(...both(documents, webhookOperations), (name) => new Place(changes, name, "response"));
  return changes;
}

function both<T>([before, after]: readonly [Json, Json], read: (document: Json) => T): [T, T] {
  return [read(before), read(after)];
}

/** By method and shape: names of path parameters have no meaning for a client (OpenAPI 3.0.3 §4.7.8.1). */
function pathOperations(document: Json): Map<string, Operation> {
  return operationsOf(document["paths"], document, (path) => path.replaceAll(/\{[^{}]*\}/g, "{}"));
}

function webhookOperations(document: Json): Map<string, Operation> {
  return operationsOf(document["webhooks"] ?? document["x-webhooks"], document, (name) => name);
}

function operationsOf(items: unknown, document: Json, keyOf: (template: string) => string): Map<string, Operation> {
  const operations = new Map<string, Operation>();
  for (const [template, value] of Object.entries(objectOf(items))) {
    const item = resolve(value, document);
    const further = Object.entries(objectOf(item["additionalOperations"]));
    const known = METHODS.map((method) => [method, item[method]] as const);
    for (const [method, definition] of [...known, ["websocket", item["x-websocket"]] as const, ...further]) {
      if (definition === undefined) continue;
      const name = `${method.toUpperCase()} ${template}`;
      const operation = objectOf(definition);
      const parameters = [...listOf(item["parameters"]), ...listOf(operation["parameters"])];
      operations.set(`${method} ${keyOf(template)}`, { name, template, definition: operation, parameters });
    }
  }
  return operations;
}

class DocumentComparison {
  readonly #before: Json;
  readonly #after: Json;
  readonly #schemas: SchemaComparison;

  constructor(before: Json, after: Json) {
    this.#before = before;
    this.#after = after;
    this.#schemas = new SchemaComparison(before, after);
  }

  compareOperations(
    before: ReadonlyMap<string, Operation>,
    after: ReadonlyMap<string, Operation>,
    placeOf: (name: string) => Place,
  ): void {
    for (const [key, operation] of after) {
      const known = before.get(key);
      if (known) this.#compareOperation(known, operation, placeOf(operation.name));
      else placeOf(operation.name).report("operation-added", "the operation is new");
    }
    for (const [key, { name }] of before) {
      if (!after.has(key)) placeOf(name).report("operation-removed", "the operation is missing");
    }
  }

  #compareOperation(before: Operation, after: Operation, place: Place): void {
    const parameters = [parametersOf(before, this.#before), parametersOf(after, this.#after)] as const;
    this.#schemas.compareMembers(...parameters, place, "parameter");
    this.#compareBody(before.definition["requestBody"], after.definition["requestBody"], place.at("body"));
    this.#compareResponses(before.definition["responses"], after.definition["responses"], place.answer.at("response"));
    const operations = [before.definition, after.definition] as const;
    compareSecurity([this.#before, this.#after], operations, place.at("security"));
    this.#compareCallbacks(before.definition["callbacks"], after.definition["callbacks"], place);
    this.#compareMessages(before.definition, after.definition, place);
  }

  /** The messages of a WebSocket. If it describes no media type, it accepts and sends any. */
  #compareMessages(before: Json, after: Json, place: Place): void {
    this.#schemas.compare(before["receives"] ?? true, after["receives"] ?? true, place.at("receives"));
    this.#schemas.compare(before["sends"] ?? true, after["sends"] ?? true, place.answer.at("sends"));
  }

  #compareBody(before: unknown, after: unknown, place: Place): void {
    if (before === undefined && after === undefined) return;
    const [left, right] = [resolve(before, this.#before), resolve(after, this.#after)];
    const [was, is] = [bodyMember(before, left), bodyMember(after, right)];
    this.#schemas.compareMembers(was, is, place, "body");
    if (was.size === 0 || is.size === 0) return;
    this.#compareContent(left["content"], right["content"], place);
  }

  /** Compares bodies by media type. The same pair of schemas under several types is compared once. */
  #compareContent(before: unknown, after: unknown, place: Place): void {
    const [left, right] = [objectOf(before), objectOf(after)];
    const compared = new Set<string>();
    for (const [type, value] of Object.entries(right)) {
      const inner = type === "application/json" ? place : place.at(type);
      if (!Object.hasOwn(left, type)) {
        inner.report("media-type-added", `${type} is new`);
        continue;
      }
      const [earlier, later] = [objectOf(left[type]), objectOf(value)];
      const pair = canonical([withoutExamples(earlier), withoutExamples(later)]);
      if (compared.has(pair)) continue;
      compared.add(pair);
      this.#compareMedia(earlier, later, inner);
    }
    for (const type of Object.keys(left)) {
      if (!Object.hasOwn(right, type)) place.report("media-type-removed", `${type} is missing`);
    }
  }

  #compareMedia(before: Json, after: Json, place: Place): void {
    const [was, is] = [itemSchemaOf(before), itemSchemaOf(after)];
    // A stream whose items only one of the documents describes is not comparable.
    if ((was === undefined) === (is === undefined)) {
      this.#schemas.compare(was ?? before["schema"] ?? true, is ?? after["schema"] ?? true, place);
    }
    const [earlier, later] = [objectOf(before["encoding"]), objectOf(after["encoding"])];
    for (const name of new Set([...Object.keys(earlier), ...Object.keys(later)])) {
      compareMediaTypes(objectOf(earlier[name])["contentType"], objectOf(later[name])["contentType"], place.at(name));
    }
  }

  #compareResponses(before: unknown, after: unknown, place: Place): void {
    const [left, right] = [objectOf(before), objectOf(after)];
    for (const [status, value] of Object.entries(right)) {
      const known = responseFor(left, status);
      if (known === undefined)
        place.at(status).report(isError(status) ? "error-added" : "success-added", "the status is new");
      else this.#compareResponse(known, value, place.at(status));
    }
    for (const [status, value] of Object.entries(left)) {
      if (Object.hasOwn(right, status)) continue;
      const other = responseFor(right, status);
      if (other === undefined)
        place.at(status).report(isError(status) ? "error-removed" : "success-removed", "the status is missing");
      else this.#compareResponse(value, other, place.at(status));
    }
  }

  #compareResponse(before: unknown, after: unknown, place: Place): void {
    const [left, right] = [resolve(before, this.#before), resolve(after, this.#after)];
    this.#compareContent(left["content"], right["content"], place);
    const headers = [headersOf(left, this.#before), headersOf(right, this.#after)] as const;
    this.#schemas.compareMembers(...headers, place, "header");
  }

  /** Callbacks are requests of the application. */
  #compareCallbacks(before: unknown, after: unknown, place: Place): void {
    const [left, right] = [callbackOperations(before, this.#before), callbackOperations(after, this.#after)];
    if (left.size + right.size === 0) return;
    this.compareOperations(left, right, (name) => place.answer.within(name));
  }
}

/** A body as the one member of a struct; its media types are compared one by one. */
function bodyMember(value: unknown, { required }: Json): Map<string, Member> {
  if (value === undefined) return new Map();
  return new Map([["body", { at: [], schema: true, isRequired: required === true }]]);
}

/** The schema of an item of a stream: OpenAPI 3.2 has a member for it, and documents of earlier versions an extension. */
function itemSchemaOf(media: Json): unknown {
  return media["itemSchema"] ?? media["x-itemSchema"];
}

function isError(status: string): boolean {
  return /^[45]/.test(status) || status === "default";
}

/** The description of a status: its own, the one of its range, or `default`. */
function responseFor(responses: Json, status: string): unknown {
  const range = `${status.charAt(0)}XX`;
  return [status, range, "default"].flatMap((key) => (Object.hasOwn(responses, key) ? [responses[key]] : []))[0];
}

/** By place and name: names of headers have no case, and a path parameter is told by its position. */
function parametersOf({ parameters, template }: Operation, document: Json): Map<string, Member> {
  const positions = Array.from(template.matchAll(/\{([^{}]*)\}/g), ([, name]) => name);
  const members = new Map<string, Member>();
  for (const value of parameters) {
    const parameter = resolve(value, document);
    const [place, name] = [String(parameter["in"]), String(parameter["name"])];
    const key = place === "path" ? positions.indexOf(name) : place === "header" ? name.toLowerCase() : name;
    const [media] = Object.values(objectOf(parameter["content"]));
    const schema = parameter["schema"] ?? objectOf(media)["schema"] ?? true;
    const isRequired = place === "path" || parameter["required"] === true;
    members.set(`${place} ${key}`, { at: [place, name], schema, isRequired });
  }
  return members;
}

/** A header of a document has no `required` unless it is certain; without the word it counts as sent. */
function headersOf(response: Json, document: Json): Map<string, Member> {
  const headers = Object.entries(objectOf(response["headers"])).map(([name, value]): [string, Member] => {
    const { schema, required } = resolve(value, document);
    return [name.toLowerCase(), { at: ["header", name], schema: schema ?? true, isRequired: required === true }];
  });
  return new Map(headers);
}

function callbackOperations(callbacks: unknown, document: Json): Map<string, Operation> {
  const entries = Object.entries(objectOf(callbacks)).flatMap(([name, value]) =>
    Array.from(
      operationsOf(resolve(value, document), document, (address) => address),
      ([key, operation]) => {
        const named: [string, Operation] = [`${name} ${key}`, { ...operation, name: `${name} ${operation.name}` }];
        return named;
      },
    ),
  );
  return new Map(entries);
}

function withoutExamples({ example: _example, examples: _examples, ...rest }: Json): Json {
  return rest;
}

/** Compares the media types that a file may have: a list with commas. */
function compareMediaTypes(before: unknown, after: unknown, place: Place): void {
  const [left, right] = [before, after].map((value) =>
    typeof value === "string" ? value.split(",").map((type) => type.trim()) : null,
  ) as [string[] | null, string[] | null];
  const gone = left?.filter((type) => !right?.includes(type)) ?? [];
  const added = right?.filter((type) => !left?.includes(type)) ?? [];
  if (right && (left === null || gone.length > 0))
    place.report("narrowed", `only ${textsOf(right).join(", ")} fits now`);
  if (left && (right === null || added.length > 0)) {
    place.report("widened", right ? `${added.join(", ")} fits as well` : "any media type fits now");
  }
}
