/** Bearer tokens of OAuth 2: `OAuth2PasswordBearer`. @module */
import { configurationError } from "../../common/exceptions.js";
import { ANYTHING, assertOptions, OBJECT, type OptionRules, TEXT } from "../../common/options.js";
import { AUTHORIZATION, parseAuthorization } from "./credentials.js";
import { SCHEME_OPTIONS, type SchemeOptions, SecurityScheme } from "./scheme.js";

/** The options of `OAuth2PasswordBearer`. */
export interface OAuth2PasswordBearerOptions<AutoError extends boolean = boolean> extends SchemeOptions<AutoError> {
  /** The address that gives a token for a name and a password: a path of the application, or a whole URL. */
  tokenUrl: string;
  /** The address that gives the next one, if it is another. */
  refreshUrl?: string;
  /** The scopes that a token may be asked for: descriptions by name. */
  scopes?: Readonly<Record<string, string>>;
}

const OPTIONS: OptionRules<OAuth2PasswordBearerOptions> = {
  ...SCHEME_OPTIONS,
  tokenUrl: ANYTHING,
  refreshUrl: TEXT,
  scopes: OBJECT,
};

/**
 * A bearer token that the client got for a user's name and password. Gives the token.
 *
 * It takes the token out of the `Authorization` header and does not look into it: that is the business of the dependency
 * that asks for it. RFC 9700 §2.4 advises against this grant for third parties; it is a first-party login.
 *
 * @example
 * ```ts
 * import { App, Depends, withParams } from "tsgi";
 * import { OAuth2PasswordBearer } from "tsgi/security";
 *
 * const oauth2Scheme = new OAuth2PasswordBearer({ tokenUrl: "/auth/token" });
 * const getCurrentUser = withParams({ token: Depends(oauth2Scheme) }, async ({ token }) => ({ token }));
 * const app = new App();
 * app.get("/users/me", { params: { user: Depends(getCurrentUser) } }, async ({ user }) => user);
 * ```
 * @see RFC 6749 §4.3, RFC 6750 §2.1
 */
export class OAuth2PasswordBearer<AutoError extends boolean = true> extends SecurityScheme<string, AutoError> {
  /** @throws ConfigurationError without a `tokenUrl`, and for an unknown option. */
  constructor(options: OAuth2PasswordBearerOptions<AutoError>) {
    assertOptions("new OAuth2PasswordBearer()", options, OPTIONS);
    const { tokenUrl, refreshUrl, scopes = {} } = options;
    if (typeof tokenUrl !== "string" || tokenUrl === "") throw configurationError("TSGI_MISSING_TOKEN_URL");
    super(options, {
      defaultName: "OAuth2PasswordBearer",
      definition: {
        type: "oauth2",
        flows: { password: { tokenUrl, ...(refreshUrl === undefined ? {} : { refreshUrl }), scopes: { ...scopes } } },
      },
      source: AUTHORIZATION,
      parse: (text) => parseAuthorization(text, "bearer")?.credentials ?? null,
      challenge: "Bearer",
    });
  }
}
