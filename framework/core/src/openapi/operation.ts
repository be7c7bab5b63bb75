/** Operations: the description of a route in the document, and of the requests that it sends later. @module */
import { compileRoute } from "../parameters/dependencies/compile.js";
import { configurationError } from "../common/exceptions.js";
import { factsOf } from "../middleware/documented.js";
import { PathPattern } from "../routing/path-pattern.js";
import type { CallbackOperation } from "../routing/document-options.js";
import { bodyOf } from "./bodies.js";
import { DETAIL_BODIES, type ErrorBodies } from "./errors.js";
import type { Components } from "./components.js";
import { capitalize, type OperationIds, summaryOf } from "./naming.js";
import { parametersOf } from "./parameters.js";
import { responsesOf } from "./responses.js";
import { type DocumentedRoute, documentedMethod, placeOf } from "./route.js";
import type { SecuritySchemes } from "./security.js";
import { canFail, sourcesOf } from "./sources.js";
import type { CallbackObject, DocumentedMethod, OperationObject, ParameterObject, PathItemObject } from "./types.js";
import type { DocumentVersion } from "./version.js";

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
  const requestBody = bodyOf(sources, route.plan.embedBody, place);
  const security = schemes.of(route.plan);
  const callbacks = callbacksOf(route, operationId, parts);
  return {
    ...(metadata.tags?.length ? { tags: [...metadata.tags] } : {}),
    summary: metadata.summary ?? summaryOf(route),
    ...(metadata.description === undefined ? {} : { description: metadata.description }),
    operationId,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody ? { requestBody } : {}),
    responses: responsesOf(route, {
      ...parts,
      operationId,
      canBeInvalid: isOurs && sources.some(canFail),
    }),
    ...(callbacks ? { callbacks } : {}),
    ...(metadata.deprecated ? { deprecated: true } : {}),
    ...(security.length > 0 ? { security } : {}),
  };
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

/** The callbacks of a route, or `null`. */
function callbacksOf(route: DocumentedRoute, operationId: string, parts: Parts): Record<string, CallbackObject> | null {
  const { callbacks } = route.record.metadata;
  if (!callbacks) return null;
  const callbackOf = (name: string, addresses: (typeof callbacks)[string]): CallbackObject => {
    const items = Object.entries(addresses).map(([address, operations]): [string, PathItemObject] => {
      const item: { [M in DocumentedMethod]?: OperationObject } = {};
      for (const [key, operation] of Object.entries(operations)) {
        const method = documentedMethod(key);
        const place = `${placeOf(route)}, callback ${JSON.stringify(name)}, ${key} ${address}`;
        if (!method) throw configurationError("TSGI_INVALID_CALLBACK_METHOD", place);
        const described = describedRoute({ method: method.toUpperCase(), address, name }, operation);
        const id = parts.ids.take(operation.operationId, operationId + capitalize(name), place);
        item[method] = operationOf(described, id, { ...parts, bodies: DETAIL_BODIES, isOurs: false });
      }
      return [address, item];
    });
    return Object.fromEntries(items);
  };
  return Object.fromEntries(Object.entries(callbacks).map(([name, item]) => [name, callbackOf(name, item)]));
}
