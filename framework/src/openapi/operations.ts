import type { Components } from "./components.js";
import { bodyOf } from "./bodies.js";
import { parametersOf } from "./parameters.js";
import { responsesOf } from "./responses.js";
import { type DocumentedRoute, placeOf } from "./route.js";
import { canFail, sourcesOf } from "./sources.js";
import type { OperationObject } from "./types.js";
import { summaryOf } from "./words.js";

/** One route as the document describes it. */
export function operationOf(route: DocumentedRoute, operationId: string, components: Components): OperationObject {
  const { metadata } = route.record;
  const at = placeOf(route);
  const sources = sourcesOf(route.plan.sources);
  const parameters = parametersOf(sources, components, at);
  const requestBody = bodyOf(sources, route.plan.embedBody, components, at);
  return {
    ...(metadata.tags?.length ? { tags: [...metadata.tags] } : {}),
    summary: metadata.summary ?? summaryOf(route),
    ...(metadata.description === undefined ? {} : { description: metadata.description }),
    operationId,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody ? { requestBody } : {}),
    responses: responsesOf(metadata, sources.some(canFail), components, at),
    ...(metadata.deprecated ? { deprecated: true } : {}),
  };
}
