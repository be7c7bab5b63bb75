/** `Authorization` with bearer tokens or passwords: `HTTPBearer` and `HTTPBasic`. @module */
import { decodeLatin1 } from "../../protocol/bytes.js";
import { decodeUTF8 } from "../../protocol/header-list.js";
import { configurationError } from "../../common/exceptions.js";
import { isToken } from "../../protocol/http-grammar.js";
import { ANYTHING, assertOptions, TEXT } from "../../common/options.js";
import { AUTHORIZATION, type HTTPAuthorizationCredentials, parseAuthorization } from "./credentials.js";
import { SCHEME_OPTIONS, type SchemeOptions, SecurityScheme, type WithAuthError } from "./scheme.js";

/** The options of `HTTPBearer`. */
export interface HTTPBearerOptions<AutoError extends boolean = boolean> extends SchemeOptions<AutoError> {
  /** The format of a token, as a hint for people: `"JWT"`. OpenAPI allows it for the scheme `"Bearer"` only. */
  bearerFormat?: string;
  /**
   * The word before the token in `Authorization`, read in any case; the challenge of a 401 and the OpenAPI document have it as
   * it is written here. Defaults to `"Bearer"`.
   */
  scheme?: string;
}

/**
 * A bearer token, wherever the client got it. Gives `{ scheme, credentials }`.
 *
 * @see RFC 6750 §2.1
 * @example
 * ```ts
 * import { App, Depends } from "tsgi";
 * import { HTTPBearer } from "tsgi/security";
 *
 * const bearer = new HTTPBearer({ bearerFormat: "JWT" });
 * const app = new App();
 * app.get("/me", { params: { token: Depends(bearer) } }, async ({ token }) => ({ scheme: token.scheme }));
 * ```
 */
export class HTTPBearer<AutoError extends boolean = true> extends SecurityScheme<
  HTTPAuthorizationCredentials,
  AutoError
> {
  /** @throws ConfigurationError if the scheme is not one word, and for an unknown option. */
  constructor(options: WithAuthError<HTTPBearerOptions<AutoError>>);
  constructor(options?: HTTPBearerOptions<AutoError>);
  constructor(options: HTTPBearerOptions<AutoError> | WithAuthError<HTTPBearerOptions<AutoError>> = {}) {
    assertOptions("new HTTPBearer()", options, { ...SCHEME_OPTIONS, bearerFormat: TEXT, scheme: TEXT });
    const { bearerFormat, scheme = "bearer" } = options;
    if (!isToken(scheme)) throw configurationError("TSGI_INVALID_AUTH_SCHEME", scheme);
    const word = scheme.toLowerCase();
    super(options, {
      defaultName: "HTTPBearer",
      definition: {
        type: "http",
        scheme,
        ...(bearerFormat === undefined || word !== "bearer" ? {} : { bearerFormat }),
      },
      source: AUTHORIZATION,
      parse: (text) => parseAuthorization(text, word),
      challenge: options.scheme ?? "Bearer",
    });
  }
}

/** The result of `HTTPBasic`. */
export interface HTTPBasicCredentials {
  readonly username: string;
  readonly password: string;
}

/** The options of `HTTPBasic`. */
export interface HTTPBasicOptions<AutoError extends boolean = boolean> extends SchemeOptions<AutoError> {
  /** Browsers show it when they ask for name and password: printable ASCII. Defaults to `"Restricted"`. */
  realm?: string;
}

const CONTROL = /\p{Cc}/u;

/** RFC 7617 §2: base64 of name and password in UTF-8 (§2.1) with a colon between them, and no control character. */
function parseBasic(text: string): HTTPBasicCredentials | null {
  const encoded = parseAuthorization(text, "basic")?.credentials;
  // `atob` ignores missing characters at the end; a length that no encoder writes is rejected.
  if (encoded === undefined || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded) || encoded.length % 4 !== 0) return null;
  const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
  const pair = decodeUTF8(bytes) ?? decodeLatin1(bytes);
  const colon = pair.indexOf(":");
  if (colon < 0 || CONTROL.test(pair)) return null;
  return { username: pair.slice(0, colon), password: pair.slice(colon + 1) };
}

/**
 * A user's name and password, sent with each request. Gives `{ username, password }`; compare with `compareSecrets`.
 *
 * @example
 * ```ts
 * import { App, Depends, HTTPException } from "tsgi";
 * import { compareSecrets, HTTPBasic } from "tsgi/security";
 *
 * const basic = new HTTPBasic({ realm: "Metrics" });
 * const app = new App();
 * app.get("/metrics", { params: { who: Depends(basic) } }, async ({ who: { password } }) => {
 *   if (!compareSecrets(password, process.env["METRICS_PASSWORD"] ?? "")) {
 *     throw new HTTPException(401, "Not authenticated", { headers: { "WWW-Authenticate": basic.challenge } });
 *   }
 *   return {};
 * });
 * ```
 * @see RFC 7617
 */
export class HTTPBasic<AutoError extends boolean = true> extends SecurityScheme<HTTPBasicCredentials, AutoError> {
  /** @throws ConfigurationError if the realm is not valid in a header, and for an unknown option. */
  constructor(options: WithAuthError<HTTPBasicOptions<AutoError>>);
  constructor(options?: HTTPBasicOptions<AutoError>);
  constructor(options: HTTPBasicOptions<AutoError> | WithAuthError<HTTPBasicOptions<AutoError>> = {}) {
    assertOptions("new HTTPBasic()", options, { ...SCHEME_OPTIONS, realm: ANYTHING });
    const { realm = "Restricted" } = options;
    if (!/^[ -~]*$/.test(realm)) throw configurationError("TSGI_INVALID_REALM", realm);
    super(options, {
      defaultName: "HTTPBasic",
      definition: { type: "http", scheme: "basic" },
      source: AUTHORIZATION,
      parse: parseBasic,
      challenge: `Basic realm="${realm.replaceAll(/["\\]/g, "\\$&")}", charset="UTF-8"`,
    });
  }
}
