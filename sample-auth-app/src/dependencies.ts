import { Depends, Header, HTTPConnection, HTTPException, SecurityScopes, withParams } from "tsgi";
import { OAuth2PasswordBearer } from "tsgi/security";

import { accounts } from "./accounts.js";
import type { Account, User } from "./models.js";
import { accessTokens, readToken } from "./security/tokens.js";

/** The scopes that a login may ask for. A token of a login that asks for none is not limited. */
export const SCOPES: Readonly<Record<string, string>> = {
  "items:read": "See the user's items.",
  "items:write": "Add and remove the user's items.",
};

/** Tells the document, and so "Authorize" on its page, how to log in. It refuses nothing: all faults have one answer. */
const oauth2Scheme = new OAuth2PasswordBearer({ tokenUrl: "/auth/token", scopes: { ...SCOPES }, autoError: false });

/**
 * The account of the user whose bearer token the request carries, or 401 for every fault it can have. A token that is limited
 * to scopes is good only where a route asks for some of them, else 403.
 */
export const getCurrentAccount = withParams(
  {
    connection: HTTPConnection,
    scheme: Depends(oauth2Scheme),
    authorization: Header({ default: null, includeInSchema: false }),
    asked: SecurityScopes,
    accessTokens,
    accounts,
  },
  async ({ connection, authorization, asked, accessTokens, accounts }): Promise<Account> => {
    // Of two headers, the parameter is the last, and a proxy may have looked at the first.
    const isOnly = connection.headers["authorization"] === authorization;
    if (!isOnly || !authorization?.startsWith("Bearer ")) {
      throw credentialsException();
    }
    const token = await readToken(accessTokens, authorization.slice("Bearer ".length));
    if (token === null) {
      throw credentialsException();
    }
    const account = await accounts.find(token.username);
    // A token of another program that has the key need not name a version: it is good until it expires.
    const isCurrent = token.version === undefined || token.version === account?.version;
    if (account === null || account.disabled || !isCurrent) {
      throw credentialsException();
    }
    if (!suffices(token.scopes, asked.scopes)) {
      throw insufficientScope(asked.scopes);
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

/** Tells if a token with these scopes, or without limits, is good for a route that asks for others. */
function suffices(scopes: readonly string[] | null, asked: readonly string[]): boolean {
  return scopes === null || (asked.length > 0 && asked.every((scope) => scopes.includes(scope)));
}

/** The answer to a token whose scopes do not suffice (RFC 6750 §3.1). */
function insufficientScope(scopes: readonly string[]): HTTPException {
  const needed = scopes.length > 0 ? `, scope="${scopes.join(" ")}"` : "";
  const headers = { "WWW-Authenticate": `Bearer error="insufficient_scope"${needed}` };
  return new HTTPException(403, "Not enough scopes", { headers });
}
