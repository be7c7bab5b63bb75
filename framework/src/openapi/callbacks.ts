import { compileRoute } from "../dependencies.js";
import { ConfigurationError } from "../exceptions.js";
import { PathPattern } from "../path-pattern.js";
import type { CallbackOperation } from "../router.js";
import type { OperationIds } from "./operation-ids.js";
import { type DocumentedRoute, methodOf, placeOf } from "./route.js";
import type { CallbackObject, DocumentedMethod, OperationObject, PathItemObject } from "./types.js";
import { capitalize } from "./words.js";

/** The braces of a callback's address hold expressions (OpenAPI 3.0.3 §4.7.18), not names. */
const NO_PATTERN = PathPattern.parse("", "callback");

/** Describes a callback as if it were a route. */
type Describe = (route: DocumentedRoute, operationId: string) => OperationObject;

/** What would answer it. Its name is that of the callback, from which the summary is made. */
function handlerNamed(name: string): () => null {
  return Object.defineProperty(() => null, "name", { value: name });
}

function routeOf(method: string, address: string, name: string, operation: CallbackOperation): DocumentedRoute {
  const handler = handlerNamed(name);
  const plan = compileRoute(handler, [], operation.params ?? {}, [], "http");
  return { record: { method, path: address, handler, metadata: operation }, pattern: NO_PATTERN, plan };
}

/** The requests that a route says it sends later; `null` where it says nothing of the kind. */
export function callbacksOf(
  route: DocumentedRoute,
  operationId: string,
  describe: Describe,
  ids: OperationIds,
): Record<string, CallbackObject> | null {
  const { callbacks } = route.record.metadata;
  if (!callbacks) return null;
  const callbackOf = (name: string, addresses: (typeof callbacks)[string]): CallbackObject => {
    const items = Object.entries(addresses).map(([address, operations]): [string, PathItemObject] => {
      const item: { [M in DocumentedMethod]?: OperationObject } = {};
      for (const [key, operation] of Object.entries(operations)) {
        const method = methodOf(key);
        const place = `${placeOf(route)}, callback ${JSON.stringify(name)}, ${key} ${address}`;
        if (!method)
          throw new ConfigurationError(`${place}: a document knows no such method. Write "post".`, {
            code: "TSGI_INVALID_CALLBACK_METHOD",
          });
        const id = ids.take(operation.operationId, operationId + capitalize(name), place);
        item[method] = describe(routeOf(method.toUpperCase(), address, name, operation), id);
      }
      return [address, item];
    });
    return Object.fromEntries(items);
  };
  return Object.fromEntries(Object.entries(callbacks).map(([name, item]) => [name, callbackOf(name, item)]));
}
