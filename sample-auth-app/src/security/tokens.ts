import { AccessTokens } from "@tsgi/oauth";
import { Depends, withParams } from "tsgi";

import { INSECURE_SECRET_KEY, settings, weaknessOf } from "../config.js";
import { logger } from "../logging.js";

/** A token that the login issues has about 200 characters. A longer one than this is not decoded. */
const MAX_TOKEN_LENGTH = 4096;

/** Lifetime of a token, unless its claims contain `exp`. */
const DEFAULT_SECONDS = 15 * 60;

/** The claims of a valid token. */
export interface VerifiedToken {
  readonly username: string;
  /** The version of the account when the token was issued; `undefined` if another program issued it. */
  readonly version: unknown;
  /** The scopes that the token is limited to; `null` if it is not limited. */
  readonly scopes: readonly string[] | null;
}

/** Access tokens: JSON Web Tokens, signed with HS256. */
export const createTokens = (secret: string) => new AccessTokens({ secret, expiresInSeconds: DEFAULT_SECONDS });

/** Reads a token. Returns `null` if it is not ours, has expired, or has no subject: the client is not told which. */
export async function readToken(tokens: AccessTokens, token: string): Promise<VerifiedToken | null> {
  const claims = token.length > MAX_TOKEN_LENGTH ? null : await tokens.verify(token);
  if (typeof claims?.sub !== "string" || claims.sub === "") {
    return null;
  }
  const { sub, ver, scope } = claims;
  return { username: sub, version: ver, scopes: typeof scope === "string" ? scope.split(" ") : null };
}

export const accessTokens = Depends(
  withParams({ settings, logger }, async ({ settings: { secretKey }, logger }) => {
    if (secretKey === INSECURE_SECRET_KEY) {
      logger.warn({}, `SECRET_KEY: ${weaknessOf(secretKey)}`);
    }
    return createTokens(secretKey);
  }),
  { scope: "app" },
);
