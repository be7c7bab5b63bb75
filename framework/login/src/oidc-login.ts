/** Login at an identity provider. @module */
import {
  type App,
  Depends,
  HTTPConnection,
  HTTPException,
  Request,
  Router,
  SecurityScopes,
  type WithParams,
  withParams,
} from "tsgi";
import { EarlyResponse, endpointsOf, findSessionSettings, plansOf, type RoutePlan } from "tsgi/internals";
import { loginError } from "./errors.js";
import { isNavigation } from "./failure.js";
import { LoginFlow, redirect } from "./flow.js";
import { Logins } from "./logins.js";
import { type IDTokenClaims, type OIDCLoginOptions, type Settings, settingsOf } from "./options.js";
import { Provider } from "./provider.js";
import { LoginCookie } from "./scheme.js";
import { LoginTokens } from "./tokens.js";

const UNAUTHORIZED = {
  401: { description: "Not logged in. A browser that opens a page is sent to the login instead." },
};
const UNAVAILABLE = { 503: { description: "The identity provider is unavailable." } };

/** A dependency of routes and WebSockets that need a login. */
export type LoginDependency<Value> = ((args: never) => Promise<Value>) & WithParams<{}, Promise<Value>>;

/** A login at an identity provider. */
export interface OIDCLogin<Claims extends object = IDTokenClaims> {
  /** The routes of the login. Include it in the App that has `sessions()`. */
  readonly router: Router;
  /**
   * The claims of the user. Without a login, programs get 401, and a browser that opens a page is sent to the login. With
   * `Depends(login.user, { optional: true })` the value is then `null`.
   */
  readonly user: LoginDependency<Claims>;
  /** An access token of the user for another service, refreshed before it expires. The sessions need a store. */
  readonly accessToken: LoginDependency<string>;
}

/**
 * Makes a login at an identity provider with OpenID Connect: the authorization code flow with PKCE, `state` and `nonce`. The
 * login is a part of the session.
 *
 * @throws ConfigurationError for an option that is missing, unknown or cannot work.
 * @example
 * ```ts
 * import { App, Depends } from "tsgi";
 * import { memoryStore, sessions } from "tsgi/middleware";
 * import { oidcLogin } from "@tsgi/login";
 *
 * const login = oidcLogin({
 *   issuer: "https://login.example.com",
 *   clientId: "shop",
 *   baseURL: "https://shop.example.com",
 * });
 * const app = new App({ middleware: [sessions({ store: memoryStore() })] });
 * app.includeRouter(login.router);
 * app.get("/me", { params: { user: Depends(login.user) } }, async ({ user }) => ({ id: user.sub }));
 * ```
 */
export function oidcLogin<Kept extends object = IDTokenClaims>(options: OIDCLoginOptions<Kept>): OIDCLogin<Kept>;
export function oidcLogin(options: OIDCLoginOptions<object>): OIDCLogin<object> {
  const settings = settingsOf(options);
  const provider = new Provider(settings);
  const logins = new Logins(settings);
  const tokens = new LoginTokens(provider, logins, settings);
  const flow = new LoginFlow({ settings, provider, logins, tokens });
  const cookie = { name: settings.baseURL.startsWith("https:") ? "__Host-session" : "session" };
  const params = paramsOf(settings, logins, () => cookie.name);
  const refuse = refuserOf(settings);

  const user = withParams(
    params,
    async function loginUser({ login, connection }) {
      return login?.claims ?? refuse(connection);
    },
    { responses: UNAUTHORIZED },
  );
  const accessToken = withParams(
    params,
    async function loginAccessToken({ login, connection }) {
      if (login === null) return refuse(connection);
      const access = await tokens.access(connection, login);
      if (access === "ended") logins.end(connection);
      return typeof access === "string" ? refuse(connection) : access.token;
    },
    { responses: { ...UNAUTHORIZED, ...UNAVAILABLE } },
  );

  const router = new Router({
    prefix: settings.prefix,
    includeInSchema: false,
    lifespan: async function* (app: App) {
      cookie.name = checkApp(app, { settings, flow, user, accessToken });
      yield;
    },
  });
  const withRequest = { params: { request: Request } };
  router.get("", withRequest, flow.begin);
  router.get("/callback", withRequest, flow.callback);
  router.post("/logout", withRequest, flow.logout);
  if (settings.backchannelLogout) router.post("/backchannel-logout", withRequest, flow.backchannelLogout);
  return { router, user, accessToken };
}

/** The parameters of the dependencies: the login, and its security scheme for the document. */
function paramsOf({ issuer }: Settings, logins: Logins, cookie: () => string) {
  const find = withParams({ connection: HTTPConnection }, async function findLogin({ connection }) {
    return logins.find(connection);
  });
  const credentials = withParams({ login: Depends(find) }, async function loginCredentials({ login }) {
    return login === null ? [] : [login.sub];
  });
  return {
    login: Depends(find),
    // The scheme is lenient, because its error would take precedence over the redirect to the login. With `SecurityScopes`, the
    // document still lists it as required.
    scheme: Depends(new LoginCookie(issuer, Depends(credentials), cookie)),
    asked: SecurityScopes,
    connection: HTTPConnection,
  };
}

/** Makes the function that refuses a connection without a login. */
function refuserOf({ baseURL, prefix }: Settings) {
  return (connection: HTTPConnection): never => {
    if (!isNavigation(connection)) {
      throw new HTTPException(401, "Not authenticated", { headers: { "WWW-Authenticate": "APIKey" } });
    }
    const { pathname, search } = connection.url;
    const returnTo = encodeURIComponent(pathname + search);
    throw new EarlyResponse(redirect(`${baseURL}${prefix}?returnTo=${returnTo}`));
  };
}

/** The parts of a login that depend on the App. */
interface Checked {
  readonly settings: Settings;
  readonly flow: LoginFlow;
  readonly user: unknown;
  readonly accessToken: unknown;
}

/**
 * Checks the App when it starts.
 *
 * @returns The name of the cookie of its sessions.
 * @throws ConfigurationError if the login cannot work in it.
 */
function checkApp(app: App, { settings, flow, user, accessToken }: Checked): string {
  const uses = ({ allDependencies }: RoutePlan, ...dependencies: unknown[]) =>
    allDependencies.some(({ callable }) => dependencies.includes(callable));
  const callback = endpointsOf(app).find(({ record }) => record.handler === flow.callback);
  const [sessions] = callback?.middleware.flatMap((layer) => findSessionSettings(layer) ?? []) ?? [];
  if (callback && uses(callback.plan, user, accessToken)) throw loginError("TSGI_LOGIN_REQUIRES_ITSELF");
  if (sessions === undefined) throw loginError("TSGI_LOGIN_WITHOUT_SESSIONS");
  if (sessions.sameSite === "strict") throw loginError("TSGI_LOGIN_STRICT_COOKIE");
  if (sessions.store !== null) return sessions.cookie;
  if (settings.backchannelLogout) throw loginError("TSGI_LOGIN_WITHOUT_STORE", "backchannelLogout of oidcLogin()");
  for (const [{ method, path }, plan] of plansOf(app)) {
    if (uses(plan, accessToken)) throw loginError("TSGI_LOGIN_WITHOUT_STORE", `${method} ${path}: login.accessToken`);
  }
  return sessions.cookie;
}
