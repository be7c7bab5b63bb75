/** `tsgi/pagination`: long lists in pages, by cursor or by offset. @module */
import { decodeUTF8, encodeUTF8 } from "../protocol/header-list.js";
import { configurationError, RequestValidationError } from "../common/exceptions.js";
import { assertOptions, OBJECT, type OptionRules, whole } from "../common/options.js";
import { Depends, type DependsMarkerOf } from "../parameters/depends.js";
import { Query } from "../parameters/head.js";
import { withParams } from "../parameters/annotation.js";
import { Request } from "../http/request.js";
import { Response } from "../http/response/response.js";
import { compileSchema, isSchema, t } from "../schema/schema.js";
import { Faults } from "../schema/faults.js";
import type { Static, TSchema } from "@sinclair/typebox";

/** Options of `Page`. */
export interface PageOptions<Cursor extends TSchema> {
  /** The schema of the place where a page begins, such as `t.Object({ id: t.Integer() })`: the columns that the list is ordered by. */
  cursor: Cursor;
  /** The number of items on a page if the client does not specify it. Defaults to 20. */
  defaultLimit?: number;
  /** The most items that a client may ask for. Defaults to 100. */
  maxLimit?: number;
}

const LIMITS = { defaultLimit: whole(1), maxLimit: whole(1) };
const OPTIONS: OptionRules<PageOptions<TSchema>> = { cursor: OBJECT, ...LIMITS };
const OFFSET_OPTIONS: OptionRules<OffsetPageOptions> = { maxOffset: whole(0), ...LIMITS };

/** Options of `OffsetPage`. */
export interface OffsetPageOptions {
  /** The number of items on a page if the client does not specify it. Defaults to 20. */
  defaultLimit?: number;
  /** The most items that a client may request. Defaults to 100. */
  maxLimit?: number;
  /** The largest offset. A database reads and drops every row before it. Defaults to 2,147,483,647. */
  maxOffset?: number;
}

/** The longest cursor, in characters: with it, the rest of a target fits into the limit of 8,192 bytes. */
const MAX_CURSOR_LENGTH = 4_096;

/** The call that asks for a page. */
interface PageCall {
  readonly request: Request;
  readonly response: Response;
}

/**
 * The page that a client asks for.
 *
 * @example
 * ```ts
 * import { t } from "tsgi";
 * import { Page, type PageRequest } from "tsgi/pagination";
 *
 * const Item = t.Object({ id: t.Integer() });
 * export const { page, returns } = Page(Item, { cursor: t.Object({ id: t.Integer() }) });
 *
 * export function listItems(request: PageRequest<{ id: number }>) {
 *   const first = request.after === null ? 0 : request.after.id + 1;
 *   const rows = Array.from({ length: request.limit + 1 }, (_, index) => ({ id: first + index }));
 *   return request.of(rows, ({ id }) => ({ id }));
 * }
 * ```
 */
export class PageRequest<Cursor> {
  /** The number of its items. Read one more, and `of` knows whether there is a next page. */
  readonly limit: number;
  /** The cursor at the end of the page before; `null` for the first page. */
  readonly after: Cursor | null;
  readonly #request: Request;
  readonly #response: Response;

  constructor({ limit, after }: { limit: number; after: Cursor | null }, { request, response }: PageCall) {
    this.limit = limit;
    this.after = after;
    this.#request = request;
    this.#response = response;
  }

  /**
   * Makes the page of up to `limit + 1` rows, and sets `Link` (RFC 8288) to the next one.
   *
   * @param rows - In the order of the list, starting after `after`.
   * @param cursorOf - What tells where the page behind a row begins.
   * @throws RangeError for a cursor that is too long to be read again.
   */
  of<Row>(rows: readonly Row[], cursorOf: (row: Row) => Cursor): { items: Row[]; next: string | null } {
    const items = rows.slice(0, this.limit);
    const last = items.at(-1);
    if (rows.length <= this.limit || last === undefined) return { items, next: null };
    const next = encodeCursor(cursorOf(last));
    if (next.length > MAX_CURSOR_LENGTH) {
      throw new RangeError(
        `The cursor of a page has ${next.length} characters, and can have ${MAX_CURSOR_LENGTH}. Order the list by shorter columns.`,
      );
    }
    this.#response.headers.append("Link", linkTo(this.#request, "next", ["cursor", next]));
    return { items, next };
  }
}

/** A link to the same list with one parameter changed (RFC 8288). */
function linkTo({ queryParams }: Request, rel: string, [name, value]: readonly [string, string]): string {
  const query = new URLSearchParams(queryParams);
  query.set(name, value);
  return `<?${String(query)}>; rel="${rel}"`;
}

