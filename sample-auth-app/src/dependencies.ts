import { Depends, Header, HTTPConnection, HTTPException, SecurityScopes, withParams } from "tsgi";
import { OAuth2PasswordBearer } from "tsgi/security";

import { accounts } from "./accounts.js";
import { bearer, usernameOf } from "./security/provider.js";
import { type Account, problem, type User } from "./models.js";
import { accessTokens, readToken } from "./security/tokens.js";

/** The scopes that a login may ask for. A token of a login without scopes is not limited. */
export const SCOPES: Readonly<Record<string, string>> = {
  "items:read": "See the user's items.",
  "items:write": "Add and remove the user's items.",
};

/** Tells the document, and so "Authorize" on its page, how to log in. All errors have the same response. */
const oauth2Scheme = new OAuth2PasswordBearer({ tokenUrl: "/auth/token", scopes: { ...SCOPES }, autoError: false });

export const NOT_VALIDATED = "Could not validate credentials";
const NOT_ENOUGH_SCOPES = "Not enough scopes";
const responses = { 401: problem(NOT_VALIDATED), 403: problem(NOT_ENOUGH_SCOPES) };

/** The account of the user whose bearer token the request contains. */
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
    if (token.scopes !== null && !suffice(token.scopes, scopes)) {
      throw insufficientScope(scopes);
    }
    return account;
  },
  { responses },
);

/** The account of a user who logs in at the identity provider. The scheme checks the token and its scopes. */
const getProviderAccount =
  bearer &&
  withParams(
    { claims: Depends(bearer), accounts },
    async ({ claims: { sub, email }, accounts }): Promise<Account> => {
      const account = sub && (await accounts.findOrAdd(usernameOf(sub), typeof email === "string" ? email : ""));
      if (!account || account.disabled) {
        throw credentialsException();
      }
      return account;
    },
    { responses },
  );

/** The account of the user who makes the request. */
export const getCurrentAccount = getProviderAccount ?? getOwnAccount;

/** The current user, without private fields. */
export const getCurrentUser = withParams(
  { account: Depends(getCurrentAccount) },
  async ({ account: { username, email, disabled } }): Promise<User> => ({ username, email, disabled }),
);

/** The response to any token error. It is always the same, so that clients cannot tell the errors apart. */
export function credentialsException(): HTTPException {
  return new HTTPException(401, NOT_VALIDATED, { headers: { "WWW-Authenticate": "Bearer" } });
}

/** A token of another program that has the key need not name a version: it is good until it expires. */
const isCurrent = (version: unknown, account: Account) => version === undefined || version === account.version;

/** A token that is limited to scopes is good only for routes that ask for some of them. */
const suffice = (granted: readonly string[], asked: readonly string[]) =>
  asked.length > 0 && asked.every((scope) => granted.includes(scope));

/** The response to a token with insufficient scopes (RFC 6750 §3.1). */
function insufficientScope(scopes: readonly string[]): HTTPException {
  const needed = scopes.length > 0 ? `, scope="${scopes.join(" ")}"` : "";
  const headers = { "WWW-Authenticate": `Bearer error="insufficient_scope"${needed}` };
  return new HTTPException(403, NOT_ENOUGH_SCOPES, { headers });
}
