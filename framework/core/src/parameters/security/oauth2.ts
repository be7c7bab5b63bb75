/** OAuth 2 with passwords: the form of a token request, and bearer tokens. @module */
import { configurationError } from "../../common/exceptions.js";
import { ANYTHING, assertOptions, OBJECT, type OptionRules, TEXT } from "../../common/options.js";
import { AUTHORIZATION, parseAuthorization } from "./credentials.js";
import { SCHEME_OPTIONS, type SchemeOptions, SecurityScheme, type WithAuthError } from "./scheme.js";
import { Form } from "../form.js";
import type { FromParams } from "../annotation.js";
import type { Marker } from "../marker.js";
import { t } from "../../schema/schema.js";

/** The options of `OAuth2PasswordBearer`. */
export interface OAuth2PasswordBearerOptions<AutoError extends boolean = boolean> extends SchemeOptions<AutoError> {
  /** The address that returns a token for a name and a password: a path of the application, or a whole URL. */
  tokenUrl: string;
  /** The address that returns the next one, if it is different. */
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
  constructor(options: WithAuthError<OAuth2PasswordBearerOptions<AutoError>>);
  constructor(options: OAuth2PasswordBearerOptions<AutoError>);
  constructor(options: OAuth2PasswordBearerOptions<AutoError> | WithAuthError<OAuth2PasswordBearerOptions<AutoError>>) {
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

/**
 * A field's values, of which only one is allowed: RFC 6749 §3.2 forbids a repeated parameter, and a proxy that reads
 * the form earlier may have used the other one.
 */
const once = (alias: string): Marker<string[]> =>
  Form(t.Array(t.String(), { maxItems: 1 }), { alias, default: [], includeInSchema: false });

const FIELDS = {
  grant_type: Form(t.Literal("password"), { default: "password" }),
  username: Form(),
  password: Form(t.String({ format: "password" })),
  scope: Form({ default: "", description: "Names of scopes, with a space between them." }),
  client_id: Form(t.Optional(t.String())),
  client_secret: Form(t.Optional(t.String({ format: "password" }))),
};

/**
 * The form with which a client asks for a token. A dependency: `Depends(OAuth2PasswordRequestForm)`.
 *
 * `grant_type` may be left out, each field may come once, and `scope` is split at its spaces.
 *
 * @example
 * ```ts
 * import { App, Depends } from "tsgi";
 * import { OAuth2PasswordRequestForm } from "tsgi/security";
 *
 * const app = new App();
 * app.post("/auth/token", { params: { form: Depends(OAuth2PasswordRequestForm) } }, async ({ form }) => ({
 *   access_token: `a token for ${form.username}`,
 *   token_type: "bearer",
 * }));
 * ```
 * @see RFC 6749 §4.3.2
 */
export class OAuth2PasswordRequestForm {
  /** The parameters of the constructor. */
  static readonly params: typeof FIELDS & Record<`${string}Once`, Marker<string[]>> = {
    ...FIELDS,
    ...Object.fromEntries(Object.keys(FIELDS).map((name) => [`${name}Once`, once(name)])),
  };

  readonly grant_type: "password";
  readonly username: string;
  readonly password: string;
  /** The scopes that the client asks for, each once. */
  readonly scopes: readonly string[];
  readonly client_id: string | undefined;
  readonly client_secret: string | undefined;

  constructor({ grant_type, username, password, scope, client_id, client_secret }: FromParams<typeof FIELDS>) {
    this.grant_type = grant_type;
    this.username = username;
    this.password = password;
    this.scopes = [...new Set(scope.split(" ").filter((name) => name !== ""))];
    this.client_id = client_id;
    this.client_secret = client_secret;
  }
}
