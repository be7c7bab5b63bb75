/** The security schemes of a login, for the OpenAPI document. @module */
import type { Marker } from "tsgi";
import { AUTHORIZATION, discoveryUrlOf } from "tsgi/internals";
import { SecurityScheme } from "tsgi/security";

/** The login at the provider, by which a person gets the cookie. */
function providerScheme(issuer: string): SecurityScheme {
  const definition = { type: "openIdConnect", openIdConnectUrl: discoveryUrlOf(issuer) } as const;
  const parts = {
    defaultName: "OpenIdConnect",
    definition,
    source: AUTHORIZATION,
    parse: () => null,
    challenge: "Bearer",
  };
  return new SecurityScheme({ autoError: false }, parts);
}

/** The cookie of the session, which routes require. */
export class LoginCookie extends SecurityScheme<string, false> {
  override readonly beside: SecurityScheme;

  /**
   * @param source - One string if there is a login, otherwise an empty array.
   * @param cookie - Returns the name of the cookie, which is known when the application has started.
   */
  constructor(issuer: string, source: Marker<readonly string[]>, cookie: () => string) {
    const definitionOf = () => ({ type: "apiKey", in: "cookie", name: cookie() }) as const;
    const parts = { defaultName: "LoginCookie", definition: definitionOf(), source, challenge: "APIKey" };
    super({ autoError: false }, { ...parts, parse: (text) => text });
    Object.defineProperty(this, "definition", { get: definitionOf });
    this.beside = providerScheme(issuer);
  }
}
