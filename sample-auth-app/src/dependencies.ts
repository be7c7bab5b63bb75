import { Depends, Header, HTTPConnection, HTTPException, SecurityScopes, withParams } from "tsgi";
import { OAuth2PasswordBearer } from "tsgi/security";

import { accounts } from "./accounts.js";
import { bearer, usernameOf } from "./security/provider.js";
import type { Account, User } from "./models.js";
import { accessTokens, readToken } from "./security/tokens.js";

/** The scopes that a login may ask for. A token of a login without scopes is not limited. */
export const SCOPES: Readonly<Record<string, string>> = {
  "items:read": "See the user's items.",
  "items:write": "Add and remove the user's items.",
};

/** Tells the document, and so "Authorize" on its page, how to log in. All errors have the same response. */
const oauth2Scheme = new OAuth2PasswordBearer({ tokenUrl: "/auth/token", scopes: { ...SCOPES }, autoError: false });

/**
 * The account of the user whose bearer token the request contains, or 401 for any error. A token that is limited to
 * scopes is good only where a route asks for some of them, else 403.
 */
const getOwnAccount = withParams(
  {
    connection: HTTPConnection,
    scheme: Depends(oauth2Scheme),
    authorization: Header({ default: null, includeInSchema: false }),
    asked: SecurityScopes,
    accessTokens,
    accounts,
  },
  async ({ connection, authorization, asked: { scopes }, accessTokens, accounts }): Promise<Account> => {
    // Of two headers, the parameter is the last, and a proxy may have looked at the first.
    const isOnly = connection.headers["authorization"] === authorization;
    const bearerToken = isOnly ? /^Bearer (.*)$/s.exec(authorization ?? "")?.[1] : undefined;
    const token = bearerToken === undefined ? null : await readToken(accessTokens, bearerToken);
    const account = token && (await accounts.find(token.username));
    if (!account || account.disabled || !isCurrent(token.version, account)) {
      throw credentialsException();
    }
    if (!suffices(token.scopes, scopes)) {
      throw insufficientScope(scopes);
    }
    return account;
  },
);

/** The account of a user who logs in at the identity provider. The scheme checks the token and its scopes. */
const getProviderAccount =
  bearer &&
  withParams({ claims: Depends(bearer), accounts }, async ({ claims: { sub, email }, accounts }): Promise<Account> => {
    const account = sub && (await accounts.findOrAdd(usernameOf(sub), typeof email === "string" ? email : ""));
    if (!account || account.disabled) {
      throw credentialsException();
    }
    return account;
  });

/** The account of the user who makes the request. */
export const getCurrentAccount = getProviderAccount ?? getOwnAccount;

/** The current user, without private fields. */
export const getCurrentUser = withParams(
  { account: Depends(getCurrentAccount) },
  async ({ account: { username, email, disabled } }): Promise<User> => ({ username, email, disabled }),
);

/** The response to any token error. It is always the same, so that clients cannot tell the errors apart. */
export function credentialsException(): HTTPException {
  return new HTTPException(401, "Could not validate credentials", { headers: { "WWW-Authenticate": "Bearer" } });
}

/** A token of another program that has the key need not name a version: it is good until it expires. */
const isCurrent = (version: unknown, account: Account) => version === undefined || version === account.version;

/** Tells if a token with these scopes, or without limits, is good for a route that asks for others. */
function suffices(scopes: readonly string[] | null, asked: readonly string[]): boolean {
  return scopes === null || (asked.length > 0 && asked.every((scope) => scopes.includes(scope)));
}

/** The response to a token with insufficient scopes (RFC 6750 §3.1). */
function insufficientScope(scopes: readonly string[]): HTTPException {
  const needed = scopes.length > 0 ? `, scope="${scopes.join(" ")}"` : "";
  const headers = { "WWW-Authenticate": `Bearer error="insufficient_scope"${needed}` };
  return new HTTPException(403, "Not enough scopes", { headers });
}
