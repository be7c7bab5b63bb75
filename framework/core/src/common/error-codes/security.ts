/**
 * Security schemes.
 *
 * See [security.md](security.md).
 * @module
 */

export const SECURITY = {
  /**
   * Two different security schemes have one `schemeName`.
   *
   * Thrown when the document is built. The same scheme object may be used by any number of routes.
   *
   * ```js
   * // Wrong
   * app.get(
   *   "/a",
   *   { params: { key: Depends(new APIKeyHeader({ name: "X-Key", schemeName: "key" })) } },
   *   readItem,
   * );
   * app.get(
   *   "/b",
   *   { params: { key: Depends(new APIKeyQuery({ name: "key", schemeName: "key" })) } },
   *   readItem,
   * );
   * app.openapi();
   *
   * // Right
   * const key = new APIKeyHeader({ name: "X-Key" });
   * app.get("/a", { params: { key: Depends(key) } }, readItem);
   * app.get("/b", { params: { key: Depends(key) } }, readItem);
   * app.openapi();
   * ```
   */
  TSGI_DUPLICATE_SECURITY_SCHEME: (name: string) =>
    `Two different security schemes have the schemeName ${JSON.stringify(name)}. Give each one of its own.`,
  /**
   * The realm of `HTTPBasic` has a character that its header cannot carry.
   *
   * ```js
   * // Wrong
   * new HTTPBasic({ realm: "Büro" });
   *
   * // Right
   * new HTTPBasic({ realm: "Office" });
   * ```
   */
  TSGI_INVALID_REALM: (realm: unknown) =>
    `HTTPBasic: a realm is printable ASCII; ${JSON.stringify(realm)} is not. Write it without other characters.`,
  /**
   * The `scheme` of `HTTPBearer` is not one word, and could not be sent in a header.
   *
   * ```js
   * // Wrong
   * new HTTPBearer({ scheme: "My Token" });
   *
   * // Right
   * new HTTPBearer({ scheme: "Token" });
   * ```
   */
  TSGI_INVALID_AUTH_SCHEME: (scheme: string) =>
    `HTTPBearer: a scheme is one word of letters, digits and -; ${JSON.stringify(scheme)} is not. Write { scheme: "Token" }.`,
  /**
   * An API key has no name of the header, the query parameter or the cookie that carries it.
   *
   * ```js
   * // Wrong
   * new APIKeyHeader({});
   *
   * // Right
   * new APIKeyHeader({ name: "X-API-Key" });
   * ```
   */
  TSGI_MISSING_API_KEY_NAME: (defaultName: string, what: string, example: string) =>
    `${defaultName} takes the name of a ${what}: new ${defaultName}({ name: "${example}" }).`,
  /**
   * `OAuth2PasswordBearer` has no `tokenUrl`, the address that gives tokens.
   *
   * "Authorize" in the documentation logs in there.
   *
   * ```js
   * // Wrong
   * new OAuth2PasswordBearer({});
   *
   * // Right
   * new OAuth2PasswordBearer({ tokenUrl: "/auth/token" });
   * ```
   */
  TSGI_MISSING_TOKEN_URL:
    "OAuth2PasswordBearer takes the path that gives tokens: new OAuth2PasswordBearer({ tokenUrl: " +
    `"/auth/token" }).`,
};
