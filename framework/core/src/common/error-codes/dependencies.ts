/** Dependencies. @module */
import { describe, describeType } from "../messages.js";

export const DEPENDENCIES = {
  /**
   * Dependencies depend on each other in a cycle.
   *
   * The error is a `RecursionError`, and its message shows the cycle. If `dependencyOverrides` create the cycle, the
   * first request throws the error.
   *
   * ```js
   * // Wrong
   * const params = {};
   * const currentUser = withParams(params, async () => "ada");
   * params.user = Depends(currentUser);
   * app.get("/items", { dependencies: [Depends(currentUser)] }, listItems);
   *
   * // Right
   * const getToken = withParams(
   *   { authorization: Header() },
   *   async ({ authorization }) => authorization,
   * );
   * const currentUser = withParams(
   *   { token: Depends(getToken) },
   *   async ({ token }) => token,
   * );
   * app.get("/items", { dependencies: [Depends(currentUser)] }, listItems);
   * ```
   */
  "TSGI_CIRCULAR_DEPENDENCY.params": (chain: string) =>
    `Dependencies go in a circle: ${chain}. Take one of them out of the other's params.`,
  "TSGI_CIRCULAR_DEPENDENCY.overrides": (circle: string) =>
    `Dependencies go in a circle through dependencyOverrides: ${circle}. Take one of the overrides out.`,
  /**
   * The argument of `Depends` or `Security` is not a function.
   *
   * Pass the dependency itself, which each request calls. Do not pass the result of a call.
   *
   * ```js
   * // Wrong
   * app.get("/items", { params: { user: Depends(getUser()) } }, listItems);
   *
   * // Right
   * app.get("/items", { params: { user: Depends(getUser) } }, listItems);
   * ```
   */
  TSGI_DEPENDENCY_NOT_CALLABLE: (name: string, given: unknown) =>
    `${name}() takes a function or a class, not ${describe(given)}. Write ${name}(getUser), not ${name}` +
    "(getUser()).",
  /**
   * The options of `Depends` exclude each other.
   *
   * A dependency of scope `"app"` is called only once, so options about its cache have no meaning. Only such a
   * dependency can have a `check`, because readiness checks values that live as long as the application.
   *
   * ```js
   * // Wrong
   * const database = Depends(async () => new Map(), { check: (db) => db.size > 0 });
   *
   * // Right
   * const database = Depends(async () => new Map(), {
   *   scope: "app",
   *   check: (db) => db.size > 0,
   * });
   * ```
   */
  TSGI_DEPENDENCY_OPTIONS: (option: string) =>
    option === "check"
      ? 'Depends(): `check` requires scope "app", because the readiness check uses its value. Write { scope: "app", check }.'
      : `Depends(): ${option} has no meaning with scope "app", which is called once. Leave it out.`,
  /**
   * `Depends(fn, { optional: true })` is used for a dependency without a security scheme.
   *
   * An optional dependency is called only if the request has credentials for one of its security schemes. Without a
   * scheme it would never be called.
   *
   * ```js
   * // Wrong
   * const findUser = withParams({ token: Header() }, async ({ token }) => token);
   * const user = Depends(findUser, { optional: true });
   * app.get("/items", { params: { user } }, listItems);
   *
   * // Right
   * const bearer = new HTTPBearer();
   * const findUser = withParams({ token: Depends(bearer) }, async ({ token }) => token);
   * const user = Depends(findUser, { optional: true });
   * app.get("/items", { params: { user } }, listItems);
   * ```
   */
  TSGI_OPTIONAL_WITHOUT_SCHEME: (name: string) =>
    `The dependency ${name} is optional, but needs no security scheme: it would never be called. Let it depend on a ` +
    "scheme, such as Depends(new HTTPBearer()), or leave `optional` out.",
  /**
   * A dependency uses another dependency that is cleaned up earlier.
   *
   * The cleanup of scope `"function"` runs before the response is sent, of scope `"request"` after it, and of scope
   * `"app"` when the application stops. A dependency of scope `"app"` cannot use parameters of a request. It
   * can use `AbortSignal`, which aborts when the application stops.
   *
   * ```js
   * // Wrong
   * const getDb = async function* () {
   *   yield "db";
   * };
   * const currentUser = withParams(
   *   { db: Depends(getDb, { scope: "function" }) },
   *   async function* ({ db }) {
   *     yield db;
   *   },
   * );
   * app.get("/items", { params: { user: Depends(currentUser) } }, listItems);
   *
   * // Right
   * const getDb = async function* () {
   *   yield "db";
   * };
   * const currentUser = withParams({ db: Depends(getDb) }, async function* ({ db }) {
   *   yield db;
   * });
   * app.get("/items", { params: { user: Depends(currentUser) } }, listItems);
   * ```
   */
  "TSGI_DEPENDENCY_SCOPE.closed": (dependency: string, inner: string) =>
    `The dependency ${dependency} (scope "request") uses ${inner} (scope "function"), which is closed before ` +
    `it. Give both the same scope: Depends(fn, { scope: "request" }).`,
  "TSGI_DEPENDENCY_SCOPE.transactional": (dependency: string, inner: string) =>
    `The dependency ${dependency} (scope "request") is cleaned up after the response, but ${inner} ends before it. ` +
    'Write { scope: "function" }, which is cleaned up before both.',
  "TSGI_DEPENDENCY_SCOPE.app": (dependency: string, parameter: string, what: string) =>
    `The dependency ${dependency} (scope "app") is started before any request, and its parameter ` +
    `${JSON.stringify(parameter)} is ${what}. It can depend only on dependencies of scope "app": ` +
    'Depends(fn, { scope: "app" }).',
  /**
   * A transaction, or another transactional dependency, is used in a place where this is not possible.
   *
   * A transaction commits after your handler has returned and before the response is sent, and the whole request shares it.
   * So `Depends(transaction)` has no other scope and no separate result. A handler that streams and a WebSocket send before
   * the transaction could commit: use the database itself there, or a separate dependency of scope `"function"`.
   *
   * ```js
   * // Wrong
   * const transaction = transactionOf(Depends(openDatabase, { scope: "app" }));
   * app.post(
   *   "/items",
   *   { params: { tx: Depends(transaction, { scope: "function" }) } },
   *   listItems,
   * );
   *
   * // Wrong
   * const transaction = transactionOf(Depends(openDatabase, { scope: "app" }));
   * app.get("/events", { params: { tx: Depends(transaction) } }, async function* () {
   *   yield 1;
   * });
   *
   * // Right
   * const database = Depends(openDatabase, { scope: "app" });
   * const transaction = transactionOf(database);
   * app.post("/items", { params: { tx: Depends(transaction) } }, async ({ tx }) => {
   *   return tx === null;
   * });
   * app.get("/events", { params: { db: database } }, async function* ({ db }) {
   *   yield db === null;
   * });
   * ```
   */
  "TSGI_TRANSACTIONAL_DEPENDENCY.options": (name: string, option: string) =>
    `Depends(${name}): ${option} is not possible, because ${name} is one for the whole request and ends before the ` +
    `response is sent. Write Depends(${name}).`,
  "TSGI_TRANSACTIONAL_DEPENDENCY.route": (name: string, where: string) =>
    `The dependency ${name} ends before the response is sent, which ${where} cannot wait for. Use the database itself, ` +
    "or a separate dependency.",
  /**
   * A dependency is a generator that ended without a `yield`.
   *
   * The first request throws this error if the generator returned, or if a condition skipped the `yield`.
   *
   * ```js
   * // Right
   * const getDb = async function* () {
   *   const db = { close: async () => {} };
   *   yield db;
   *   await db.close();
   * };
   * app.get("/items", { params: { db: Depends(getDb) } }, listItems);
   * ```
   */
  TSGI_DEPENDENCY_WITHOUT_YIELD: (dependency: string) =>
    `The dependency ${dependency} is a generator that did not yield a value. Yield exactly once.`,
  /**
   * An entry of `dependencies` is not `Depends(fn)` or `Security(fn)`.
   *
   * The entries of `dependencies` are guards: tsgi calls them and discards their results.
   *
   * ```js
   * // Wrong
   * app.get("/items", { dependencies: [getUser] }, listItems);
   *
   * // Right
   * app.get("/items", { dependencies: [Depends(getUser)] }, listItems);
   * ```
   */
  TSGI_INVALID_DEPENDENCIES_ENTRY: (number: number, given: unknown) =>
    `\`dependencies\` takes Depends(fn) or Security(fn); number ${number} is ${describeType(given)}.`,
  /**
   * The second argument of `withParams` is not a function.
   *
   * ```js
   * // Wrong
   * withParams({ page: t.Integer() });
   *
   * // Right
   * withParams({ page: t.Integer() }, async ({ page }) => page);
   * ```
   */
  TSGI_INVALID_WITH_PARAMS: (given: unknown) =>
    `withParams() takes params and a function, not ${describe(given)}. Write withParams({ page: Query() }, ` +
    "async ({ page }) => …).",
  /**
   * You called `withParams` for a function that already has params.
   *
   * A function can have only one set of params, because the cache of a request uses the function as its key.
   *
   * ```js
   * // Wrong
   * withParams({ page: t.Integer() }, listItems);
   * withParams({ size: t.Integer() }, listItems);
   *
   * // Right
   * withParams({ page: t.Integer(), size: t.Integer() }, listItems);
   * ```
   */
  TSGI_WITH_PARAMS_TWICE: (name: string) =>
    `The function ${name} already has params. Wrap it in another function, or declare the params on the route.`,
};
