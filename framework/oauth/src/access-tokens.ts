/** Your own access tokens. @module */
import type { CryptoKey, JWTVerifyOptions, KeyObject } from "jose";
import { ANYTHING, assertOptions, expecting, type OptionRules, TEXT } from "tsgi/internals";
import { type Claims, verifyToken } from "./claims.js";
import * as jose from "jose";
import { keysOf, type TokenKeys } from "./keys.js";
import { NAMES } from "./options.js";

/** The options of `AccessTokens`. */
export interface AccessTokensOptions {
  /** At least 32 random bytes, for services that share it. Pass this or `privateKey`. */
  secret?: string | Uint8Array;
  /**
   * A private key: text in PKCS #8, a `KeyObject` or a `CryptoKey`. Other services can verify the tokens with the public key, and
   * cannot create any.
   */
  privateKey?: string | KeyObject | CryptoKey;
  /** The claim `iss` of new tokens, and required when a token is verified. */
  issuer?: string;
  /** The claim `aud` of new tokens, and required when a token is verified. */
  audience?: string | string[];
  /** Seconds after which a token expires. */
  expiresInSeconds: number;
  /** Defaults to `"HS256"` for a secret. For a private key it follows from the key. */
  algorithm?: string;
}

const OPTIONS: OptionRules<AccessTokensOptions> = {
  secret: ANYTHING, // these two are checked when they are read
  privateKey: ANYTHING,
  issuer: TEXT,
  audience: NAMES,
  expiresInSeconds: expecting("a number of seconds above 0", (value) => Number.isFinite(value) && Number(value) > 0),
  algorithm: TEXT,
};

/**
 * Signs and verifies access tokens: JSON Web Tokens (RFC 7519) with one key and one algorithm.
 *
 * @example
 * ```ts
 * import { AccessTokens } from "@tsgi/oauth";
 *
 * const tokens = new AccessTokens({ secret: "a-random-secret-of-32-bytes-or-more", expiresInSeconds: 30 * 60 });
 * const token = await tokens.sign({ sub: "ada", scope: "items:read" });
 * console.log((await tokens.verify(token))?.sub); // ada
 * console.log(await tokens.verify("forged")); // null
 * ```
 */
export class AccessTokens {
  readonly #keys: TokenKeys;
  readonly #fixed: { readonly iss?: string; readonly aud?: string | string[] };
  readonly #expiresInSeconds: number;
  readonly #rules: JWTVerifyOptions;

  /** @throws ConfigurationError for a short secret, a key or an algorithm that cannot be used, and for an unknown option. */
  constructor(options: AccessTokensOptions) {
    assertOptions("new AccessTokens()", options, OPTIONS);
    const { issuer, audience, expiresInSeconds } = options;
    OPTIONS.expiresInSeconds("new AccessTokens()", "expiresInSeconds", expiresInSeconds);
    this.#keys = keysOf(options);
    this.#fixed = { ...(issuer && { iss: issuer }), ...(audience && { aud: audience }) };
    this.#expiresInSeconds = expiresInSeconds;
    // The list of algorithms prevents `none` and key confusion (RFC 8725 §3.1).
    this.#rules = { algorithms: [this.#keys.algorithm], ...(issuer && { issuer }), ...(audience && { audience }) };
  }

  /** Signs a token with these claims, and with `iat`, `exp`, `iss` and `aud`, unless the claims contain them. */
  async sign(claims: Partial<Claims>): Promise<string> {
    const iat = Math.floor(Date.now() / 1000);
    const all = { ...this.#fixed, iat, exp: iat + this.#expiresInSeconds, ...claims };
    const header = { alg: this.#keys.algorithm, typ: "JWT" };
    return new jose.SignJWT(all).setProtectedHeader(header).sign(await this.#keys.signing());
  }

  /** Returns the claims of a token; `null` if it is invalid or has expired. */
  async verify(token: string): Promise<Claims | null> {
    try {
      return await verifyToken(token, this.#keys.verifying, this.#rules);
    } catch (error) {
      if (error instanceof jose.errors.JOSEError) return null;
      throw error;
    }
  }
}
