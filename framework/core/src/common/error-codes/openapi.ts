/**
 * The OpenAPI document.
 *
 * These errors are thrown when the document is built: by `app.openapi()`, `tsgi openapi`, or the first request for it. See
 * [openapi.md](openapi.md).
 * @module
 */

export const OPENAPI = {
  /**
   * Two of `openapiUrl`, `docsUrl`, `redocUrl` and `scalarUrl` have the same path.
   *
   * ```js
   * // Wrong
   * new App({ docsUrl: "/docs", redocUrl: "/docs" });
   *
   * // Right
   * new App({ docsUrl: "/docs", redocUrl: null });
   * ```
   */
  TSGI_DUPLICATE_DOCUMENT_URL: (paths: readonly string[]) =>
    "openapiUrl, docsUrl, redocUrl and scalarUrl must differ: give each a different path, or null. Received " +
    `${paths.join(", ")}.`,
  /**
   * Two operations of the OpenAPI document have the same id.
   *
   * Client generators create one function for each id.
   *
   * ```js
   * // Wrong
   * app.get("/a", { operationId: "read" }, readItem);
   * app.get("/b", { operationId: "read" }, readItem);
   * app.openapi();
   *
   * // Right
   * app.get("/a", { operationId: "readA" }, readItem);
   * app.get("/b", { operationId: "readB" }, readItem);
   * app.openapi();
   * ```
   */
  TSGI_DUPLICATE_OPERATION_ID: (id: unknown, rival: string) =>
    `the operation id ${JSON.stringify(id)} is also used by ${rival}. Give each route a different \`operationId\`.`,
  /**
   * Two different schemas have the same `$id`.
   *
   * Each `$id` is one component of the OpenAPI document.
   *
   * ```js
   * // Wrong
   * app.get("/a", { returns: t.Object({ id: t.Integer() }, { $id: "Item" }) }, readItem);
   * app.get("/b", { returns: t.Object({ id: t.String() }, { $id: "Item" }) }, readItem);
   * app.openapi();
   *
   * // Right
   * const Item = t.Object({ id: t.Integer() }, { $id: "Item" });
   * app.get("/a", { returns: Item }, async () => ({ id: 1 }));
   * app.get("/b", { returns: t.Array(Item) }, async () => []);
   * app.openapi();
   * ```
   */
  TSGI_DUPLICATE_SCHEMA_ID: (place: string, id: string, other: string) =>
    `${place}: the schema with the $id ${JSON.stringify(id)} is also used by a different schema of ${other}. ` +
    "Give each a different $id.",
  /**
   * A callback in `callbacks` has a method that is not valid in an OpenAPI document.
   *
   * The valid methods are `get`, `put`, `post`, `delete`, `options`, `head`, `patch` and `trace`.
   *
   * ```js
   * // Wrong
   * app.post(
   *   "/orders",
   *   { callbacks: { paid: { "{$request.body#/url}": { notify: {} } } } },
   *   readItem,
   * );
   * app.openapi();
   *
   * // Right
   * app.post(
   *   "/orders",
   *   { callbacks: { paid: { "{$request.body#/url}": { post: {} } } } },
   *   readItem,
   * );
   * app.openapi();
   * ```
   */
  TSGI_INVALID_CALLBACK_METHOD: (place: string) => `${place}: a document knows no such method. Write "post".`,
  /**
   * `openapiUrl`, `docsUrl`, `redocUrl` or `scalarUrl` is not a plain path.
   *
   * If you want to disable the page, use `null`. You cannot use `/`, which belongs to a route.
   *
   * ```js
   * // Wrong
   * new App({ docsUrl: "docs" });
   *
   * // Right
   * new App({ docsUrl: "/docs" });
   * ```
   */
  TSGI_INVALID_DOCUMENT_URL: (name: string, fallback: unknown, path: unknown) =>
    `${name} takes a path of plain text such as ${JSON.stringify(fallback)}, or null. Received ` +
    `${JSON.stringify(path)}.`,
  /**
   * A key of `responses` is not a status.
   *
   * ```js
   * // Wrong
   * app.get(
   *   "/items",
   *   { responses: { notFound: { description: "No such item" } } },
   *   readItem,
   * );
   * app.openapi();
   *
   * // Right
   * app.get("/items", { responses: { 404: { description: "No such item" } } }, readItem);
   * app.openapi();
   * ```
   */
  TSGI_INVALID_RESPONSE_STATUS: (status: unknown) =>
    `\`responses\` takes statuses such as 404, "4XX" or "default". Received ${JSON.stringify(status)}.`,
  /**
   * A webhook has no name, or another webhook has the same name and method.
   *
   * ```js
   * // Wrong
   * app.webhooks.post("order.shipped");
   * app.webhooks.post("order.shipped");
   *
   * // Right
   * app.webhooks.post("order.shipped");
   * app.webhooks.post("order.cancelled");
   * ```
   */
  "TSGI_INVALID_WEBHOOK.name": (place: string) => `${place}: the name of a webhook is a text, such as "order.shipped".`,
  "TSGI_INVALID_WEBHOOK.duplicate": (place: string) => `${place} is described already. Give each webhook its own name.`,
  /** The type of a schema cannot be described in an OpenAPI document. */
  TSGI_SCHEMA_WITHOUT_OPENAPI_FORM: (type: unknown) =>
    `The schema type ${JSON.stringify(type)} cannot be described in an OpenAPI document. Describe the ` +
    "transferred value, or exclude the route with includeInSchema: false.",
};
