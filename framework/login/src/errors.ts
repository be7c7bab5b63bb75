/**
 * Login: `@tsgi/login`.
 *
 * These errors are thrown when you import the package, call `oidcLogin()`, or start the application. See [login.md](login.md).
 * @module
 */
import { errorsOf } from "tsgi/internals";

const MESSAGES = {
  /** You import `@tsgi/login`, but its peer dependencies `openid-client` and `jose` are not installed. */
  TSGI_MISSING_OPENID_CLIENT:
    "@tsgi/login requires the packages openid-client and jose, which cannot be loaded. Run: npm install openid-client@6 jose",
  /**
   * `oidcLogin()` keeps its logins in sessions, but the middleware `sessions()` is not around its router.
   *
   * ```js
   * // Right
   * app.addMiddleware(sessions({ store: memoryStore() }));
   * ```
   */
  TSGI_LOGIN_WITHOUT_SESSIONS:
    "oidcLogin() needs sessions() on the App that includes its router: new App({ middleware: [sessions({ store })] }).",
  /**
   * The routes of the login require a login themselves, so users could never log in.
   *
   * ```js
   * // Right
   * app.includeRouter(router, { dependencies: [Depends(getUser)] });
   * ```
   */
  TSGI_LOGIN_REQUIRES_ITSELF:
    "oidcLogin(): the dependencies of the App or of a Router require a login for the routes of the login itself. Require it " +
    "for other routers only: app.includeRouter(items, { dependencies: [Depends(login.user)] }).",
  /**
   * With `sameSite: "strict"`, browsers do not send the cookie of the session when the identity provider sends the user back.
   *
   * ```js
   * // Right
   * app.addMiddleware(sessions({ store: memoryStore(), sameSite: "lax" }));
   * ```
   */
  TSGI_LOGIN_STRICT_COOKIE:
    'oidcLogin(): with sessions({ sameSite: "strict" }), browsers omit the cookie on the way back from the identity ' +
    'provider. Write sameSite: "lax", which is the default.',
  /**
   * Tokens and markers of ended logins are entries in the store of the sessions. A signed cookie cannot contain them.
   *
   * ```js
   * // Right
   * app.addMiddleware(sessions({ store: memoryStore() }));
   * ```
   */
  TSGI_LOGIN_WITHOUT_STORE: (user: string) =>
    `${user} needs a store: new App({ middleware: [sessions({ store })] }), with memoryStore() or redisStore(client).`,
};

/** Makes an error of this package. */
export const loginError = errorsOf(MESSAGES);
