/** The form of a token request with a password, RFC 6749 §4.3.2. @module */
import { Form } from "../form.js";
import type { FromParams } from "../annotation.js";
import type { Marker } from "../marker.js";
import { t } from "../../schema/schema.js";

/**
 * A field's values, of which there may be one: RFC 6749 §3.2 forbids a parameter that comes twice, and a proxy that looks at
 * the form before us may have looked at the other one.
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
