import { Depends, HTTPException, Request, RequestValidationError, Response, Router } from "tsgi";

import {
  credentialsException,
  getAccounts,
  getClientAddress,
  getCurrentAccount,
  getCurrentUser,
  getLog,
} from "../dependencies.js";
import {
  NAME_TAKEN,
  NewUser,
  PasswordChange,
  TOO_MANY_ATTEMPTS,
  TOO_MANY_REGISTRATIONS,
  UNAUTHORIZED,
  User,
} from "../models.js";
import { isAcceptablePassword } from "../security/passwords.js";

/** Registration, and what users may see and change of themselves. */
export const users = new Router({ prefix: "/users", tags: ["users"] });

users.post(
  "",
  {
    summary: "Register",
    responses: { 409: NAME_TAKEN, 429: TOO_MANY_REGISTRATIONS },
    params: {
      request: Request,
      newUser: NewUser,
      accounts: Depends(getAccounts),
      address: Depends(getClientAddress),
      log: Depends(getLog),
    },
    returns: User,
    statusCode: 201,
  },
  async ({ request, newUser, accounts, address, log }) => {
    checkNewPassword(newUser.password, "password");
    const account = await accounts.register(newUser, { address, signal: request.signal });
    if (account === null) {
      throw new HTTPException(409, "Username already taken");
    }
    log.info({ user: account.username }, "registered");
    return account;
  },
);

users.get(
  "/me",
  {
    summary: "Who the token says the user is",
    responses: { 401: UNAUTHORIZED },
    params: { user: Depends(getCurrentUser) },
    returns: User,
  },
  async ({ user }) => user,
);

users.put(
  "/me/password",
  {
    summary: "Set a new password, which ends all sessions and access tokens",
    responses: { 401: UNAUTHORIZED, 403: { description: "Incorrect password" }, 429: TOO_MANY_ATTEMPTS },
    params: {
      request: Request,
      change: PasswordChange,
      account: Depends(getCurrentAccount),
      accounts: Depends(getAccounts),
      address: Depends(getClientAddress),
      log: Depends(getLog),
    },
    statusCode: 204,
  },
  async ({ request, change, account, accounts, address, log }) => {
    checkNewPassword(change.new_password, "new_password");
    const client = { address, signal: request.signal };
    const verified = await accounts.authenticate(account.username, change.current_password, client);
    const isChanged = verified !== null && (await accounts.changePassword(verified, change.new_password, client));
    if (!isChanged) {
      log.warn({ user: account.username }, "password change refused");
      // Another change, or disabling, may have been faster: the token of this request has ended with it.
      const current = await accounts.find(account.username);
      throw current?.version === account.version && !current.disabled
        ? new HTTPException(403, "Incorrect password")
        : credentialsException();
    }
    log.info({ user: account.username }, "password changed");
    return new Response(null, { statusCode: 204 });
  },
);

/** @throws RequestValidationError when the password may not be chosen */
function checkNewPassword(password: string, field: string): void {
  if (!isAcceptablePassword(password)) {
    const msg = "Password should have 8 to 128 characters";
    throw new RequestValidationError([{ type: "value_error", loc: ["body", field], msg }]);
  }
}
