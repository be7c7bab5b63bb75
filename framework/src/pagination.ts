/** `tsgi/pagination`: long lists in pages, each of which says where the next one begins. @module */
import { decodeUTF8, encodeUTF8 } from "./datastructures.js";
import { configurationError, RequestValidationError } from "./exceptions.js";
import { assertOptions, OBJECT, type OptionRules, whole } from "./options.js";
import { Depends, type Marker, Query, withParams } from "./params.js";
import { Request } from "./request.js";
import { Response } from "./response.js";
import { compileSchema, Faults, isSchema, type Static, t, type TSchema } from "./schema.js";

/** Options of `Page`. */
export interface PageOptions<Cursor extends TSchema> {
  /** The schema of the place where a page begins, such as `t.Object({ id: t.Integer() })`: the columns that the list is ordered by. */
  cursor: Cursor;
  /** The number of items on a page for which the client gives none. Defaults to 20. */
  defaultLimit?: number;
  /** The most items that a client may ask for. Defaults to 100. */
  maxLimit?: number;
}

const OPTIONS: OptionRules<PageOptions<TSchema>> = { cursor: OBJECT, defaultLimit: whole(1), maxLimit: whole(1) };

/** The longest cursor, in characters: beside it the rest of a target finds room, whose limit is 8,192 bytes. */
const MAX_CURSOR_LENGTH = 4_096;

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

  constructor(limit: number, after: Cursor | null, request: Request, response: Response) {
    this.limit = limit;
    this.after = after;
    this.#request = request;
    this.#response = response;
  }

  /**
   * Makes the page of up to `limit + 1` rows, and sets `Link` (RFC 8288) to the next one.
   *
   * @param rows - In the order of the list, from behind `after`.
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
    const query = new URLSearchParams(this.#request.queryParams);
    query.set("cursor", next);
    this.#response.headers.append("Link", `<?${String(query)}>; rel="next"`);
    return { items, next };
  }
}

function encodeCursor(cursor: unknown): string {
  const bytes = encodeUTF8(JSON.stringify(cursor));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}

/** @throws RequestValidationError for what no page has given out. */
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

/** A list in pages. */
export interface Pages<Item extends TSchema, Cursor> {
  /** The parameter of the handler: `params: { page: users.page }`. Reads `limit` and `cursor` from the query. */
  readonly page: Marker<PageRequest<Cursor>>;
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

function pageSchema<Item extends TSchema>(item: Item) {
  const next = t.Union([t.String(), t.Null()], { description: "The cursor of the next page; null on the last one." });
  return t.Object({ items: t.Array(item), next }, nameOf(item));
}

/**
 * Makes the parts of a route whose list comes in pages: the parameters `limit` and `cursor`, the schema of a page, and the
 * header `Link`. A cursor is opaque to clients, and checked when it comes back.
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
  const { cursor, maxLimit = 100, defaultLimit = Math.min(20, maxLimit) } = options;
  if (!isSchema(schema) || "~standard" in schema) throw configurationError("TSGI_INVALID_PAGE.schema", schema);
  if (!isSchema(cursor) || "~standard" in cursor) throw configurationError("TSGI_INVALID_PAGE.cursor", cursor);
  if (defaultLimit > maxLimit) throw configurationError("TSGI_INVALID_PAGE.limit", defaultLimit, maxLimit);
  const getPage = withParams(
    {
      limit: Query(t.Integer({ minimum: 1, maximum: maxLimit }), { default: defaultLimit }),
      cursor: Query(t.String({ maxLength: MAX_CURSOR_LENGTH }), {
        default: null,
        description: "That of the page before.",
      }),
      request: Request,
      response: Response,
    },
    async ({ limit, cursor: text, request, response }) => {
      const after = text === null ? null : (decodeCursor(text, cursor) as Static<Cursor>);
      return new PageRequest(limit, after, request, response);
    },
  );
  const Link = { description: 'The next page, as `<…>; rel="next"`.' };
  return {
    page: Depends(getPage),
    returns: pageSchema(schema),
    responses: { 200: { description: "A page of the list", headers: { Link } } },
  };
}
