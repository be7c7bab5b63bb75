/** One way to get a token. @see OpenAPI 3.0.3 §4.7.29 */
export interface OAuthFlowObject {
  authorizationUrl?: string;
  tokenUrl?: string;
  refreshUrl?: string;
  /** Names and what each is for. */
  scopes: Record<string, string>;
}

/** How a client proves who it is. @see OpenAPI 3.0.3 §4.7.27 */
export type SecuritySchemeObject = { description?: string } & (
  | { type: "http"; scheme: string; bearerFormat?: string }
  | { type: "apiKey"; in: "query" | "header" | "cookie"; name: string }
  | { type: "oauth2"; flows: { password?: OAuthFlowObject; authorizationCode?: OAuthFlowObject } }
  | { type: "openIdConnect"; openIdConnectUrl: string }
);
