import { bodyOf } from "./bodies.js";
import { callbacksOf } from "./callbacks.js";
import { parametersOf } from "./parameters.js";
import type { Parts } from "./parts.js";
import { responsesOf } from "./responses.js";
import { type DocumentedRoute, placeOf } from "./route.js";
import { canFail, sourcesOf } from "./sources.js";
import type { OperationObject } from "./types.js";
import { summaryOf } from "./words.js";

/**
 * One route as the document describes it.
 *
 * @param isOurs - Whether the application answers it, and so with a 422 where a parameter is at fault.
 */
export function operationOf(route: DocumentedRoute, operationId: string, parts: Parts, isOurs = true): OperationObject {
  const { components, schemes } = parts;
  const { metadata } = route.record;
  const at = placeOf(route);
  const sources = sourcesOf(route.plan.sources);
  const parameters = parametersOf(sources, components, at);
  const requestBody = bodyOf(sources, route.plan.embedBody, components, at);
  const security = schemes.of(route.plan);
  const callbacks = callbacksOf(
    route,
    operationId,
    (callback, id) => operationOf(callback, id, parts, false),
    parts.ids,
  );
  return {
    ...(metadata.tags?.length ? { tags: [...metadata.tags] } : {}),
    summary: metadata.summary ?? summaryOf(route),
    ...(metadata.description === undefined ? {} : { description: metadata.description }),
    operationId,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody ? { requestBody } : {}),
    responses: responsesOf(route, operationId, isOurs && sources.some(canFail), components),
    ...(callbacks ? { callbacks } : {}),
    ...(metadata.deprecated ? { deprecated: true } : {}),
    ...(security.length > 0 ? { security } : {}),
  };
}
