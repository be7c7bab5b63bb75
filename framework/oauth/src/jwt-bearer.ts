/** The security scheme of access tokens. @module */
import type { JSONWebKeySet } from "jose";
import { HTTPException, type SecurityScopes } from "tsgi";
import {
  assertOptions,
  AUTHORIZATION,
  discoveryUrlOf,
  expecting,
  IDENTIFIER,
  isObject,
  isRecord,
  isSecure,
  type OptionRules,
  parseAuthorization,
  SCHEME_OPTIONS,
  whole,
} from "tsgi/internals";
import { type SchemeOptions, SecurityScheme, type SecuritySchemeObject, type WithAuthError } from "tsgi/security";
import type { AccessTokens } from "./access-tokens.js";
import { type Claims, scopesOf, verifyToken } from "./claims.js";
import * as jose from "jose";
import { remoteKeys } from "./key-set.js";
import { NAMES } from "./options.js";
import { describeResource, type ResourceMetadata } from "./protected-resource.js";

/** Options of a `JWTBearer` for the tokens of an identity provider. */
export interface ProviderTokenOptions<AutoError extends boolean = boolean> extends SchemeOptions<AutoError> {
  /** The identity provider, exactly as in the claim `iss`: `"https://login.example.com"`. */
  issuer: string;
  /** The name of this API at the provider. A token is for another service if its claim `aud` does not contain one of these names. */
  audience: string | string[];
  /** The key set, or its URL. By default, the metadata of the issuer contains the URL. */
  jwks?: string | URL | JSONWebKeySet;
  /** Accepted algorithms. Defaults to RS, PS and ES with 256, 384 and 512 bits, and EdDSA. */
  algorithms?: string[];
  /** Seconds by which the clocks of the provider and of this server may differ. Defaults to 5. */
  clockToleranceSeconds?: number;
  /** The URL of this API. The 401 response then refers clients to its metadata (RFC 9728). */
  resource?: string;
}

/** Options of a `JWTBearer` for your own tokens. */
export interface IssuedTokenOptions<AutoError extends boolean = boolean> extends SchemeOptions<AutoError> {
  tokens: Pick<AccessTokens, "verify">;
}

/** The options of `JWTBearer`. */
export type JWTBearerOptions<AutoError extends boolean = boolean> =
  | ProviderTokenOptions<AutoError>
  | IssuedTokenOptions<AutoError>;

/** The options of a `JWTBearer` with its own error. */
type OptionsWithError<AutoError extends boolean> =
  | WithAuthError<ProviderTokenOptions<AutoError>>
  | WithAuthError<IssuedTokenOptions<AutoError>>;

const PLACE = "new JWTBearer()";

/** Asymmetric algorithms only. Attack: with HS256, the provider's public key would be the secret (RFC 8725 §2.1). */
const ALGORITHMS = [...["RS", "PS", "ES"].flatMap((name) => ["256", "384", "512"].map((bits) => name + bits)), "EdDSA"];
const KNOWN: readonly unknown[] = [...ALGORITHMS, "Ed25519"];

const PROVIDER_OPTIONS: OptionRules<ProviderTokenOptions> = {
  ...SCHEME_OPTIONS,
  issuer: IDENTIFIER,
  audience: NAMES,
  jwks: expecting("an https: URL (http: only on a loopback address) or a key set", (value) => {
    return isSecure(value) || (isRecord(value) && Array.isArray(value["keys"]));
  }),
  algorithms: expecting(`a list of ${KNOWN.join(", ")}`, (value) => {
    return Array.isArray(value) && value.length > 0 && value.every((name) => KNOWN.includes(name));
  }),
  clockToleranceSeconds: whole(0),
  resource: IDENTIFIER,
};
const TOKENS = expecting("AccessTokens", (value) => isRecord(value) && typeof value["verify"] === "function");

/** The properties of a kind of tokens. */
interface TokenKind {
  /** Verifies a token. `null` or a rejection if it is invalid. */
  readonly verify: (token: string) => Promise<Claims | null>;
  readonly definition: SecuritySchemeObject;
  readonly resource: ReturnType<typeof describeResource> | null;
}

