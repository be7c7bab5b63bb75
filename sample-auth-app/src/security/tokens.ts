import { AccessTokens } from "@tsgi/oauth";
import { Depends, withParams } from "tsgi";

import { INSECURE_SECRET_KEY, settings, weaknessOf } from "../config.js";
import { logger } from "../logging.js";

/** A token that the login issues has about 200 characters. A longer one than this is not decoded. */
const MAX_TOKEN_LENGTH = 4096;

/** Access tokens: JSON Web Tokens, signed with HS256. They last 15 minutes, unless their claims contain `exp`. */
export const createTokens = (secret: string) => new AccessTokens({ secret, expiresInSeconds: 15 * 60 });

/** Reads a token; `null` if it is not ours, has expired, or has no subject: the client is not told which. */
export async function readToken(tokens: AccessTokens, token: string) {
  const claims = token.length > MAX_TOKEN_LENGTH ? null : await tokens.verify(token);
  if (typeof claims?.sub !== "string" || claims.sub === "") {
    return null;
  }
  // `version` is undefined if another program issued it, and `scopes` is null if it is not limited.
  const { sub: username, ver: version, scope } = claims;
  return { username, version, scopes: typeof scope === "string" ? scope.split(" ") : null };
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