/**
 * The page that a client requests by its offset.
 *
 * @example
 * ```ts
 * import { t } from "tsgi";
 * import { OffsetPage, type OffsetPageRequest } from "tsgi/pagination";
 *
 * export const { page, returns } = OffsetPage(t.Object({ id: t.Integer() }));
 *
 * export function listItems(request: OffsetPageRequest) {
 *   const all = [{ id: 1 }, { id: 2 }];
 *   return request.of(all.slice(request.offset, request.offset + request.limit), all.length);
 * }
 * ```
 */
export class OffsetPageRequest {
  /** The most items of the page. */
  readonly limit: number;
  /** The number of items before the page. */
  readonly offset: number;
  readonly #maxOffset: number;
  readonly #request: Request;
  readonly #response: Response;

  constructor(
    { limit, offset, maxOffset }: { limit: number; offset: number; maxOffset: number },
    { request, response }: PageCall,
  ) {
    this.limit = limit;
    this.offset = offset;
    this.#maxOffset = maxOffset;
    this.#request = request;
    this.#response = response;
  }

  /**
   * Makes the page, and sets `Link` (RFC 8288) to the first, previous, next and last page, without those after `maxOffset`.
   *
   * @param items - Those of this page, in the order of the list.
   * @param total - The number of items on all pages.
   */
  of<Item>(items: Item[], total: number): { items: Item[]; total: number; limit: number; offset: number } {
    const { limit, offset } = this;
    const last = Math.max(0, Math.ceil(total / limit) - 1) * limit;
    const targets = [
      ["first", 0, true],
      ["prev", Math.max(0, Math.min(offset - limit, last)), offset > 0],
      ["next", offset + limit, offset + limit < total],
      ["last", last, true],
    ] as const;
    const links = targets.filter(([, target, isThere]) => isThere && target <= this.#maxOffset);
    const toLink = ([rel, target]: (typeof targets)[number]) => linkTo(this.#request, rel, ["offset", String(target)]);
    this.#response.headers.append("Link", links.map(toLink).join(", "));
    return { items, total, limit, offset };
  }
}

function encodeCursor(cursor: unknown): string {
  const bytes = encodeUTF8(JSON.stringify(cursor));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** @throws RequestValidationError for a cursor that no page has returned. */
function decodeCursor(text: string, schema: TSchema): unknown {
  const faults = new Faults();
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const value: unknown = JSON.parse(decodeUTF8(Uint8Array.from(binary, (char) => char.charCodeAt(0))) ?? "");
    const cursor = compileSchema(schema).check(value, faults);
    if (faults.count === 0) return cursor;
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof DOMException || error instanceof TypeError)) throw error;
  }
  const msg = "Input should be the cursor of a page";
  throw new RequestValidationError([{ type: "value_error", loc: ["query", "cursor"], msg, input: text }]);
}

/** A list in pages by cursor. */
export interface Pages<Item extends TSchema, Cursor> {
  /** The parameter of the handler: `params: { page: users.page }`. Reads `limit` and `cursor` from the query. */
  readonly page: DependsMarkerOf<PageRequest<Cursor>, ReturnType<typeof cursorParams>>;
  /** The schema of a page, for the option `returns`. */
  readonly returns: ReturnType<typeof pageSchema<Item>>;
  /** The header `Link` in the document, for the option `responses`. */
  readonly responses: { readonly 200: { description: string; headers: Record<string, { description: string }> } };
}

/** A page of a struct with a name has one as well: `UserPage`. */
function nameOf({ title, $id }: TSchema): { title?: string } {
  const name = $id ?? title;
  return name === undefined ? {} : { title: `${name}Page` };
}

/** A list in pages by offset, with the number of all items. */
export interface OffsetPages<Item extends TSchema> {
  /** The parameter of the handler: `params: { page: users.page }`. Reads `limit` and `offset` from the query. */
  readonly page: DependsMarkerOf<OffsetPageRequest, ReturnType<typeof offsetParams>>;
  /** The schema of a page, for the option `returns`. */
  readonly returns: ReturnType<typeof offsetPageSchema<Item>>;
  /** The header `Link` in the OpenAPI document, for the option `responses`. */
  readonly responses: Pages<Item, never>["responses"];
}

function offsetPageSchema<Item extends TSchema>(item: Item) {
  const total = t.Integer({ minimum: 0, description: "The number of items on all pages." });
  const offset = t.Integer({ minimum: 0, description: "The number of items before this page." });
  const limit = t.Integer({ minimum: 1, description: "The most items of a page." });
  return t.Object({ items: t.Array(item), total, limit, offset }, nameOf(item));
}

function pageSchema<Item extends TSchema>(item: Item) {
  const next = t.Union([t.String(), t.Null()], { description: "The cursor of the next page; null on the last one." });
  return t.Object({ items: t.Array(item), next }, nameOf(item));
}

