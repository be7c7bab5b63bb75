import { Depends, Header, HTTPException, Request, withParams } from "tsgi";
import { OAuth2PasswordBearer } from "tsgi/security";

import type { Account, User } from "./models.js";
import { Services } from "./services.js";

/** What the application's lifespan has put into the state that each request gets. */
export const getServices = withParams({ request: Request }, async ({ request }) => {
  const { services } = request.state;
  if (!(services instanceof Services)) {
    throw new TypeError("the lifespan of the application has not run: use serve(), or TestClient in tests");
  }
  return services;
});

export const getConfig = withParams({ services: Depends(getServices) }, async ({ services }) => services.config);
export const getDb = withParams({ services: Depends(getServices) }, async ({ services }) => services.db);
export const getAccounts = withParams({ services: Depends(getServices) }, async ({ services }) => services.accounts);
export const getAccessTokens = withParams(
  { services: Depends(getServices) },
  async ({ services }) => services.accessTokens,
);
export const getRefreshTokens = withParams(
  { services: Depends(getServices) },
  async ({ services }) => services.refreshTokens,
);

/** The address of the other end of the connection, or what one of the proxies in `TRUSTED_PROXIES` says that it is. */
export const getClientAddress = withParams(
  { request: Request },
  async ({ request }) => request.client?.host ?? "unknown",
);

/** The log, with this request's id and the client's address on each line. */
export const getLog = withParams(
  { services: Depends(getServices), request: Request, address: Depends(getClientAddress) },
  async ({ services, request, address }) => services.log.child({ requestId: request.state["requestId"], address }),
);

/** Tells the document, and so "Authorize" on its page, how to log in. It refuses nothing: all faults have one answer. */
const oauth2Scheme = new OAuth2PasswordBearer({ tokenUrl: "/auth/token", autoError: false });

/** The account of the user whose bearer token the request carries, or 401 for every fault it can have. */
export const getCurrentAccount = withParams(
  {
    request: Request,
    scheme: Depends(oauth2Scheme),
    authorization: Header({ default: null, includeInSchema: false }),
    accessTokens: Depends(getAccessTokens),
    accounts: Depends(getAccounts),
  },
  async ({ request, authorization, accessTokens, accounts }): Promise<Account> => {
    // Of two headers, the parameter is the last, and a proxy may have looked at the first.
    const isOnly = request.headers["authorization"] === authorization;
    if (!isOnly || !authorization?.startsWith("Bearer ")) {
      throw credentialsException();
    }
    const token = await accessTokens.verifyAccessToken(authorization.slice("Bearer ".length));
    const account = token && (await accounts.find(token.username));
    if (account === null || account.disabled) {
      throw credentialsException();
    }
    // A token of another program that has the key need not name a version: it is good until it expires.
    if (token?.version !== undefined && token.version !== account.version) {
      throw credentialsException();
    }
    return account;
  },
);

/** The user who makes the request, without what is nobody else's business. */
export const getCurrentUser = withParams(
  { account: Depends(getCurrentAccount) },
  async ({ account: { username, email, disabled } }): Promise<User> => ({ username, email, disabled }),
);

/**
 * Refuses a request that another site's page makes the browser send. `SameSite=Strict` keeps the cookie out of it
 * already; this holds where a browser does not know that, and for a page on a sibling subdomain. Of a login it keeps out
 * the form that would make this browser the attacker's session, to whom the victim then gives what is theirs. A client
 * that is no browser sends neither header.
 */
export const refuseCrossSite = withParams(
  {
    host: Header({ default: null, includeInSchema: false }),
    origin: Header({ default: null, includeInSchema: false }),
    secFetchSite: Header({ default: null, includeInSchema: false }),
  },
  async ({ host, origin, secFetchSite }) => {
    // The origin of our own pages is the host that was asked; the scheme is the proxy's matter.
    const foreign = origin !== null && (!URL.canParse(origin) || new URL(origin).host !== host);
    if (foreign || secFetchSite === "cross-site") {
      throw new HTTPException(403, "Cross-site requests are refused");
    }
  },
);

/** The one answer to every fault of a token: which it was is nothing that a client needs to know. */
export function credentialsException(): HTTPException {
  return new HTTPException(401, "Could not validate credentials", { headers: { "WWW-Authenticate": "Bearer" } });
}
