import { Depends, HTTPException, Response, Router, withParams } from "tsgi";
import { getCaller } from "@tsgi/passwords";
import { isUniqueViolation } from "@tsgi/prisma";

import { accounts } from "../accounts.js";
import { passwords, transaction } from "../database.js";
import { getCurrentAccount, getCurrentUser } from "../dependencies.js";
import { welcome } from "../extras/mail/index.js"; // with mail
import { getLog } from "../logging.js";
import { NewUser, PasswordChange, problem, User } from "../models.js";
import { credentialsException } from "../security/errors.js";

/** The current user. */
export const users = new Router({ prefix: "/users", tags: ["users"] });

/** The routes for passwords. */
export const registration = new Router({ prefix: "/users", tags: ["users"] });

const NAME_TAKEN = "Username already taken";
const INCORRECT = "Incorrect password";

/** The row of a new user. The password is hashed before the transaction begins, because that takes time. */
const getNewAccount = withParams(
  { newUser: NewUser, accounts, passwords, caller: Depends(getCaller) },
  async ({ newUser: { username, email, password }, accounts, passwords, caller }) => {
    passwords.assertAcceptable(password, ["body", "password"]);
    const hashed_password = await accounts.hashNew(password, caller);
    return { username: username.toLowerCase(), email, hashed_password };
  },
  { responses: { 429: problem("Too many registrations from one address") } },
);

registration.post(
  "",
  {
    summary: "Register",
    responses: { 409: problem(NAME_TAKEN) },
    params: {
      newAccount: Depends(getNewAccount),
      tx: transaction,
      log: Depends(getLog),
      welcome, // with mail
    },
    returns: User,
    statusCode: 201,
  },
  async (given) => {
    const { newAccount, tx, log } = given;
    const account = await tx.user.create({ data: newAccount }).catch((error: unknown) => {
      throw isUniqueViolation(error) ? new HTTPException(409, NAME_TAKEN) : error;
    });
    await given.welcome(account.id, tx); // with mail
    log.info({ user: account.username }, "registered");
    return account;
  },
);

users.get(
  "/me",
  {
    summary: "Who the token says the user is",
    mcp: { name: "who_am_i" }, // with mcp
    params: { user: Depends(getCurrentUser) },
    returns: User,
  },
  async ({ user }) => user,
);

registration.put(
  "/me/password",
  {
    summary: "Set a new password, which ends all sessions and access tokens",
    responses: { 403: problem(INCORRECT), 429: problem("Too many wrong passwords") },
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
    passwords.assertAcceptable(change.new_password, ["body", "new_password"]);
    const verified = await accounts.authenticate(account.username, change.current_password, caller);
    const isChanged = verified !== null && (await accounts.changePassword(verified, change.new_password, caller));
    if (!isChanged) {
      log.warn({ user: account.username }, "password change refused");
      // Another change, or disabling, may have been faster: the token of this request has ended with it.
      const current = await accounts.find(account.username);
      throw current?.version === account.version && !current.disabled
        ? new HTTPException(403, INCORRECT)
        : credentialsException();
    }
    log.info({ user: account.username }, "password changed");
    return new Response(null, { statusCode: 204 });
  },
);