/**
 * Creates the parts of a route with a paginated list: the parameters `limit` and `cursor`, the schema of a page, and
 * the header `Link`. A cursor is opaque to clients, and validated when it is received.
 *
 * @throws ConfigurationError for options that cannot work.
 * @example
 * ```ts
 * import { App, t } from "tsgi";
 * import { Page } from "tsgi/pagination";
 *
 * const users = Page(t.Object({ id: t.Integer(), name: t.String() }), { cursor: t.Object({ id: t.Integer() }) });
 * const all = [{ id: 1, name: "ada" }];
 * const app = new App();
 * app.get("/users", { params: { page: users.page }, returns: users.returns, responses: users.responses }, async ({ page }) => {
 *   const rows = all.filter(({ id }) => id > (page.after?.id ?? 0)).slice(0, page.limit + 1);
 *   return page.of(rows, ({ id }) => ({ id }));
 * });
 * ```
 */
export function Page<Item extends TSchema, Cursor extends TSchema>(
  schema: Item,
  options: PageOptions<Cursor>,
): Pages<Item, Static<Cursor>> {
  assertOptions("Page()", options, OPTIONS);
  const { cursor } = options;
  const params = cursorParams(limitOf(schema, options));
  if (!isSchema(cursor) || "~standard" in cursor) throw configurationError("TSGI_INVALID_PAGE.cursor", cursor);
  const getPage = withParams(
    { ...params, request: Request, response: Response },
    async ({ limit, cursor: text, request, response }) => {
      const after = text === null ? null : (decodeCursor(text, cursor) as Static<Cursor>);
      return new PageRequest({ limit, after }, { request, response });
    },
  );
  return {
    page: Depends(getPage),
    returns: pageSchema(schema),
    responses: responsesOf('The next page, as `<…>; rel="next"`.'),
  };
}

/**
 * Creates the parts of a route with a paginated list and a total: the parameters `limit` and `offset`, the schema of a
 * page (`items`, `total`, `limit`, `offset`), and the header `Link`. For long lists that change, prefer `Page`.
 *
 * @throws ConfigurationError for options that cannot work.
 * @example
 * ```ts
 * import { App, t } from "tsgi";
 * import { OffsetPage } from "tsgi/pagination";
 *
 * const users = OffsetPage(t.Object({ id: t.Integer(), name: t.String() }));
 * const all = [{ id: 1, name: "ada" }];
 * const app = new App();
 * app.get("/users", { params: { page: users.page }, returns: users.returns, responses: users.responses }, async ({ page }) =>
 *   page.of(all.slice(page.offset, page.offset + page.limit), all.length),
 * );
 * ```
 */
export function OffsetPage<Item extends TSchema>(schema: Item, options: OffsetPageOptions = {}): OffsetPages<Item> {
  assertOptions("OffsetPage()", options, OFFSET_OPTIONS);
  const { maxOffset = 2_147_483_647 } = options;
  const getPage = withParams(
    { ...offsetParams(limitOf(schema, options), maxOffset), request: Request, response: Response },
    async ({ limit, offset, ...call }) => new OffsetPageRequest({ limit, offset, maxOffset }, call),
  );
  const link = 'The first, previous, next and last page, as `<…>; rel="next"`.';
  return { page: Depends(getPage), returns: offsetPageSchema(schema), responses: responsesOf(link) };
}

/** The parameter `limit`. Checks the options that both kinds of pages share. */
function limitOf(schema: unknown, { maxLimit = 100, defaultLimit = Math.min(20, maxLimit) }: OffsetPageOptions) {
  if (!isSchema(schema) || "~standard" in schema) throw configurationError("TSGI_INVALID_PAGE.schema", schema);
  if (defaultLimit > maxLimit) throw configurationError("TSGI_INVALID_PAGE.limit", defaultLimit, maxLimit);
  return Query(t.Integer({ minimum: 1, maximum: maxLimit }), { default: defaultLimit });
}

/** The parameters of `Page`. A typed client reads them from the type of its marker. */
function cursorParams(limit: ReturnType<typeof limitOf>) {
  const description = "That of the page before.";
  return { limit, cursor: Query(t.String({ maxLength: MAX_CURSOR_LENGTH }), { default: null, description }) };
}

/** The parameters of `OffsetPage`. */
function offsetParams(limit: ReturnType<typeof limitOf>, maximum: number) {
  const description = "The number of items before the page.";
  return { limit, offset: Query(t.Integer({ minimum: 0, maximum }), { default: 0, description }) };
}

const responsesOf = (description: string) => ({
  200: { description: "A page of the list", headers: { Link: { description } } },
});
