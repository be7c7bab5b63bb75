/** Routes, routers and mounts. @module */
import { describe, nearest, show } from "../messages.js";

export const ROUTES = {
  /**
   * You registered a route, a router, a mount or an exception handler after the first request.
   *
   * The routes and the OpenAPI document cannot change after the first request. Move the call before `serve`, or into an
   * `onStartup` hook. You can add middleware at any time.
   *
   * ```js
   * // Right
   * app.onStartup((app) => {
   *   app.get("/late", readItem);
   * });
   * ```
   */
  TSGI_ALREADY_SERVING: (place: string) =>
    `${place}: the application serves already. Register routes, routers, mounts and exception handlers ` +
    "before the first request, at the latest in an onStartup hook.",
  /**
   * A router includes itself, or a router that includes it.
   *
   * The routers of an application must form a tree.
   *
   * ```js
   * // Wrong
   * router.includeRouter(router);
   *
   * // Right
   * router.includeRouter(new Router({ prefix: "/reports" }));
   * ```
   */
  TSGI_CIRCULAR_ROUTER: (named: string) =>
    `A router cannot include itself, nor one that includes it. Take the includeRouter() of the one${named} ` +
    "out, or the other.",
  /**
   * Two applications are mounted at the same prefix.
   *
   * Mount only one application at each prefix. You can mount one at `/admin` and another at `/admin/reports`: the
   * longer prefix takes precedence.
   */
  TSGI_DUPLICATE_MOUNT: (path: string) =>
    `mount ${path}: another application is already mounted there. Give each a different prefix.`,
  /**
   * Two routes have the same method and the same pattern.
   *
   * The names of parameters make no difference: `/items/{id}` and `/items/{item_id}` match the same paths.
   *
   * ```js
   * // Wrong
   * app.get("/items/{id}", readItem);
   * app.get("/items/{item_id}", readItem);
   *
   * // Right
   * app.get("/items/{id}", readItem);
   * app.get("/items/{id}/parts", listItems);
   * ```
   */
  TSGI_DUPLICATE_ROUTE: (method: string, pattern: string) =>
    `${method} ${pattern}: this method and pattern have a route already (the names of parameters make no ` +
    "difference). Give one of them another path or method.",
  /**
   * A route has the option `etag`, but it is not a `GET` route, or it is a stream, whose text is not known before it is sent.
   *
   * ```js
   * // Wrong
   * app.post("/items", { etag: true }, async () => null);
   *
   * // Right
   * app.get("/items", { etag: true }, listItems);
   * ```
   */
  "TSGI_ETAG_WITHOUT_RESULT.method": (method: string) =>
    `etag: true is for GET routes, not for ${method}. Remove the option.`,
  "TSGI_ETAG_WITHOUT_RESULT.stream":
    "etag: true is for a result that is sent as a whole, and this route is a stream. Remove the option.",
  /**
   * The handler of a route is not a function.
   *
   * Often the handler was called instead of passed, or its module does not export the name.
   *
   * ```js
   * // Wrong
   * app.get("/items", listItems());
   *
   * // Right
   * app.get("/items", listItems);
   * ```
   */
  "TSGI_HANDLER_NOT_A_FUNCTION.compile": (given: unknown) =>
    `A handler should be a function, not ${describe(given)}. Write compileHandler(readItem), not ` +
    "compileHandler(readItem()).",
  "TSGI_HANDLER_NOT_A_FUNCTION.route": (place: string, given: unknown) =>
    `${place}: the handler should be a function, not ${describe(given)}. Pass the function itself: readItem, ` +
    "not readItem().",
  /**
   * Two lifespans yield a state with the same key.
   *
   * The App and the routers that it includes share one state, so one value would silently replace the other.
   *
   * ```js
   * // Right
   * const mail = new Router({
   *   lifespan: async function* () {
   *     yield { mailer: "smtp" };
   *   },
   * });
   * app.includeRouter(mail);
   * ```
   */
  TSGI_DUPLICATE_STATE: (key: string) =>
    `Two lifespans yield a state with the key ${JSON.stringify(key)}. Give one of them another name.`,
  /**
   * A startup or shutdown hook is not a function.
   *
   * This error is about `onStartup`, `onShutdown` or the option `lifespan`. Often the hook was called instead of
   * passed.
   *
   * ```js
   * // Wrong
   * app.onStartup(listItems());
   *
   * // Right
   * app.onStartup(listItems);
   * ```
   */
  TSGI_HOOK_NOT_A_FUNCTION: (name: string, given: unknown) =>
    `${name} takes a function that is called with the App, not ${describe(given)}.`,
  /**
   * An exception handler is not a function, or you registered it for a value that is not an error class or a status.
   *
   * ```js
   * // Wrong
   * app.exceptionHandler("NotFound", () => null);
   *
   * // Right
   * app.exceptionHandler(404, () => ({ detail: "Nothing here" }));
   * app.exceptionHandler(RangeError, (error) => ({ detail: error.message }));
   * ```
   */
  TSGI_INVALID_EXCEPTION_HANDLER: (given: unknown, handler: unknown) =>
    "An exception handler is registered for an error class or a status from 400 to 599, and is a function: " +
    `exceptionHandler(MyError, (error, request) => …). Received ${describe(given)} and ${describe(handler)}` +
    ".",
  /**
   * The value of a limit is not a valid number.
   *
   * If the limit were a string or `NaN`, no body would be too large. With `handlerMs: 0` every request would time out
   * immediately. See [all limits](specification.md#additional-limits).
   *
   * ```js
   * // Wrong
   * new App({ limits: { bodyBytes: "1mb" } });
   *
   * // Right
   * new App({ limits: { bodyBytes: 1024 * 1024 } });
   * ```
   */
  "TSGI_INVALID_LIMIT.handler": (route: string) =>
    `${route}: limits.handlerMs is 0. Give milliseconds above 0, or Infinity for no limit.`,
  "TSGI_INVALID_LIMIT.value": (name: string, given: unknown) =>
    `The limit ${name} is ${String(given)}. Give a number from 0 on, or Infinity.`,
  /**
   * The method of a route is not an HTTP method, or the methods are not an array.
   *
   * You can use any single word (RFC 9110 §9.1), for example a custom method such as `"PURGE"`.
   *
   * ```js
   * // Wrong
   * app.route("/cache", { methods: ["GET, PURGE"] }, listItems);
   *
   * // Right
   * app.route("/cache", { methods: ["GET", "PURGE"] }, listItems);
   * ```
   */
  "TSGI_INVALID_METHOD.list": (path: string, methods: unknown) =>
    `${path}: \`methods\` should be a list of at least one, such as ["GET", "POST"]. Received ` +
    `${JSON.stringify(methods)}.`,
  "TSGI_INVALID_METHOD.word": (place: string, given: unknown) =>
    `${place}: ${JSON.stringify(given)} is not a method such as "GET". A method is one word of letters and ` +
    "hyphens.",
  /**
   * The value of an option is not valid.
   *
   * An invalid value can have an unexpected effect: a string instead of an array would be split into letters, the
   * string `"false"` would mean true, and a limit that is a string would not work. TypeScript reports these mistakes
   * too, but not if the options are from JavaScript or from `process.env`. `httpsRedirect()` does not accept 301 and
   * 302, because clients may change the method. Browsers no longer support `ALLOW-FROM`, so write a
   * `contentSecurityPolicy` with `frame-ancestors`. For pools, see [their options](concurrency.md#options).
   *
   * ```js
   * // Wrong
   * app.get("/items", { tags: "items" }, listItems);
   *
   * // Right
   * app.get("/items", { tags: ["items"] }, listItems);
   *
   * // Wrong
   * app.post("/items", { statusCode: "201" }, readItem);
   *
   * // Right
   * app.post("/items", { statusCode: 201 }, readItem);
   *
   * // Wrong
   * new App({ pool: { size: 0 } });
   *
   * // Right
   * new App({ pool: { size: 2, kind: "thread" } });
   *
   * // Wrong
   * cors({ allowOrigins: "*", allowHeaders: "X-Request-ID, X-Trace" });
   *
   * // Right
   * cors({ allowOrigins: "*", allowHeaders: ["X-Request-ID", "X-Trace"] });
   *
   * // Wrong
   * securityHeaders({ frameOptions: "ALLOW-FROM https://example.com" });
   *
   * // Right
   * securityHeaders({
   *   frameOptions: false,
   *   contentSecurityPolicy: "frame-ancestors https://example.com",
   * });
   *
   * // Wrong
   * timeLimit("5s");
   *
   * // Right
   * timeLimit(5000);
   * ```
   */
  TSGI_INVALID_OPTION: (place: string, option: string, expected: string, given: unknown) =>
    `${place}: ${option} should be ${expected}, not ${show(given)}.`,
  /**
   * The options are not an object.
   *
   * ```js
   * // Wrong
   * cors("https://example.com");
   *
   * // Right
   * cors({ allowOrigins: ["https://example.com"] });
   * ```
   */
  TSGI_INVALID_OPTIONS: (place: string, known: readonly string[], given: unknown) =>
    `${place} takes an object with the options ${known.join(", ")}. Received ${describe(given)}.`,
  /**
   * A segment in the pattern of a route is neither plain text nor `{name}`.
   *
   * Declare types and constraints in `params`. If you need a catch-all, mount an application. If you need an optional
   * segment, register a second route. See [all patterns](router.md#patterns).
   *
   * ```js
   * // Wrong
   * app.get("/items/{id:int}", readItem);
   *
   * // Right
   * app.get("/items/{id}", { params: { id: t.Integer() } }, readItem);
   * ```
   */
  "TSGI_INVALID_PATH_PATTERN.wildcard": (where: string, segment: string) =>
    `${where}: "${segment}" has a wildcard. A route has no catch-all: mount a sub-application at the ` +
    "path before it with app.mount(path, asgiApp).",
  "TSGI_INVALID_PATH_PATTERN.escape": (where: string, segment: string) =>
    `${where}: "${segment}" has a "%" that is neither "%2F" (a slash inside a segment) nor "%25" (a ` +
    "percent sign). Write any other character as itself.",
  "TSGI_INVALID_PATH_PATTERN.surrogate": (where: string, segment: string) =>
    `${where}: "${segment}" has a lone surrogate, which no path can carry. Write whole characters.`,
  "TSGI_INVALID_PATH_PATTERN.unnamed": (where: string, segment: string) =>
    `${where}: "${segment}" has no name. Write {name}.`,
  "TSGI_INVALID_PATH_PATTERN.catchAll": (where: string, segment: string) =>
    `${where}: "${segment}" is a catch-all. A parameter is one segment: mount a sub-application at ` +
    "the path before it with app.mount(path, asgiApp).",
  "TSGI_INVALID_PATH_PATTERN.optional": (where: string, segment: string) =>
    `${where}: "${segment}" is an optional segment. Register the path without it as a separate ` +
    "route, or make the value a query parameter.",
  "TSGI_INVALID_PATH_PATTERN.name": (where: string, segment: string) =>
    `${where}: "${segment}" is not a parameter: a name has letters, digits, "_", "$" and "-" only. Write {name}.`,
  "TSGI_INVALID_PATH_PATTERN.twice": (where: string, segment: string) =>
    `${where}: "${segment}" is repeated. Give each parameter a different name.`,
  "TSGI_INVALID_PATH_PATTERN.brace": (where: string, segment: string) =>
    `${where}: "${segment}" has a brace without its other half. Write {name} for a parameter.`,
  "TSGI_INVALID_PATH_PATTERN.mixed": (where: string, segment: string) =>
    `${where}: "${segment}" mixes text and a parameter. A segment is one or the other: write {name} ` +
    "for the whole segment and take it apart in the handler.",
  "TSGI_INVALID_PATH_PATTERN.constraint": (where: string, segment: string, name: string) =>
    `${where}: "${segment}" has a constraint. Write {${name}}, and declare its type in the route's params, as in ` +
    `params: { ${name}: t.Integer() }.`,
  /**
   * The prefix of a router does not begin with a slash, or it ends with a slash.
   *
   * ```js
   * // Wrong
   * new Router({ prefix: "users/" });
   *
   * // Right
   * new Router({ prefix: "/users" });
   * ```
   */
  TSGI_INVALID_PREFIX: (prefix: unknown, right: string) =>
    `A prefix starts with "/" and does not end with it; ${JSON.stringify(prefix)} should be ` +
    `${JSON.stringify(right)}.`,
  /**
   * The option `returns` of a route is not a schema.
   *
   * Without a schema, tsgi cannot validate the result or remove unknown properties.
   *
   * ```js
   * // Wrong
   * app.get("/name", { returns: String }, async () => "Lamp");
   *
   * // Right
   * app.get("/name", { returns: t.String() }, async () => "Lamp");
   * ```
   */
  TSGI_INVALID_RETURNS: (given: unknown) =>
    "`returns` must be a schema such as t.Object({ … }), or a schema of a Standard Schema library, not " +
    `${describe(given)}.`,
  /**
   * The options of a route are not an object.
   *
   * Pass the arguments in the order path, options, handler.
   *
   * ```js
   * // Wrong
   * app.get("/items", "list of items", listItems);
   *
   * // Right
   * app.get("/items", { summary: "List of items" }, listItems);
   * ```
   */
  TSGI_INVALID_ROUTE_ARGUMENTS: (place: string, given: unknown) =>
    `${place}: the options should be an object and the handler a function. Received ${describe(given)}. ` +
    "The order is path, options, handler.",
  /**
   * You passed a value to `urlPathFor` that cannot be part of a path.
   *
   * The value of a parameter is one segment that is not empty. The segments `.` and `..` never reach the server, even
   * if you escape them, because clients remove them from the path (RFC 3986 §5.2.4). Send such values in the query
   * string.
   *
   * ```js
   * // Wrong
   * app.get("/items/{id}", readItem);
   * app.urlPathFor("readItem", { id: "" });
   *
   * // Right
   * app.get("/items/{id}", readItem);
   * app.urlPathFor("readItem", { id: 7 });
   * ```
   */
  "TSGI_INVALID_URL_PARAMETER.type": (place: string, given: unknown) =>
    `${place} needs text, a number, a boolean or an array of these, not ${typeof given}.`,
  "TSGI_INVALID_URL_PARAMETER.empty": (place: string) =>
    `${place} is empty, and a path parameter never is. Give it a character at least, or leave the segment to ` +
    "another route.",
  "TSGI_INVALID_URL_PARAMETER.dots": (place: string, text: unknown) =>
    `${place} is ${JSON.stringify(text)}, which a client takes out of the path. Send it in the query string.`,
  "TSGI_INVALID_URL_PARAMETER.surrogate": (place: string) =>
    `${place} has a lone surrogate, which has no UTF-8 form. Write whole characters.`,
  /**
   * A middleware is not a function.
   *
   * `addMiddleware` accepts a function that wraps the application, such as the result of `cors()`, `compress()` or
   * `httpMiddleware()`.
   *
   * ```js
   * // Wrong
   * app.addMiddleware({ allowOrigins: "*" });
   *
   * // Right
   * app.addMiddleware(cors({ allowOrigins: "*" }));
   * app.addMiddleware(httpMiddleware(async (_request, next) => next()));
   * ```
   */
  "TSGI_MIDDLEWARE_NOT_A_FUNCTION.added": (given: unknown) =>
    `addMiddleware() takes a function from app to app, not ${describe(given)}. Write addMiddleware(cors({ … ` +
    "})), or addMiddleware(httpMiddleware(async (request, next) => { … })).",
  "TSGI_MIDDLEWARE_NOT_A_FUNCTION.http": (given: unknown) =>
    "httpMiddleware() takes a function: httpMiddleware(async (request, next) => { … }). Received " +
    `${describe(given)}.`,
  "TSGI_MIDDLEWARE_NOT_A_FUNCTION.listed": (place: string, given: unknown) =>
    `${place}: a middleware is a function from app to app, not ${describe(given)}. Write middleware: [cors({ ` +
    "… })].",
  /**
   * You did not pass a value to `urlPathFor` for each name in the pattern.
   *
   * ```js
   * // Wrong
   * app.get("/items/{id}", readItem);
   * app.urlPathFor("readItem");
   *
   * // Right
   * app.get("/items/{id}", readItem);
   * app.urlPathFor("readItem", { id: 7 });
   * ```
   */
  TSGI_MISSING_URL_PARAMETER: (place: string) => `${place} is missing. Pass a value for each name of the pattern.`,
  /**
   * An App is mounted on itself.
   *
   * Its requests would never reach a route. Mount another App, or include a Router.
   *
   * ```js
   * // Wrong
   * app.mount("/v1", app);
   *
   * // Right
   * app.mount("/v1", new App());
   * ```
   */
  TSGI_MOUNTED_ON_ITSELF: (path: string) =>
    `mount ${path}: an App cannot mount itself. Mount another App, or include a Router.`,
  /**
   * The prefix of a mount, or of a router that contains it, has a `{name}`.
   *
   * A mounted application does not receive the parameter. Include a router instead: its routes receive it.
   *
   * ```js
   * // Wrong
   * app.mount("/users/{id}", new App());
   *
   * // Right
   * app.includeRouter(router, { prefix: "/users/{id}" });
   * ```
   */
  "TSGI_MOUNT_PREFIX_PARAMETERS.router": (path: string) =>
    `mount ${path}: the prefix of a router with a mount is plain text, without {names}. Mount on the App, or ` +
    "on a router without them.",
  "TSGI_MOUNT_PREFIX_PARAMETERS.mount": (path: string) =>
    `mount ${path}: the prefix of a mount is plain text, without {names}. For names include a Router: its ` +
    "routes get them.",
  /**
   * An application is mounted below dependencies: the App, a router, or `includeRouter()` has the option `dependencies`.
   *
   * The dependencies would guard the routes next to the mounted application, but not the application, which is called
   * before they run. Mount it outside the router that has the dependencies. If the App has them, move them to a router. Then
   * guard the mounted application: an App by its own dependencies, `StaticFiles` and others by the middleware of a router.
   *
   * ```js
   * // Wrong
   * new App({ dependencies: [Depends(getUser)] }).mount("/admin", new App());
   *
   * // Right
   * app.includeRouter(new Router(), { dependencies: [Depends(getUser)] });
   * app.mount("/admin", new App({ dependencies: [Depends(getUser)] }));
   * ```
   */
  TSGI_MOUNT_UNDER_DEPENDENCIES: (path: string) =>
    `mount ${path}: dependencies do not reach a mounted application, and the App, the router or the includeRouter() around ` +
    "it has some. Mount it outside of them, and guard it by its own dependencies or by middleware.",
  /**
   * The value that you serve or mount is not an ASGI application.
   *
   * An ASGI application is a function that is called with `(scope, receive, send)`: an App, or your own function. Often
   * the module was passed instead of its export.
   *
   * ```js
   * // Wrong
   * app.mount("/v1", { app: new App() });
   *
   * // Right
   * app.mount("/v1", new App());
   * ```
   *
   * @remarks `serve(app)`, not the module that exports it: `serve((await import("./app.js")).app)`.
   */
  "TSGI_NOT_AN_ASGI_APPLICATION.call": (caller: string, given: unknown) =>
    `${caller} takes an ASGI application, which is a function, not ${describe(given)}. Pass the App itself, ` +
    "not the module that exports it.",
  "TSGI_NOT_AN_ASGI_APPLICATION.mount": (path: string, given: unknown) =>
    `mount ${path}: an ASGI application is a function, not ${describe(given)}. Pass an App, or a function of ` +
    "(scope, receive, send).",
  /**
   * The argument of `includeRouter` is not a Router, or it is a module that exports several routers.
   *
   * A router becomes part of the App. An App is a separate application, which you mount.
   *
   * ```js
   * // Wrong
   * app.includeRouter(new App());
   *
   * // Right
   * app.includeRouter(new Router());
   * app.mount("/other", new App());
   * ```
   */
  "TSGI_NOT_A_ROUTER.given": (given: unknown) =>
    `includeRouter() takes a Router, not ${describe(given)}. An App is mounted. Write mount("/prefix", app) ` +
    "for one.",
  "TSGI_NOT_A_ROUTER.module": (count: number) =>
    `includeRouter() accepts a module with one Router, and this one exports ${count}. Include the Router itself: ` +
    "includeRouter(module.router).",
  /**
   * Your program uses two copies of `tsgi`, and an object or a class of one reached the other.
   *
   * Each copy has its own classes: a router of one copy cannot include a router of the other. If a handler throws the
   * `HTTPException` of the other copy, or returns its `Response`, this error is logged, and the response is a 500.
   *
   * npm installs a second copy if a package requires another version of `tsgi` than your application. `npm ls tsgi` shows
   * that package. Update it, and run `npm dedupe`. If it is your own package, list `tsgi` in its `peerDependencies`, as
   * [packages.md](packages.md) describes. If you cannot remove the second copy, you can still mount an application of it.
   *
   * A bundle contains a copy too: if you bundle `tsgi`, do not leave out packages that use it. If both copies have the
   * same folder, two tools have loaded it, such as Vite and Node.js.
   */
  TSGI_TWO_COPIES: (own: string, other: string) =>
    `tsgi is loaded twice, from ${own} and from ${other}, and neither knows the classes of the other. Run npm dedupe, and ` +
    "list tsgi in the peerDependencies of packages that use it.",
  /**
   * The path of a route is not a string.
   *
   * A pattern is a string. You cannot use a regular expression as a path. See [router.md](router.md#patterns).
   *
   * ```js
   * // Wrong
   * app.mount(/^\/files/, new App());
   *
   * // Right
   * app.mount("/files", new App());
   * ```
   */
  TSGI_PATH_NOT_A_STRING: (place: string, given: unknown) =>
    `${place}: the path of a route is text such as "/items/{item_id}", but this one is ${typeof given}.`,
  /**
   * The path of a route does not begin with a slash.
   *
   * The message contains the correct path.
   *
   * ```js
   * // Wrong
   * app.get("items", listItems);
   *
   * // Right
   * app.get("/items", listItems);
   * ```
   */
  TSGI_PATH_WITHOUT_SLASH: (place: string, path: string) =>
    `${place}: a path starts with "/": write ${JSON.stringify(`/${path}`)}.`,
  /**
   * An option has an unknown name.
   *
   * The message lists the known names. Without this error, a misspelled option would have no effect.
   *
   * ```js
   * // Wrong
   * app.get("/items/{id}", { param: { id: t.Integer() } }, readItem);
   *
   * // Right
   * app.get("/items/{id}", { params: { id: t.Integer() } }, readItem);
   * ```
   */
  TSGI_UNKNOWN_OPTION: (place: string, option: string, known: readonly string[]) => {
    const meant = nearest(option, known);
    const hint = meant === null ? "" : ` Did you mean ${JSON.stringify(meant)}?`;
    return `${place} has no option ${JSON.stringify(option)}. It has: ${known.join(", ")}.${hint}`;
  },
  /**
   * You called `urlPathFor` with a name that no route has.
   *
   * The name of a route is the option `name`. If you do not set it, it is the name of the handler function.
   *
   * ```js
   * // Wrong
   * app.get("/items/{id}", async ({ id }) => id);
   * app.urlPathFor("readItem", { id: 7 });
   *
   * // Right
   * app.get("/items/{id}", { name: "readItem" }, async ({ id }) => id);
   * app.urlPathFor("readItem", { id: 7 });
   * ```
   */
  TSGI_UNKNOWN_ROUTE_NAME: (name: unknown, way: string) =>
    `urlPathFor: no route is named ${JSON.stringify(name)}. ${way}`,
  /**
   * You passed a value to `urlPathFor` for a name that is not in the pattern.
   *
   * ```js
   * // Wrong
   * app.get("/items/{id}", readItem);
   * app.urlPathFor("readItem", { id: 7, page: 2 });
   *
   * // Right
   * app.get("/items/{id}", readItem);
   * app.urlPathFor("readItem", { id: 7 });
   * ```
   */
  TSGI_UNKNOWN_URL_PARAMETER: (pattern: string, name: unknown) =>
    `urlPathFor ${pattern}: the pattern has no parameter ${JSON.stringify(name)}. Leave it out, or add it to ` +
    "the query string.",
};
