import { Depends, Header, HTTPConnection, SecurityScopes, withParams } from "tsgi";
import { OAuth2PasswordBearer } from "tsgi/security";

import { accounts } from "./accounts.js";
import { getProviderAccount } from "./extras/oidc/account.js"; // with oidc
import type { Account, User } from "./models.js";
import { credentialsException, insufficientScope, responses } from "./security/errors.js";
import { accessTokens, readToken } from "./security/tokens.js";

/** The scopes that a login may request. A token of a login without scopes is not limited. */
// with items:
export const SCOPES: Readonly<Record<string, string>> = {
  "items:read": "See the user's items.",
  "items:write": "Add and remove the user's items.",
};
// end items
// without items: export const SCOPES: Readonly<Record<string, string>> = {};

/** Tells the document, and so "Authorize" on its page, how to log in. All errors have the same response. */
const oauth2Scheme = new OAuth2PasswordBearer({ tokenUrl: "/auth/token", scopes: { ...SCOPES }, autoError: false });

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

/** The account of the user who makes the request. */
export const getCurrentAccount = getProviderAccount ?? getOwnAccount; // with oidc
// without oidc: export const getCurrentAccount = getOwnAccount;

/** The current user, without private fields. */
export const getCurrentUser = withParams(
  { account: Depends(getCurrentAccount) },
  async ({ account: { username, email, disabled } }): Promise<User> => ({ username, email, disabled }),
);

/** A token of another program that has the key need not name a version: it is good until it expires. */
const isCurrent = (version: unknown, account: Account) => version === undefined || version === account.version;

/** A token that is limited to scopes is good only for routes that ask for some of them. */
const suffice = (granted: readonly string[], asked: readonly string[]) =>
  asked.length > 0 && asked.every((scope) => granted.includes(scope));
