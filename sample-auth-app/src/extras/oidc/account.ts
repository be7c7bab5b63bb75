import { createHash } from "node:crypto";

import { JWTBearer } from "@tsgi/oauth";
import { Depends, withParams } from "tsgi";

import { database, type Database } from "../../database.js";
import { type Account, USERNAME } from "../../models.js";
import { credentialsException, responses } from "../../security/errors.js";
import { readProvider } from "./settings.js";

/** The identity provider, if `OIDC_ISSUER` is set. Users then log in there, and not with a password of this application. */
export const provider = readProvider();

/** Stored instead of a hash: no password matches it. */
const NO_PASSWORD = "!";

/** Verifies the tokens of the provider; `null` without one. */
export const bearer =
  provider && new JWTBearer({ issuer: provider.issuer, audience: provider.audience, resource: provider.audience });

/** The account of a user who logs in at the identity provider. The scheme checks the token and its scopes. */
export const getProviderAccount =
  bearer &&
  withParams(
    { claims: Depends(bearer), db: database },
    async ({ claims: { sub, email }, db }): Promise<Account> => {
      const account = sub && (await findOrAdd(db, usernameOf(sub), typeof email === "string" ? email : ""));
      if (!account || account.disabled) {
        throw credentialsException();
      }
      return account;
    },
    { responses },
  );

/**
 * Finds the account of a user of the identity provider, and adds it at the first login; `null` for an account with a password.
 * That was registered here, and belongs to another person, even if the name is the same.
 */
export async function findOrAdd(db: Database, username: string, email: string): Promise<Account | null> {
  const create = { username, email, hashed_password: NO_PASSWORD };
  const account = await db.user.upsert({ where: { username }, create, update: { username } });
  return account.hashed_password === NO_PASSWORD ? account : null;
}

/**
 * The user name of a subject of the provider: the subject itself if it is a name in lower case, else its hash. Names are
 * case-insensitive here and subjects are not, so two subjects never share a name.
 */
export function usernameOf(subject: string): string {
  const isName = USERNAME.test(subject) && !/[A-Z]|^user-/.test(subject);
  return isName ? subject : `user-${createHash("sha256").update(subject).digest("hex").slice(0, 40)}`;
}
