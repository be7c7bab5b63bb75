import { createSecretKey, type KeyObject } from "node:crypto";

import { errors, jwtVerify, SignJWT, type JWTPayload } from "jose";
import { Depends, withParams } from "tsgi";

import { settings, weaknessOf } from "../config.js";
import { logger } from "../logging.js";

/** RFC 7519 sets no bound; ours keeps a header of junk from being decoded. */
const MAX_TOKEN_LENGTH = 4096;

/** The claims of a token that is ours. */
export interface VerifiedToken {
  readonly username: string;
  readonly version: unknown;
  readonly scopes: readonly string[] | null;
}

/** Issues and checks access tokens: JSON Web Tokens, signed with HS256 and nothing else. */
export class AccessTokens {
  /** A key object, which is made ready for use once; bytes would be for each token. */
  readonly #key: KeyObject;

  constructor(secretKey: string) {
    this.#key = createSecretKey(secretKey, "utf8");
  }

  /** Signs a token that carries the claims and expires after `expiresInMinutes`. */
  async createAccessToken(claims: JWTPayload, { expiresInMinutes = 15 } = {}): Promise<string> {
    const expires = Math.floor(Date.now() / 1000) + expiresInMinutes * 60;
    return new SignJWT({ ...claims, exp: expires }).setProtectedHeader({ alg: "HS256", typ: "JWT" }).sign(this.#key);
  }

  /**
   * Gives the subject of a token, the name of the user who logged in, the version of the account that it names, and the
   * scopes that it is limited to, `null` for none.
   *
   * @returns `null` when the token is not ours, has expired, or has no subject; there is nothing that a client needs to
   *   know about which of these it was.
   */
  async verifyAccessToken(token: string): Promise<VerifiedToken | null> {
    if (token.length > MAX_TOKEN_LENGTH) {
      return null;
    }
    try {
      // The list of algorithms is what stops `none` and key confusion (RFC 8725 §3.1).
      const { payload, protectedHeader } = await jwtVerify(token, this.#key, {
        algorithms: ["HS256"],
        requiredClaims: ["sub", "exp"],
      });
      // RFC 7515 §4.1.11: who does not understand what is critical must refuse. We understand no extension.
      const understood = protectedHeader.crit === undefined;
      const { sub, ver, scope } = payload;
      if (!understood || typeof sub !== "string" || sub === "") {
        return null;
      }
      return { username: sub, version: ver, scopes: typeof scope === "string" ? scope.split(" ") : null };
    } catch (error) {
      if (error instanceof errors.JOSEError) {
        return null;
      }
      throw error;
    }
  }
}

export const accessTokens = Depends(
  withParams({ settings, logger }, async ({ settings: { secretKey }, logger }) => {
    const weakness = weaknessOf(secretKey);
    if (weakness !== null) {
      logger.warn({}, `SECRET_KEY: ${weakness}`);
    }
    return new AccessTokens(secretKey);
  }),
  { scope: "app" },
);
