/**
 * Security schemes.
 *
 * See [security.md](security.md).
 * @module
 */

export const SECURITY = {
  /**
   * Two different security schemes have the same `schemeName`.
   *
   * The error is thrown when the OpenAPI document is built. You can use the same scheme object in any number of routes.
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
    `Two different security schemes have the schemeName ${JSON.stringify(name)}. Give each a different name.`,
  /**
   * The realm of `HTTPBasic` contains a character that is not allowed in a header.
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
   * The `scheme` of `HTTPBearer` is not a single word, so it cannot be sent in a header.
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
   * You did not specify the name of the header, query parameter or cookie that contains the API key.
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
   * `OAuth2PasswordBearer` has no `tokenUrl`, the address of the endpoint that issues tokens.
   *
   * The “Authorize” button of the documentation uses this address to log in.
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
    "OAuth2PasswordBearer requires the path that returns tokens: new OAuth2PasswordBearer({ tokenUrl: " +
    `"/auth/token" }).`,
};
