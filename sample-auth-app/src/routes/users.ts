import { Depends, HTTPException, RequestValidationError, Response, Router } from "tsgi";

import { accounts, getCaller } from "../accounts.js";
import { credentialsException, getCurrentAccount, getCurrentUser } from "../dependencies.js";
import { getLog } from "../logging.js";
import {
  NAME_TAKEN,
  NewUser,
  PasswordChange,
  TOO_MANY_ATTEMPTS,
  TOO_MANY_REGISTRATIONS,
  UNAUTHORIZED,
  User,
} from "../models.js";
import { provider } from "../security/provider.js";
import { passwords } from "../database.js";
import type { Passwords } from "@tsgi/passwords";

/** Registration, and what users may see and change of themselves. */
export const users = new Router({ prefix: "/users", tags: ["users"] });

/** The routes for passwords, which an identity provider replaces. */
const ownUsers = provider === null ? users : new Router();

ownUsers.post(
  "",
  {
    summary: "Register",
    responses: { 409: NAME_TAKEN, 429: TOO_MANY_REGISTRATIONS },
    params: {
      newUser: NewUser,
      accounts,
      passwords,
      caller: Depends(getCaller),
      log: Depends(getLog),
    },
    returns: User,
    statusCode: 201,
  },
  async ({ newUser, accounts, passwords, caller, log }) => {
    checkNewPassword(passwords, newUser.password, "password");
    const account = await accounts.register(newUser, caller);
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

ownUsers.put(
  "/me/password",
  {
    summary: "Set a new password, which ends all sessions and access tokens",
    responses: { 401: UNAUTHORIZED, 403: { description: "Incorrect password" }, 429: TOO_MANY_ATTEMPTS },
    params: {
      change: PasswordChange,
      account: Depends(getCurrentAccount),
      accounts,
      passwords,
      caller: Depends(getCaller),
      log: Depends(getLog),
    },
    statusCode: 204,
  },
  async ({ change, account, accounts, passwords, caller, log }) => {
    checkNewPassword(passwords, change.new_password, "new_password");
    const verified = await accounts.authenticate(account.username, change.current_password, caller);
    const isChanged = verified !== null && (await accounts.changePassword(verified, change.new_password, caller));
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
function checkNewPassword(passwords: Passwords, password: string, field: string): void {
  if (!passwords.isAcceptable(password)) {
    const msg = "Password should have 8 to 128 characters";
    throw new RequestValidationError([{ type: "value_error", loc: ["body", field], msg }]);
  }
}
