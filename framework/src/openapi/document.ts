import { ConfigurationError } from "../exceptions.js";
import { Components } from "./components.js";
import { operationOf } from "./operations.js";
import type { GenerateOperationId, OpenAPIOptions } from "./options.js";
import { type DocumentedRoute, placeOf, templateOf } from "./route.js";
import type { DocumentedMethod, OpenAPIDocument, OperationObject, PathItemObject, TagObject } from "./types.js";
import { operationIdOf } from "./words.js";

const METHODS: readonly DocumentedMethod[] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

/** A method as a document writes it; `undefined` for one that it cannot describe. */
function methodOf(method: string): DocumentedMethod | undefined {
  return METHODS.find((known) => known === method.toLowerCase());
}

/** Gives each operation a name of its own. */
class OperationIds {
  readonly #generate: GenerateOperationId | undefined;
  readonly #places = new Map<string, string>();

  constructor(generate: GenerateOperationId | undefined) {
    this.#generate = generate;
  }

  /** @throws ConfigurationError when a chosen name is taken. One of method and path gets a number instead. */
  of(route: DocumentedRoute): string {
    const { method, path, handler, metadata } = route.record;
    const chosen =
      metadata.operationId ?? this.#generate?.({ method, path, name: handler.name, tags: metadata.tags ?? [] });
    const id = chosen ?? this.#numbered(operationIdOf(method, path));
    const rival = this.#places.get(id);
    if (rival !== undefined) {
      throw new ConfigurationError(
        `the operation id ${JSON.stringify(id)} is that of ${rival} as well. Give each route an \`operationId\` of its own.`,
      );
    }
    this.#places.set(id, placeOf(route));
    return id;
  }

  #numbered(base: string): string {
    let id = base;
    for (let number = 2; this.#places.has(id); number++) id = `${base}${number}`;
    return id;
  }
}

/** Templates that differ only in their names are one path (§4.7.8.1); the first one's names count. */
class Paths {
  readonly items: Record<string, PathItemObject> = {};
  readonly #byShape = new Map<string, string>();

  add(path: string, method: DocumentedMethod, operation: OperationObject): void {
    const template = templateOf(path);
    const shape = template.replaceAll(/\{[^{}]*\}/g, "{}");
    const listed = this.#byShape.get(shape) ?? template;
    this.#byShape.set(shape, listed);
    if (listed !== template) rename(operation, namesOf(template), namesOf(listed));
    (this.items[listed] ??= {})[method] = operation;
  }
}

function namesOf(template: string): string[] {
  return [...template.matchAll(/\{([^{}]*)\}/g)].map((match) => match[1] as string);
}

function rename(operation: OperationObject, from: readonly string[], to: readonly string[]): void {
  for (const parameter of operation.parameters ?? []) {
    if (parameter.in === "path") parameter.name = to[from.indexOf(parameter.name)] ?? parameter.name;
  }
}

/** The tags with a description first, as they were given, then the others in the order of their first use. */
function tagsOf(declared: readonly TagObject[], paths: Record<string, PathItemObject>): TagObject[] {
  const tags = new Map(declared.map((tag) => [tag.name, tag]));
  for (const item of Object.values(paths)) {
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
 * @throws ConfigurationError naming method and path, when a schema has no form in a document, or two routes have one
 *   operation id.
 * @see {@link https://spec.openapis.org/oas/v3.0.3}
 */
export function buildDocument(options: OpenAPIOptions, routes: readonly DocumentedRoute[]): OpenAPIDocument {
  const components = new Components();
  const ids = new OperationIds(options.generateOperationId);
  const paths = new Paths();
  const listed = routes.filter(({ record }) => record.metadata.includeInSchema !== false && methodOf(record.method));
  // Names that were chosen come first: one that is made up gives way to them.
  const named = new Map<DocumentedRoute, string>();
  for (const route of listed.toSorted((left, right) => hasOwnId(right) - hasOwnId(left))) {
    at(route, () => named.set(route, ids.of(route)));
  }
  for (const route of listed) {
    const { method, path } = route.record;
    const id = named.get(route) as string;
    at(route, () => paths.add(path, methodOf(method) as DocumentedMethod, operationOf(route, id, components)));
  }
  const schemas = components.finish();
  const tags = tagsOf(options.tags ?? [], paths.items);
  const { title = "tsgi", version = "0.1.0", description, servers } = options;
  return {
    openapi: "3.0.3",
    info: { title, version, ...(description === undefined ? {} : { description }) },
    servers: servers?.length ? [...servers] : [{ url: "/" }],
    security: [],
    ...(tags.length > 0 ? { tags } : {}),
    paths: paths.items,
    ...(Object.keys(schemas).length > 0 ? { components: { schemas } } : {}),
  };
}

function hasOwnId({ record }: DocumentedRoute): number {
  return Number(record.metadata.operationId !== undefined);
}

/** Says in an error which route it is about. */
function at(route: DocumentedRoute, work: () => void): void {
  try {
    work();
  } catch (error) {
    const place = placeOf(route);
    if (error instanceof ConfigurationError && !error.message.startsWith(place)) {
      error.message = `${place}: ${error.message}`;
    }
    throw error;
  }
}
