/** The claims of a token, and the checks that every token must pass. @module */
import type { JWTPayload, JWTVerifyGetKey, JWTVerifyOptions } from "jose";
import * as jose from "jose";

/** The claims of a verified token (RFC 7519 §4.1). The values of other claims are not checked. */
export interface Claims extends JWTPayload {
  /** Seconds since 1970 at which the token expires. */
  exp: number;
}

/** Attack: each part of a token is decoded and parsed before its signature is verified. */
const MAX_TOKEN_CHARACTERS = 16 * 1024;

/**
 * Three parts in base64url without padding (RFC 7515 §2), whose unused last bits are zero. Attack: a decoder that is less strict
 * accepts other spellings of a token, which a list of revoked tokens does not contain.
 */
const PART = "(?:[\\w-]{4})*(?:[\\w-][AQgw]|[\\w-]{2}[AEIMQUYcgkosw048])?";
const COMPACT = new RegExp(`^${PART}\\.${PART}\\.${PART}$`);

/**
 * Verifies a token with the key that `getKey` selects.
 *
 * @throws JOSEError for an invalid token. Errors of `getKey` are passed on.
 */
export async function verifyToken(token: string, getKey: JWTVerifyGetKey, options: JWTVerifyOptions): Promise<Claims> {
  const { JWKSMultipleMatchingKeys, JWSInvalid, JWSSignatureVerificationFailed } = jose.errors;
  if (token.length > MAX_TOKEN_CHARACTERS || !COMPACT.test(token))
    throw new JWSInvalid("The token is not a compact JWS");
  try {
    return await verifyWith(token, getKey, options);
  } catch (error) {
    if (!(error instanceof JWKSMultipleMatchingKeys)) throw error;
    // `kid` is optional (RFC 7515 §4.1.4): without it, each key of the right type is tried.
    for await (const key of error) {
      const claims = await verifyWith(token, async () => key, options).catch((cause: unknown) => {
        if (cause instanceof JWSSignatureVerificationFailed) return null;
        throw cause;
      });
      if (claims !== null) return claims;
    }
    throw new JWSSignatureVerificationFailed(undefined, { cause: error });
  }
}

async function verifyWith(token: string, getKey: JWTVerifyGetKey, options: JWTVerifyOptions): Promise<Claims> {
  const { payload, protectedHeader } = await jose.jwtVerify(token, getKey, options);
  // RFC 7515 §4.1.11: unknown critical extensions are rejected. `b64`, which the library knows, has no use in a JWT.
  if (protectedHeader.crit !== undefined) throw new jose.errors.JOSENotSupported("No critical extension is supported");
  const { exp } = payload;
  if (exp === undefined) throw new jose.errors.JWTInvalid('The claim "exp" is missing');
  return { ...payload, exp };
}

/** The scopes of a token: `scope` (RFC 8693 §4.2) or `scp`, as a string with spaces or as an array. */
export function scopesOf({ scope, scp }: Claims): readonly unknown[] {
  const given = scope ?? scp;
  if (typeof given === "string") return given.split(" ");
  return Array.isArray(given) ? given : [];
}