function kindOf(options: JWTBearerOptions | OptionsWithError<boolean>): TokenKind {
  if (isObject(options) && "tokens" in options) {
    assertOptions(PLACE, options, { ...SCHEME_OPTIONS, tokens: TOKENS });
    const definition = { type: "http", scheme: "bearer", bearerFormat: "JWT" } as const;
    return { verify: (token) => options.tokens.verify(token), definition, resource: null };
  }
  assertOptions(PLACE, options, PROVIDER_OPTIONS);
  const { issuer, audience, jwks = null, algorithms = ALGORITHMS, clockToleranceSeconds = 5, resource } = options;
  PROVIDER_OPTIONS.issuer(PLACE, "issuer", issuer);
  PROVIDER_OPTIONS.audience(PLACE, "audience", audience);
  const isLocal = isObject(jwks) && !(jwks instanceof URL);
  const find = isLocal ? jose.createLocalJWKSet(jwks) : remoteKeys(issuer, jwks === null ? null : String(jwks));
  const rules = { issuer, audience, algorithms, clockTolerance: clockToleranceSeconds };
  return {
    verify: (token) => verifyToken(token, find, rules),
    definition: { type: "openIdConnect", openIdConnectUrl: discoveryUrlOf(issuer) },
    resource: resource === undefined ? null : describeResource({ resource, authorizationServers: [issuer] }),
  };
}

/**
 * An access token (JWT) in `Authorization: Bearer`: verified, and with the scopes that `Security` requires. Returns its claims.
 *
 * @example
 * ```ts
 * import { App, Security } from "tsgi";
 * import { JWTBearer } from "@tsgi/oauth";
 *
 * const token = new JWTBearer({ issuer: "https://login.example.com", audience: "https://api.example.com" });
 * const app = new App();
 * app.get("/items", { params: { claims: Security(token, { scopes: ["items:read"] }) } }, async ({ claims }) => ({
 *   user: claims.sub,
 * }));
 * ```
 * @see RFC 6750, RFC 8725
 */
export class JWTBearer<AutoError extends boolean = true> extends SecurityScheme<Promise<Claims>, AutoError> {
  /** The metadata of the option `resource` and its path (RFC 9728), which `mcp()` serves. `null` without the option. */
  readonly resourceMetadata: { readonly path: string; readonly document: ResourceMetadata } | null;

  /** @throws ConfigurationError if a URL is not encrypted, an algorithm is symmetric, and for an unknown option. */
  constructor(options: OptionsWithError<AutoError>);
  constructor(options: JWTBearerOptions<AutoError>);
  constructor(options: JWTBearerOptions<AutoError> | OptionsWithError<AutoError>) {
    const { verify, definition, resource } = kindOf(options);
    const metadata = resource && `resource_metadata="${new URL(resource.path, resource.document.resource).href}"`;
    /** Writes `WWW-Authenticate` of RFC 6750 §3. */
    const challenge = (...parameters: string[]) =>
      `Bearer ${[...parameters, metadata ?? []].flat().join(", ")}`.trimEnd();
    const refuse = (status: 401 | 403, parameters: string[], cause?: unknown) =>
      new HTTPException(status, status === 401 ? "Invalid token" : "Not enough scopes", {
        headers: { "WWW-Authenticate": challenge(...parameters) },
        cause,
      });
    const check = async (token: string, { scopes, scopeString }: SecurityScopes): Promise<Claims> => {
      const claims = await verify(token).catch((error: unknown) => {
        throw error instanceof HTTPException ? error : refuse(401, ['error="invalid_token"'], error);
      });
      if (claims === null) throw refuse(401, ['error="invalid_token"']);
      const granted = scopesOf(claims);
      if (scopes.every((scope) => granted.includes(scope))) return claims;
      throw refuse(403, ['error="insufficient_scope"', `scope="${scopeString}"`]);
    };
    super(options, {
      defaultName: "JWTBearer",
      definition,
      source: AUTHORIZATION,
      parse: (text) => parseAuthorization(text, "bearer")?.credentials ?? null,
      verify: check,
      challenge: challenge(),
    });
    this.resourceMetadata = resource;
  }
}
