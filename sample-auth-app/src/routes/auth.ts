import { Cookie, Depends, HTTPException, Request, Response, Router, withParams } from "tsgi";
import { csrf, httpMiddleware } from "tsgi/middleware";
import { OAuth2PasswordRequestForm } from "tsgi/security";
import type { IssuedRefreshToken } from "@tsgi/oauth";
import { getCaller } from "@tsgi/passwords";

import { accounts } from "../accounts.js";
import { settings, type Settings } from "../config.js";
import { database } from "../database.js";
import { SCOPES } from "../dependencies.js";
import { getLog } from "../logging.js";
import { type Account, problem, TokenResponse } from "../models.js";
import { credentialsException, NOT_VALIDATED } from "../security/errors.js";
import { refreshTokens, startSession } from "../security/refresh-tokens.js";
import { accessTokens } from "../security/tokens.js";

const ACCESS_TOKEN_MINUTES = 30;
const INCORRECT = "Incorrect username or password";
const REFRESH_COOKIE = "refresh_token";
/** Versions of accounts begin at 1: the token of a disabled user stays without use when the account is enabled again. */
const VERSION_OF_NONE = 0;

/** Keeps tokens out of every cache (RFC 6749 §5.1), and errors too. */
export const noStore = httpMiddleware(async (_, next) => {
  const { headers } = await next();
  headers.set("cache-control", "no-store");
});

/** Login, refresh and logout. Pages of other sites cannot use them, not even to log a user in to another account. */
export const auth = new Router({
  prefix: "/auth",
  tags: ["auth"],
  middleware: [noStore, csrf({ allowPrograms: true })],
});

/** Responds with an access token, and sets the refresh cookie if there is a session. */
const getGrant = withParams(
  { accessTokens, settings, response: Response },
  ({ accessTokens, settings, response }) =>
    async (account: Account, session: IssuedRefreshToken | null, scopes: readonly string[] = []) => {
      if (session !== null) {
        const options = { ...cookieOptions(settings), maxAge: session.maxAgeSeconds };
        response.setCookie(REFRESH_COOKIE, session.token, options);
      }
      const limit = scopes.length > 0 ? { scope: scopes.join(" ") } : {};
      const claims = { sub: account.username, ver: account.disabled ? VERSION_OF_NONE : account.version, ...limit };
      const exp = Math.floor(Date.now() / 1000) + ACCESS_TOKEN_MINUTES * 60;
      return { access_token: await accessTokens.sign({ ...claims, exp }), token_type: "bearer", ...limit };
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
    description: "A token that is limited to scopes, for example for an agent, has no session.",
    responses: { 401: problem(INCORRECT), 429: problem("Too many wrong passwords") },
    params: {
      form: Depends(OAuth2PasswordRequestForm),
      caller: Depends(getCaller),
      grant: Depends(getGrant),
      log: Depends(getLog),
      accounts,
      refreshTokens,
      db: database,
    },
    returns: TokenResponse,
  },
  async ({ form, caller, grant, log, accounts, refreshTokens, db }) => {
    const account = await accounts.authenticate(form.username, form.password, caller);
    const scopes = form.scopes.filter((name) => Object.hasOwn(SCOPES, name)); // others are ignored (RFC 6749 §3.3)
    // The cookie of a session is good for a token without limits.
    const isLimited = scopes.length > 0;
    const session = account && !isLimited ? await startSession(db, refreshTokens, account) : null;
    // A disabled user gets an invalid token, and no session.
    if (account === null || (session === null && !isLimited && !account.disabled)) {
      log.warn({}, "login failed"); // without the name: people type their password there
      throw new HTTPException(401, INCORRECT, { headers: { "WWW-Authenticate": "Bearer" } });
    }
    log.info({ user: account.username }, "login");
    return grant(account, session, scopes);
  },
);

auth.post(
  "/refresh",
  {
    summary: "Get a new access token for the refresh cookie",
    responses: { 401: problem(NOT_VALIDATED) },
    params: {
      request: Request,
      refresh_token: Cookie({ default: null }),
      grant: Depends(getGrant),
      log: Depends(getLog),
      refreshTokens,
    },
    returns: TokenResponse,
  },
  async ({ request: { signal }, refresh_token, grant, log, refreshTokens }) => {
    if (refresh_token === null) {
      throw credentialsException();
    }
    const rotation = await refreshTokens.rotate(refresh_token, { signal });
    if (rotation.outcome !== "rotated") {
      log.warn({ user: rotation.session?.user.username, reason: rotation.outcome }, "refresh refused");
      throw credentialsException();
    }
    const { user } = rotation.session;
    log.info({ user: user.username }, "refresh");
    return grant(user, rotation);
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
