import {
  Cookie,
  Depends,
  Form,
  HTTPException,
  Request,
  RequestValidationError,
  Response,
  Router,
  t,
  withParams,
} from "tsgi";
import { httpMiddleware } from "tsgi/middleware";

import { accounts, getCaller } from "../accounts.js";
import { settings, type Settings } from "../config.js";
import { credentialsException, refuseCrossSite, SCOPES } from "../dependencies.js";
import { getLog } from "../logging.js";
import { type Account, CROSS_SITE, INCORRECT, TokenResponse, TOO_MANY_ATTEMPTS, UNAUTHORIZED } from "../models.js";
import { DEMO_USER } from "../seed.js";
import { type IssuedRefreshToken, refreshTokens } from "../security/refresh-tokens.js";
import { provider } from "../security/provider.js";
import { accessTokens } from "../security/tokens.js";

const ACCESS_TOKEN_MINUTES = 30;
const REFRESH_COOKIE = "refresh_token";
/** Versions of accounts begin at 1: the token of a disabled user stays without use when the account is enabled again. */
const VERSION_OF_NONE = 0;

/** Keeps tokens out of every cache (RFC 6749 §5.1), and errors too. */
const noStore = httpMiddleware(async (_, next) => {
  const { headers } = await next();
  headers.set("cache-control", "no-store");
});

/** Login, refresh and logout. */
export const auth = new Router({
  prefix: "/auth",
  tags: ["auth"],
  middleware: [noStore],
  dependencies: [Depends(refuseCrossSite)],
  responses: { 403: CROSS_SITE },
});

const GRANT_TYPE = Form(t.Literal("password"), { default: "password" });

const SCOPE = Form({
  default: "",
  description: "Scopes to which the token is limited, for example for an agent. Such a token has no session.",
});

/**
 * The form of RFC 6749 §4.3.2, with each field at most once (§3.1). `grant_type` may be left out; scopes that are unknown are
 * ignored (§3.3).
 */
const getCredentials = withParams(
  { request: Request, username: Form(), password: Form(), grant_type: GRANT_TYPE, scope: SCOPE },
  async ({ request, username, password, scope }) => {
    const form = await request.form();
    const repeated = ["username", "password", "grant_type", "scope"].find((field) => form.getAll(field).length > 1);
    if (repeated !== undefined) {
      const msg = "Field should be given once";
      throw new RequestValidationError([{ type: "value_error", loc: ["form", repeated], msg }]);
    }
    const scopes = [...new Set(scope.split(" "))].filter((name) => Object.hasOwn(SCOPES, name));
    return { username, password, scopes };
  },
);

/** Responds with an access token, and sets the refresh cookie if there is a session. */
const getGrant = withParams(
  { accessTokens, settings, response: Response },
  async ({ accessTokens, settings, response }) => {
    return async (
      account: Account,
      session: IssuedRefreshToken | null,
      scopes: readonly string[] = [],
    ): Promise<TokenResponse> => {
      if (session !== null) {
        const options = { ...cookieOptions(settings), maxAge: session.maxAgeSeconds };
        response.setCookie(REFRESH_COOKIE, session.token, options);
      }
      const limit = scopes.length > 0 ? { scope: scopes.join(" ") } : {};
      const claims = { sub: account.username, ver: account.disabled ? VERSION_OF_NONE : account.version, ...limit };
      const exp = Math.floor(Date.now() / 1000) + ACCESS_TOKEN_MINUTES * 60;
      const access_token = await accessTokens.sign({ ...claims, exp });
      return { access_token, token_type: "bearer", ...limit };
    };
  },
);

/** Out of reach of scripts, of other sites, and of every path that has no use for it. */
function cookieOptions({ nodeEnv }: Settings) {
  return { httpOnly: true, sameSite: "strict", path: "/auth", secure: nodeEnv === "production" } as const;
}

auth.post(
  "/token",
  {
    summary: "Log in",
    responses: { 401: INCORRECT, 429: TOO_MANY_ATTEMPTS },
    params: {
      credentials: Depends(getCredentials),
      caller: Depends(getCaller),
      grant: Depends(getGrant),
      log: Depends(getLog),
      accounts,
      refreshTokens,
    },
    returns: TokenResponse,
  },
  async ({ credentials, caller, grant, log, accounts, refreshTokens }) => {
    const account = await accounts.authenticate(credentials.username, credentials.password, caller);
    // The cookie of a session is good for a token without limits.
    const isLimited = credentials.scopes.length > 0;
    const session = account && !isLimited ? await refreshTokens.start(account) : null;
    // A disabled user gets an invalid token, and no session.
    if (account === null || (session === null && !isLimited && !account.disabled)) {
      log.warn({}, "login failed"); // without the name: people type their password there
      throw new HTTPException(401, INCORRECT.description, { headers: { "WWW-Authenticate": "Bearer" } });
    }
    log.info({ user: account.username }, "login");
    return grant(account, session, credentials.scopes);
  },
);

auth.get(
  "/session",
  { includeInSchema: false, params: { refresh_token: Cookie({ default: null }), settings } },
  // For the page, before it asks for what would be refused: browsers write each 401 to their console.
  async ({ refresh_token, settings }) => {
    const { username, password } = DEMO_USER;
    const isDemo = settings.nodeEnv === "development";
    return { hasCookie: refresh_token !== null, demo: isDemo ? { username, password } : null };
  },
);

/** The login with an identity provider: the page needs its address. */
export const providerLogin = new Router({ prefix: "/auth", middleware: [noStore] });
providerLogin.get("/session", { includeInSchema: false }, async () => ({ hasCookie: false, demo: null, provider }));

auth.post(
  "/refresh",
  {
    summary: "Get a new access token for the refresh cookie",
    responses: { 401: UNAUTHORIZED },
    params: {
      request: Request,
      refresh_token: Cookie({ default: null }),
      grant: Depends(getGrant),
      log: Depends(getLog),
      refreshTokens,
    },
    returns: TokenResponse,
  },
  async ({ request, refresh_token, grant, log, refreshTokens }) => {
    if (refresh_token === null) {
      throw credentialsException();
    }
    const rotation = await refreshTokens.rotate(refresh_token, request.signal);
    if (rotation.outcome !== "rotated") {
      log.warn({ user: rotation.username, reason: rotation.outcome }, "refresh refused");
      throw credentialsException();
    }
    log.info({ user: rotation.user.username }, "refresh");
    return grant(rotation.user, rotation.refreshToken);
  },
);

auth.post(
  "/logout",
  {
    summary: "End the session",
    params: { refresh_token: Cookie({ default: null }), log: Depends(getLog), refreshTokens, settings },
    statusCode: 204,
  },
  async ({ refresh_token, log, refreshTokens, settings }) => {
    if (refresh_token !== null) {
      await refreshTokens.revoke(refresh_token);
      log.info({}, "logout");
    }
    const response = new Response(null, { statusCode: 204 });
    response.deleteCookie(REFRESH_COOKIE, cookieOptions(settings));
    return response;
  },
);
