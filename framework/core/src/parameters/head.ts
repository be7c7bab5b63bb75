/** Parameters in the head of a request: `Path()`, `Query()`, `Header()` and `Cookie()`. @module */
import { type ParamFunction, ParamKind, type PathFunction } from "./marker.js";
import { createDescriptor, type RequestParts } from "./source.js";
import { compileTextRead, createHeadSource, type Texts } from "./text.js";
import { headerValues } from "../protocol/header-list.js";
import { cookieValues } from "../http/request/cookies.js";

const PATH_TEXTS: Texts = {
  one: ({ scope }, name) => scope.path_params?.[name],
  all: ({ scope }, name) => {
    const text = scope.path_params?.[name];
    return text === undefined ? [] : [text];
  },
};

/** The segments of the path that the pattern names. */
export const PATH = createHeadSource(
  {
    kind: ParamKind.PATH,
    descriptor: "Path",
    in: "path",
    isInPattern: true,
    readsProperties: false,
    compileRead: (parameter) => {
      const { name, marker } = parameter;
      if (marker.schema !== null) return compileTextRead(parameter, PATH_TEXTS);
      const wire = marker.wireName(name);
      return ({ scope }) => scope.path_params?.[wire];
    },
  },
  PATH_TEXTS,
);

/**
 * A `{name}` of the path pattern.
 *
 * @example
 * ```ts
 * import { App, Path, t } from "tsgi";
 *
 * const app = new App();
 * app.get("/items/{item_id}", { params: { item_id: Path(t.Integer({ minimum: 1 })) } }, async ({ item_id }) => ({
 *   item_id,
 * }));
 * ```
 */
export const Path: PathFunction = createDescriptor(PATH);

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

/** `userAgent` and `user_agent` are `user-agent`. */
function headerName(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replaceAll("_", "-")
    .toLowerCase();
}

/** The headers. Their names have no case, so that each is in lower case here (RFC 9110 §5.1). */
const HEADER = createHeadSource(
  {
    kind: ParamKind.HEADER,
    descriptor: "Header",
    in: "header",
    wireName: headerName,
    wireAlias: (alias) => alias.toLowerCase(),
  },
  {
    one: ({ scope }, name) => headerValues(scope.headers ?? [], name).at(-1),
    all: ({ scope }, name) => headerValues(scope.headers ?? [], name),
  },
);

/**
 * A header. The parameter `userAgent` or `user_agent` reads `user-agent`.
 *
 * @example
 * ```ts
 * import { App, Header } from "tsgi";
 *
 * const app = new App();
 * app.get("/agent", { params: { userAgent: Header({ default: null }) } }, async ({ userAgent }) => userAgent);
 * ```
 */
export const Header: ParamFunction<"header"> = createDescriptor(HEADER);

/** The cookies. */
const COOKIE = createHeadSource(
  { kind: ParamKind.COOKIE, descriptor: "Cookie", in: "cookie" },
  {
    one: ({ request }, name) => request.cookies[name],
    all: ({ request }, name) => cookieValues(request.header("cookie"), name),
    names: ({ request }) => Object.keys(request.cookies),
  },
);

/**
 * A cookie.
 *
 * @example
 * ```ts
 * import { App, Cookie } from "tsgi";
 *
 * const app = new App();
 * app.get("/theme", { params: { theme: Cookie({ default: null }) } }, async ({ theme }) => theme ?? "light");
 * ```
 */
export const Cookie: ParamFunction<"cookie"> = createDescriptor(COOKIE);
