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

import type { Config } from "../config.js";
import {
  credentialsException,
  getAccessTokens,
  getAccounts,
  getClientAddress,
  getConfig,
  getLog,
  getRefreshTokens,
  refuseCrossSite,
} from "../dependencies.js";
import { noStore } from "../middleware.js";
import { type Account, CROSS_SITE, INCORRECT, TokenResponse, TOO_MANY_ATTEMPTS, UNAUTHORIZED } from "../models.js";
import { DEMO_USER } from "../seed.js";
import type { IssuedRefreshToken } from "../security/refresh-tokens.js";
import type { AccessTokens } from "../security/tokens.js";

const ACCESS_TOKEN_MINUTES = 30;
const REFRESH_COOKIE = "refresh_token";
/** Versions of accounts begin at 1: the token of a disabled user stays without use when the account is enabled again. */
const VERSION_OF_NONE = 0;

/** Login, refresh and logout. */
export const auth = new Router({ prefix: "/auth", tags: ["auth"], middleware: [noStore] });

/** The form of RFC 6749 §4.3.2, with each field at most once (§3.1). `grant_type` may be left out. */
const getCredentials = withParams(
  {
    request: Request,
    username: Form(),
    password: Form(),
    grant_type: Form(t.Literal("password"), { default: "password" }),
  },
  async ({ request, username, password }) => {
    const form = await request.form();
    for (const field of ["username", "password", "grant_type"]) {
      if (form.getAll(field).length > 1) {
        throw new RequestValidationError([
          { type: "value_error", loc: ["form", field], msg: "Field should be given once" },
        ]);
      }
    }
    return { username, password };
  },
);

auth.post(
  "/token",
  {
    summary: "Log in",
    responses: { 401: INCORRECT, 403: CROSS_SITE, 429: TOO_MANY_ATTEMPTS },
    dependencies: [Depends(refuseCrossSite)],
    params: {
      request: Request,
      credentials: Depends(getCredentials),
      accounts: Depends(getAccounts),
      accessTokens: Depends(getAccessTokens),
      refreshTokens: Depends(getRefreshTokens),
      address: Depends(getClientAddress),
      config: Depends(getConfig),
      log: Depends(getLog),
      response: Response,
    },
    returns: TokenResponse,
  },
  async ({ request, credentials, accounts, accessTokens, refreshTokens, address, config, log, response }) => {
    const { username, password } = credentials;
    const account = await accounts.authenticate(username, password, { address, signal: request.signal });
    const session = account && (await refreshTokens.start(account));
    // A disabled user gets a token that is good for nothing, and no session.
    if (account === null || (session === null && !account.disabled)) {
      log.warn({}, "login failed"); // without the name: people type their password there
      throw new HTTPException(401, "Incorrect username or password", { headers: { "WWW-Authenticate": "Bearer" } });
    }
    if (session !== null) {
      setRefreshCookie(response, session, config);
    }
    log.info({ user: account.username }, "login");
    return tokenResponse(accessTokens, account);
  },
);

auth.get(
  "/session",
  { includeInSchema: false, params: { refresh_token: Cookie({ default: null }), config: Depends(getConfig) } },
  // For the page, before it asks for what would be refused: browsers write each 401 to their console.
  async ({ refresh_token, config }) => {
    const { username, password } = DEMO_USER;
    return {
      hasCookie: refresh_token !== null,
      demo: config.environment === "development" ? { username, password } : null,
    };
  },
);

auth.post(
  "/refresh",
  {
    summary: "Get a new access token for the refresh cookie",
    responses: { 401: UNAUTHORIZED, 403: CROSS_SITE },
    dependencies: [Depends(refuseCrossSite)],
    params: {
      request: Request,
      refresh_token: Cookie({ default: null }),
      accessTokens: Depends(getAccessTokens),
      refreshTokens: Depends(getRefreshTokens),
      config: Depends(getConfig),
      log: Depends(getLog),
      response: Response,
    },
    returns: TokenResponse,
  },
  async ({ request, refresh_token, accessTokens, refreshTokens, config, log, response }) => {
    if (refresh_token === null) {
      throw credentialsException();
    }
    const rotation = await refreshTokens.rotate(refresh_token, request.signal);
    if (rotation.outcome !== "rotated") {
      log.warn({ user: rotation.username, reason: rotation.outcome }, "refresh refused");
      throw credentialsException();
    }
    setRefreshCookie(response, rotation.refreshToken, config);
    log.info({ user: rotation.user.username }, "refresh");
    return tokenResponse(accessTokens, rotation.user);
  },
);

auth.post(
  "/logout",
  {
    summary: "End the session",
    responses: { 403: CROSS_SITE },
    dependencies: [Depends(refuseCrossSite)],
    params: {
      refresh_token: Cookie({ default: null }),
      refreshTokens: Depends(getRefreshTokens),
      config: Depends(getConfig),
      log: Depends(getLog),
    },
    statusCode: 204,
  },
  async ({ refresh_token, refreshTokens, config, log }) => {
    if (refresh_token !== null) {
      await refreshTokens.revoke(refresh_token);
      log.info({}, "logout");
    }
    const response = new Response(null, { statusCode: 204 });
    response.deleteCookie(REFRESH_COOKIE, cookieOptions(config));
    return response;
  },
);

async function tokenResponse(accessTokens: AccessTokens, account: Account): Promise<TokenResponse> {
  const { username, version, disabled } = account;
  const access_token = await accessTokens.createAccessToken(
    { sub: username, ver: disabled ? VERSION_OF_NONE : version },
    { expiresInMinutes: ACCESS_TOKEN_MINUTES },
  );
  return { access_token, token_type: "bearer" };
}

function setRefreshCookie(response: Response, { token, maxAgeSeconds }: IssuedRefreshToken, config: Config): void {
  response.setCookie(REFRESH_COOKIE, token, { ...cookieOptions(config), maxAge: maxAgeSeconds });
}

/** Out of reach of scripts, of other sites, and of every path that has no use for it. */
function cookieOptions(config: Config) {
  return { httpOnly: true, sameSite: "strict", path: "/auth", secure: config.environment === "production" } as const;
}
