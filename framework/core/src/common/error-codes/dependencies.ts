/** Dependencies. @module */
import { describe } from "../messages.js";

export const DEPENDENCIES = {
  /**
   * Dependencies depend on each other in a circle.
   *
   * A `RecursionError`. The message has the chain; one made by `dependencyOverrides` is seen at the first request.
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
   * `Depends` or `Security` was given no function.
   *
   * It takes the dependency itself, which each request calls; not what one call of it gives.
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
   * `Depends` was given options that exclude each other.
   *
   * A dependency of scope `"app"` is called once, so that there is nothing but its cache; readiness checks what lives as
   * long as the application, and nothing else.
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
      ? 'Depends(): `check` is for scope "app" alone, whose value readiness looks at. Write { scope: "app", check }.'
      : `Depends(): ${option} has no meaning with scope "app", which is called once. Leave it out.`,
  /**
   * `Depends(fn, { optional: true })` is used for a dependency that needs no security scheme.
   *
   * An optional dependency is called only if the request has credentials for one of its security schemes. Without a scheme
   * it would never be called.
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
   * A dependency uses one that does not live as long as it does.
   *
   * A clean-up of scope `"function"` runs before the response is sent, one of `"request"` after it, one of `"app"` when
   * the application stops. A dependency of scope `"app"` has nothing of a request.
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
  "TSGI_DEPENDENCY_SCOPE.app": (dependency: string, parameter: string, what: string) =>
    `The dependency ${dependency} (scope "app") is started before any request, and its parameter ` +
    `${JSON.stringify(parameter)} is ${what}. It may depend on others of scope "app" alone: ` +
    'Depends(fn, { scope: "app" }).',
  /**
   * A dependency is a generator, and ended before it yielded.
   *
   * It is seen at the first request: it returned, or a condition skipped the `yield`.
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
    `The dependency ${dependency} is a generator that yields nothing. Let it yield once.`,
  /**
   * There is something else than `Depends(fn)` or `Security(fn)` in `dependencies`.
   *
   * They are guards: their results go nowhere.
   *
   * ```js
   * // Wrong
   * app.get("/items", { dependencies: [getUser] }, listItems);
   *
   * // Right
   * app.get("/items", { dependencies: [Depends(getUser)] }, listItems);
   * ```
   */
  TSGI_INVALID_DEPENDENCIES_ENTRY: (number: number, given: string) =>
    `\`dependencies\` takes Depends(fn) or Security(fn); number ${number} is ${given}.`,
  /**
   * `withParams` was given no function.
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
   * A function is given params, and has others already.
   *
   * One function has one set of params: its identity is what the cache of a request keys on.
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
    `The function ${name} carries params already. Wrap it in a function of its own, or declare the params on ` +
    "the route.",
};
