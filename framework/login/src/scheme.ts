/** The security schemes of a login, for the OpenAPI document. @module */
import type { Marker } from "tsgi";
import { AUTHORIZATION, discoveryUrlOf } from "tsgi/internals";
import { SecurityScheme } from "tsgi/security";

/** The login at the provider, by which a person gets the cookie. */
class OpenIDConnect extends SecurityScheme<string, false> {
  constructor(issuer: string) {
    super(
      { autoError: false },
      {
        defaultName: "OpenIdConnect",
        definition: { type: "openIdConnect", openIdConnectUrl: discoveryUrlOf(issuer) },
        source: AUTHORIZATION,
        parse: () => null,
        challenge: "Bearer",
      },
    );
  }
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
    super(
      { autoError: false },
      {
        defaultName: "LoginCookie",
        definition: definitionOf(),
        source,
        parse: (text) => text,
        challenge: "APIKey",
      },
    );
    Object.defineProperty(this, "definition", { get: definitionOf });
    this.beside = new OpenIDConnect(issuer);
  }
}
