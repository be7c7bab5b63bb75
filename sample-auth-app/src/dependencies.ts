import { Depends, Header, HTTPConnection, HTTPException, withParams } from "tsgi";
import { OAuth2PasswordBearer } from "tsgi/security";

import { accounts } from "./accounts.js";
import type { Account, User } from "./models.js";
import { accessTokens } from "./security/tokens.js";

/** Tells the document, and so "Authorize" on its page, how to log in. It refuses nothing: all faults have one answer. */
const oauth2Scheme = new OAuth2PasswordBearer({ tokenUrl: "/auth/token", autoError: false });

/** The account of the user whose bearer token the request carries, or 401 for every fault it can have. */
export const getCurrentAccount = withParams(
  {
    connection: HTTPConnection,
    scheme: Depends(oauth2Scheme),
    authorization: Header({ default: null, includeInSchema: false }),
    accessTokens,
    accounts,
  },
  async ({ connection, authorization, accessTokens, accounts }): Promise<Account> => {
    // Of two headers, the parameter is the last, and a proxy may have looked at the first.
    const isOnly = connection.headers["authorization"] === authorization;
    if (!isOnly || !authorization?.startsWith("Bearer ")) {
      throw credentialsException();
    }
    const token = await accessTokens.verifyAccessToken(authorization.slice("Bearer ".length));
    const account = token && (await accounts.find(token.username));
    // A token of another program that has the key need not name a version: it is good until it expires.
    const isCurrent = token?.version === undefined || token.version === account?.version;
    if (account === null || account.disabled || !isCurrent) {
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
    const isForeign = origin !== null && (!URL.canParse(origin) || new URL(origin).host !== host);
    if (isForeign || secFetchSite === "cross-site") {
      throw new HTTPException(403, "Cross-site requests are refused");
    }
  },
);

/** The one answer to every fault of a token: which it was is nothing that a client needs to know. */
export function credentialsException(): HTTPException {
  return new HTTPException(401, "Could not validate credentials", { headers: { "WWW-Authenticate": "Bearer" } });
}
