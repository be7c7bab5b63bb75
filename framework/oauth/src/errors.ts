/**
 * Access tokens: `@tsgi/oauth`.
 *
 * These errors are thrown when you import the package, or when you create `AccessTokens` or a `JWTBearer`. See
 * [oauth.md](oauth.md).
 * @module
 */
import { errorsOf } from "tsgi/internals";

const MESSAGES = {
  /** You import `@tsgi/oauth`, but its peer dependency `jose` is not installed. */
  TSGI_MISSING_JOSE: "@tsgi/oauth requires the package jose, which cannot be loaded. Run: npm install jose",
  /**
   * The `secret` of `AccessTokens` is shorter than the hash of its algorithm.
   *
   * A secret can be guessed offline from one token, so RFC 7518 §3.2 requires at least 32 bytes for HS256, 48 for HS384 and
   * 64 for HS512. Create a random one with `openssl rand -base64 48`.
   *
   * ```js
   * // Wrong
   * new AccessTokens({ secret: "secret", expiresInSeconds: 1800 });
   *
   * // Right
   * const secret = "a-random-secret-of-32-bytes-or-more";
   * new AccessTokens({ secret, expiresInSeconds: 1800 });
   * ```
   */
  TSGI_SHORT_TOKEN_SECRET: (algorithm: string, least: number, bytes: number) =>
    `new AccessTokens(): a secret for ${algorithm} has at least ${least} bytes, not ${bytes}. Create one: openssl rand -base64 48`,
  /**
   * `AccessTokens` needs one key: either a `secret` or a `privateKey`.
   *
   * ```js
   * // Wrong
   * new AccessTokens({ expiresInSeconds: 1800 });
   *
   * // Right
   * const secret = "a-random-secret-of-32-bytes-or-more";
   * new AccessTokens({ secret, expiresInSeconds: 1800 });
   * ```
   */
  TSGI_INVALID_TOKEN_KEY: "new AccessTokens(): pass either a secret or a privateKey.",
  /** @remarks If the private key cannot be used. */
  "TSGI_INVALID_TOKEN_KEY.private": (given: string) =>
    "new AccessTokens(): privateKey is a private key of RSA (2,048 bits or more), P-256, P-384, P-521 or Ed25519: text in " +
    `PKCS #8 (-----BEGIN PRIVATE KEY-----), a KeyObject or a CryptoKey, not ${given}.`,
  /**
   * The `algorithm` of `AccessTokens` does not fit its key.
   *
   * The algorithm follows from the key, so you can usually omit it: HS256 for a secret, RS256 for RSA, ES256 for P-256.
   *
   * ```js
   * // Wrong
   * const secret = "a-random-secret-of-32-bytes-or-more";
   * new AccessTokens({ secret, algorithm: "RS256", expiresInSeconds: 1800 });
   *
   * // Right
   * const secret = "a-random-secret-of-32-bytes-or-more";
   * new AccessTokens({ secret, algorithm: "HS256", expiresInSeconds: 1800 });
   * ```
   */
  TSGI_INVALID_TOKEN_ALGORITHM: (algorithm: unknown, possible: readonly string[]) =>
    `new AccessTokens(): the algorithm ${JSON.stringify(algorithm)} does not fit the key. Use ${possible.join(", ")}, or omit it.`,
};

/** Makes an error of this package. */
export const oauthError = errorsOf(MESSAGES);
