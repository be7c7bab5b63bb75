/**
 * Parameters.
 *
 * The message shows the method and the path of the route, then `the parameter "name"`. See [parameters.md](parameters.md).
 * @module
 */

import { describe, describeType } from "../messages.js";

export const PARAMETERS = {
  /**
   * One route reads both a JSON body and a form.
   *
   * A request has one body, with one content type. Read the complete body with `Body()`, or read it with `Form()` and
   * `File()`.
   *
   * ```js
   * // Wrong
   * app.post("/items", { params: { item: Body(t.Object({})), photo: File() } }, readItem);
   *
   * // Right
   * app.post("/items", { params: { name: Form(), photo: File() } }, readItem);
   * ```
   */
  TSGI_BODY_AND_FORM: (body: string, form: string) =>
    `The parameter ${JSON.stringify(body)} is read from a JSON body and ${JSON.stringify(form)} from a form: ` +
    "a request has one body. Use one kind for both.",
  /**
   * Functions of one route read the same value with schemas that no value can match.
   *
   * A dependency and the handler can read the same parameter, and the OpenAPI document lists it with both schemas. If
   * their types or their fixed values are disjoint, no value matches both. Use one schema for both.
   *
   * ```js
   * // Wrong
   * const getPage = withParams({ page: Query(t.Integer()) }, async ({ page }) => page);
   * const params = { start: Depends(getPage), page: Query(t.Boolean()) };
   * app.get("/items", { params }, readItem);
   *
   * // Right
   * const getPage = withParams({ page: Query(t.Integer()) }, async ({ page }) => page);
   * const params = { start: Depends(getPage), page: Query(t.Integer()) };
   * app.get("/items", { params }, readItem);
   * ```
   */
  TSGI_CONFLICTING_SCHEMAS: (place: string, name: string) =>
    `The parameter ${JSON.stringify(name)} (${place}) is read with several schemas, and no value can match all of them. ` +
    "Use one schema in the handler and in its dependencies.",
  /**
   * The route and its handler declare the same parameter.
   *
   * If you create a handler with `withParams`, it already has its params.
   *
   * ```js
   * // Wrong
   * const handler = withParams({ page: t.Integer() }, async ({ page }) => page);
   * app.get("/items", { params: { page: t.Integer() } }, handler);
   *
   * // Right
   * const handler = withParams({ page: t.Integer() }, async ({ page }) => page);
   * app.get("/items", handler);
   * ```
   */
  TSGI_DUPLICATE_PARAMETER: (name: unknown) =>
    `The parameter ${JSON.stringify(name)} is declared twice: by the route's params and by withParams(). ` +
    "Keep one.",
  /**
   * A parameter is declared with a global class of the platform instead of a class of tsgi.
   *
   * If the import is missing, TypeScript finds the global `Request`, `Response`, `WebSocket` or `File`.
   *
   * ```js
   * // Wrong
   * app.get("/items", { params: { request: globalThis.Request } }, readItem);
   *
   * // Right
   * // import { Request } from "tsgi";
   * app.get("/items", { params: { request: Request } }, readItem);
   * ```
   */
  TSGI_GLOBAL_CLASS_IN_PARAMS: (place: string, global: string) =>
    `${place} is declared with the global ${global}. Write \`import { ${global} } from "tsgi"\`.`,
  /**
   * A value in `params` is not a valid annotation.
   *
   * See [all annotations](parameters.md#annotations).
   *
   * ```js
   * // Wrong
   * app.get("/items", { params: { page: "integer" } }, listItems);
   *
   * // Right
   * app.get("/items", { params: { page: t.Integer() } }, listItems);
   * ```
   */
  TSGI_INVALID_ANNOTATION: (place: string, given: unknown) =>
    `${place} is declared with ${describeType(given)}. Declare it with a schema (t.String()), a parameter function (Query(), ` +
    "Depends(fn), …), or one of the classes Request, Response, BackgroundTasks, WebSocket.",
  /**
   * The argument of `Query()`, `Header()` or another parameter function is neither a schema nor an options object.
   *
   * ```js
   * // Wrong
   * app.get("/items", { params: { page: Query(null) } }, listItems);
   *
   * // Right
   * app.get(
   *   "/items",
   *   {
   *     params: {
   *       page: Query({ default: null }),
   *       size: Query(t.Integer(), { default: 20 }),
   *     },
   *   },
   *   listItems,
   * );
   * ```
   */
  TSGI_INVALID_DESCRIPTOR: (name: string, given: unknown) =>
    `${name}() takes a schema, options, or both: ${name}(t.Integer(), { default: 1 }). Received neither ` +
    "a schema nor options." +
    (given === null ? ` For null as the default: ${name}({ default: null }).` : ""),
  /**
   * The default of a file parameter is neither `null` nor an empty array.
   *
   * ```js
   * // Wrong
   * app.post("/items", { params: { photo: File({ default: "none.png" }) } }, readItem);
   *
   * // Right
   * app.post("/items", { params: { photo: File({ default: null }) } }, readItem);
   * ```
   */
  TSGI_INVALID_FILE_DEFAULT: (place: string) =>
    `${place} is a file whose default is neither null nor an empty list. Write File({ default: null }), or ` +
    "File({ multiple: true, default: [] }).",
  /**
   * The schema in `File()` does not describe a file.
   *
   * ```js
   * // Wrong
   * app.post("/items", { params: { photo: File(t.Integer()) } }, readItem);
   *
   * // Right
   * app.post(
   *   "/items",
   *   { params: { photo: File(), others: File({ multiple: true }) } },
   *   readItem,
   * );
   * ```
   */
  TSGI_INVALID_FILE_SCHEMA: (place: string, given: unknown) =>
    `${place} is a file, which has no schema of type ${String(given)}. Write File() for one, File({ multiple: true }) for ` +
    "all of the name, or File(t.Array(t.Any(), { maxItems: 5 })).",
  /**
   * A path parameter has a default.
   *
   * A path parameter is never missing, because a path without the segment is another path. Register that path too, or
   * read the value from the query string.
   *
   * ```js
   * // Wrong
   * app.get(
   *   "/items/{page}",
   *   { params: { page: Path(t.Integer(), { default: 1 }) } },
   *   listItems,
   * );
   *
   * // Right
   * app.get("/items", { params: { page: Query(t.Integer(), { default: 1 }) } }, listItems);
   * ```
   */
  TSGI_PATH_PARAMETER_DEFAULT:
    "Path() takes no default: a path parameter is never absent. Use Query() for an optional value.",
  /**
   * A parameter is declared with `Path()`, but the pattern does not contain its name.
   *
   * Check the spelling, and whether you removed the parameter from the pattern. If the route is on a router, the
   * prefixes of the routers around it can also contain the name.
   *
   * ```js
   * // Wrong
   * app.get("/items/{id}", { params: { item_id: Path(t.Integer()) } }, readItem);
   *
   * // Right
   * app.get("/items/{item_id}", { params: { item_id: Path(t.Integer()) } }, readItem);
   * ```
   */
  TSGI_PATH_PARAMETER_NOT_IN_PATTERN: (place: string, name: string) =>
    `${place} is declared with Path(), but the pattern has no {${name}}. Add it to the pattern, or declare ` +
    "the parameter with Query().",
  /**
   * A non-async handler uses a parameter that is available only on the event loop.
   *
   * The handler runs in another process, and a request, a response or a file cannot be sent to it. Make the handler
   * async, so that it runs on the event loop. See [concurrency.md](concurrency.md#data-passed-to-workers).
   *
   * ```js
   * // Wrong
   * app.get("/items", { params: { request: Request } }, ({ request }) => request.url);
   *
   * // Right
   * app.get("/items", { params: { request: Request } }, async ({ request }) => request.url);
   * ```
   */
  TSGI_PLAIN_HANDLER_PARAMETER: (name: unknown, what: string) =>
    `The parameter ${JSON.stringify(name)} is ${what}, which stays on the event loop, and a plain handler ` +
    "runs in another process. Make the handler async, or set the route's option `pool: false`.",
  /**
   * A WebSocket handler uses a part of a request or response that a handshake does not have.
   *
   * A handshake is a request without a body. You can use headers, cookies and the query string.
   *
   * ```js
   * // Wrong
   * app.websocket("/chat", { params: { message: Body() } }, async ({ ws }) => ws.accept());
   *
   * // Right
   * app.websocket("/chat", { params: { room: Query() } }, async ({ ws }) => ws.accept());
   * ```
   */
  "TSGI_REQUEST_IN_WEBSOCKET_ROUTE.handler": (name: string) =>
    `The parameter ${JSON.stringify(name)} is a request's or a response's, which a WebSocket does not have. ` +
    "Use headers, cookies, the query string, and the WebSocket itself.",
  "TSGI_REQUEST_IN_WEBSOCKET_ROUTE.dependency": (way: string, what: string) =>
    `${way}: takes ${what}, which a WebSocket does not have. A dependency of both takes an HTTPConnection.`,
  /**
   * An argument of `Page` or `OffsetPage` is not valid.
   *
   * Pass a TypeBox schema for an item, and to `Page` also a schema for the cursor. The cursor contains the columns that
   * you sort by.
   *
   * ```js
   * // Wrong
   * Page(t.Object({ id: t.Integer() }), {});
   *
   * // Right
   * Page(t.Object({ id: t.Integer() }), { cursor: t.Object({ id: t.Integer() }) });
   * ```
   */
  "TSGI_INVALID_PAGE.schema": (given: unknown) =>
    `Page() and OffsetPage() accept a TypeBox schema of an item, not ${describe(given)}. Write t.Object({ … }).`,
  "TSGI_INVALID_PAGE.cursor": (given: unknown) =>
    `Page(): cursor should be a TypeBox schema, not ${describe(given)}. Write { cursor: t.Object({ id: t.Integer() }) }.`,
  "TSGI_INVALID_PAGE.limit": (defaultLimit: number, maxLimit: number) =>
    `A page: defaultLimit ${defaultLimit} is more than maxLimit ${maxLimit}. Raise maxLimit, or lower the default.`,
  /**
   * The argument of `loadSettings` or `secret` is not a valid schema.
   *
   * Settings are the properties of an object schema. Each property is one environment variable.
   * `loadSettings` checks all of them immediately, so the schema cannot be asynchronous.
   *
   * ```js
   * // Wrong
   * loadSettings(t.Array(t.String()));
   *
   * // Right
   * loadSettings(t.Object({ port: t.Integer({ default: 8000 }) }));
   * ```
   */
  "TSGI_INVALID_SETTINGS.schema": (given: unknown) =>
    `loadSettings() takes a schema of an object, not ${describe(given)}. Write loadSettings(t.Object({ … })).`,
  "TSGI_INVALID_SETTINGS.object":
    "loadSettings() takes a schema of an object, each property of which is one variable: t.Object({ … }).",
  "TSGI_INVALID_SETTINGS.promise":
    "loadSettings() was given a schema that checks asynchronously. Settings are there before anything starts.",
  "TSGI_INVALID_SETTINGS.vendor": (vendor: string) =>
    `secret() marks schemas of TypeBox and Zod; one of ${vendor} is not found again in the schema around it.`,
  "TSGI_INVALID_SETTINGS.secret": (given: unknown) =>
    `secret() takes the schema of a property, not ${describe(given)}. Write secret(t.String()).`,
  /**
   * A parameter of a WebSocket handler has the name `ws`.
   *
   * Every WebSocket handler receives its connection under this name.
   */
  TSGI_RESERVED_PARAMETER_NAME: `The name "ws" is reserved for the WebSocket. Rename the parameter.`,
  /**
   * The schema of a query, header, cookie or form parameter cannot be read from a string.
   *
   * These parameters are strings in the request. You can use scalars, arrays of scalars, and objects of these. If you
   * need nested objects, use `Body()`.
   *
   * ```js
   * // Wrong
   * app.get(
   *   "/items",
   *   { params: { filter: Query(t.Array(t.Object({ name: t.String() }))) } },
   *   listItems,
   * );
   *
   * // Right
   * app.get(
   *   "/items",
   *   { params: { filter: Query(t.Object({ name: t.String() })) } },
   *   listItems,
   * );
   * ```
   */
  TSGI_SCHEMA_NOT_READABLE_FROM_TEXT: (what: string) =>
    `${what} cannot be read from text. Take a scalar, a list of scalars, or an object of them; or read it ` +
    "with Body().",
  /**
   * A handler with the option `stream` does not run on the event loop.
   *
   * A non-async handler runs in another process, which cannot send its result item by item.
   *
   * ```js
   * // Wrong
   * app.get("/items", { stream: "jsonl" }, () => [1, 2]);
   *
   * // Right
   * app.get("/items", { stream: "jsonl" }, async function* () {
   *   yield 1;
   * });
   * ```
   */
  TSGI_STREAM_NOT_ON_EVENT_LOOP:
    "`stream` is for a handler that runs on the event loop. Write `async function* () { yield … }`.",
  /**
   * A route has `returns: sse({ … })`, but its `stream` is not `"sse"`.
   *
   * ```js
   * // Wrong
   * app.get("/ticks", { returns: sse({ tick: t.Integer() }) }, async function* () {
   *   yield { event: "tick", data: 1 };
   * });
   *
   * // Right
   * app.get(
   *   "/ticks",
   *   { stream: "sse", returns: sse({ tick: t.Integer() }) },
   *   async function* () {
   *     yield { event: "tick", data: 1 };
   *   },
   * );
   * ```
   */
  TSGI_EVENTS_WITHOUT_STREAM: '`returns: sse({ … })` is for server-sent events. Add `stream: "sse"` to the options.',
  /**
   * The name of an event is empty or has more than one line, or `sse` has no events.
   *
   * The field `event` cannot contain CR, LF or NUL. If the name is empty, clients use the name `message`.
   *
   * ```js
   * // Wrong
   * app.get(
   *   "/ticks",
   *   { stream: "sse", returns: sse({ "": t.Integer() }) },
   *   async function* () {
   *     yield { event: "", data: 1 };
   *   },
   * );
   *
   * // Right
   * app.get(
   *   "/ticks",
   *   { stream: "sse", returns: sse({ message: t.Integer() }) },
   *   async function* () {
   *     yield { event: "message", data: 1 };
   *   },
   * );
   * ```
   */
  TSGI_INVALID_EVENT_NAME: (names: readonly string[]) =>
    names.length === 0
      ? "sse() has no events. Write sse({ message: schema }) for events without a name."
      : `The name of an event is text of one line that is not empty, not ${JSON.stringify(names[0])}.`,
  /**
   * A WebSocket handler is a generator.
   *
   * ```js
   * // Wrong
   * app.websocket("/chat", async function* () {
   *   yield "hello";
   * });
   *
   * // Right
   * app.websocket("/chat", async ({ ws }) => {
   *   await ws.accept();
   *   await ws.sendText("hello");
   * });
   * ```
   */
  TSGI_WEBSOCKET_HANDLER_YIELDS:
    "A WebSocket handler sends with ws.send() and cannot yield. Make it an async function.",
  /**
   * An HTTP handler has a WebSocket parameter.
   *
   * ```js
   * // Wrong
   * app.get("/chat", { params: { socket: WebSocket } }, readItem);
   *
   * // Right
   * app.websocket("/chat", async ({ ws }) => ws.accept());
   * ```
   */
  "TSGI_WEBSOCKET_IN_HTTP_ROUTE.handler": (name: string) =>
    `The parameter ${JSON.stringify(name)} is a WebSocket, which an HTTP request is not. Register the ` +
    "handler with app.websocket().",
  "TSGI_WEBSOCKET_IN_HTTP_ROUTE.dependency": (way: string, what: string) =>
    `${way}: takes ${what}, which an HTTP request is not. A dependency of both takes an HTTPConnection.`,
};
