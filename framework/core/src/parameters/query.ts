/** `Query()`: a parameter from the query string. @module */
import { ParamKind, type ParamFunction } from "./marker.js";
import { createDescriptor, type RequestParts } from "./source.js";
import { createHeadSource } from "./text.js";

const NONE: readonly string[] = [];

function allOf(request: RequestParts, name: string): readonly string[] {
  return request.scope.query_string?.length ? request.query.getAll(name) : NONE;
}

/** The keys of the query string. */
export const QUERY = createHeadSource(
  { kind: ParamKind.QUERY, descriptor: "Query", in: "query" },
  {
    one: (request, name) => allOf(request, name).at(-1),
    all: allOf,
    names: ({ query }) => query.keys(),
  },
);

/**
 * A value of the query string. With an object schema each property is read by its own name. `default: null` makes it
 * optional.
 *
 * @example
 * ```ts
 * import { App, Query, t } from "tsgi";
 *
 * const app = new App();
 * app.get("/search", { params: { q: Query({ default: null }), tag: Query(t.Array(t.String()), { default: [] }) } }, async ({ q, tag }) => ({
 *   q,
 *   tag,
 * }));
 * ```
 */
export const Query: ParamFunction<"query"> = createDescriptor(QUERY);
