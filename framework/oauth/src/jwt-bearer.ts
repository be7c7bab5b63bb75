/** The security scheme of access tokens. @module */
import type { JSONWebKeySet, JWTVerifyGetKey } from "jose";
import { HTTPException, type SecurityScopes } from "tsgi";
import {
  assertOptions,
  AUTHORIZATION,
  expecting,
  isObject,
  type OptionRules,
  parseAuthorization,
  SCHEME_OPTIONS,
  whole,
} from "tsgi/internals";
import { type SchemeOptions, SecurityScheme, type SecuritySchemeObject } from "tsgi/security";
import type { AccessTokens } from "./access-tokens.js";
import { type Claims, scopesOf, verifyToken } from "./claims.js";
import { jose } from "./jose.js";
import { discoveryUrlOf, RemoteKeySet } from "./key-set.js";
import { assertRequired, IDENTIFIER, isSecure, NAMES } from "./options.js";
import { metadataOf, metadataPathOf, type ResourceMetadata } from "./protected-resource.js";

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

/** Asymmetric algorithms only. Attack: with HS256, the provider's public key would be the secret (RFC 8725 §2.1). */
const ALGORITHMS = [...["RS", "PS", "ES"].flatMap((name) => ["256", "384", "512"].map((bits) => name + bits)), "EdDSA"];
const KNOWN = [...ALGORITHMS, "Ed25519"];

const PROVIDER_OPTIONS: OptionRules<ProviderTokenOptions> = {
  ...SCHEME_OPTIONS,
  issuer: IDENTIFIER,
  audience: NAMES,
  jwks: expecting("an https: URL (http: only on a loopback address) or a key set", (value) => {
    return isSecure(value) || (isObject(value) && "keys" in value && Array.isArray(value.keys));
  }),
  algorithms: expecting(`a list of ${KNOWN.join(", ")}`, (value) => {
    return Array.isArray(value) && value.length > 0 && value.every((name) => KNOWN.some((known) => known === name));
  }),
  clockToleranceSeconds: whole(0),
  resource: IDENTIFIER,
};
const ISSUED_OPTIONS: OptionRules<IssuedTokenOptions> = {
  ...SCHEME_OPTIONS,
  tokens: expecting(
    "AccessTokens",
    (value) => isObject(value) && "verify" in value && typeof value.verify === "function",
  ),
};

/** Verifies a token. `null` or a rejection if it is invalid. */
type Verify = (token: string) => Promise<Claims | null>;

function compileProvider(options: ProviderTokenOptions): Verify {
  assertOptions("new JWTBearer()", options, PROVIDER_OPTIONS);
  assertRequired("new JWTBearer()", options, PROVIDER_OPTIONS, ["issuer", "audience"]);
  const { issuer, audience, jwks = null, algorithms = ALGORITHMS, clockToleranceSeconds = 5 } = options;
  const isRemote = jwks === null || typeof jwks === "string" || jwks instanceof URL;
  const find: JWTVerifyGetKey = isRemote
    ? new RemoteKeySet(issuer, jwks === null ? null : String(jwks)).find
    : jose.createLocalJWKSet(jwks);
  const rules = { issuer, audience, algorithms, clockTolerance: clockToleranceSeconds };
  return (token) => verifyToken(token, find, rules);
}

function compileIssued(options: IssuedTokenOptions): Verify {
  assertOptions("new JWTBearer()", options, ISSUED_OPTIONS);
  return (token) => options.tokens.verify(token);
}

/** Writes `WWW-Authenticate` of RFC 6750 §3. */
function challenge(parameters: Readonly<Record<string, string | null>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== null);
  return `Bearer ${given.map(([name, value]) => `${name}="${value}"`).join(", ")}`.trimEnd();
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
  constructor(options: JWTBearerOptions<AutoError>) {
    const isIssued = isObject(options) && "tokens" in options;
    const verify = isIssued ? compileIssued(options) : compileProvider(options);
    const resource = isIssued ? null : (options.resource ?? null);
    const resource_metadata = resource === null ? null : new URL(metadataPathOf(resource), resource).href;
    const refuse = (statusCode: 401 | 403, detail: string, error: Record<string, string>, cause?: unknown) => {
      const headers = { "WWW-Authenticate": challenge({ ...error, resource_metadata }) };
      return new HTTPException(statusCode, detail, { headers, cause });
    };
    const check = async (token: string, { scopes, scopeString }: SecurityScopes): Promise<Claims> => {
      const refuseToken = (cause?: unknown) => refuse(401, "Invalid token", { error: "invalid_token" }, cause);
      const claims = await verify(token).catch((error: unknown) => {
        throw error instanceof HTTPException ? error : refuseToken(error);
      });
      if (claims === null) throw refuseToken();
      const granted = scopesOf(claims);
      if (scopes.every((scope) => granted.includes(scope))) return claims;
      throw refuse(403, "Not enough scopes", { error: "insufficient_scope", scope: scopeString });
    };
    const definition: SecuritySchemeObject = isIssued
      ? { type: "http", scheme: "bearer", bearerFormat: "JWT" }
      : { type: "openIdConnect", openIdConnectUrl: discoveryUrlOf(options.issuer) };
    super(options, {
      defaultName: "JWTBearer",
      definition,
      source: AUTHORIZATION,
      parse: (text) => parseAuthorization(text, "bearer")?.credentials ?? null,
      verify: check,
      challenge: challenge({ resource_metadata }),
    });
    this.resourceMetadata =
      isIssued || resource === null
        ? null
        : {
            path: metadataPathOf(resource),
            document: metadataOf({ resource, authorizationServers: [options.issuer] }),
          };
  }
}
