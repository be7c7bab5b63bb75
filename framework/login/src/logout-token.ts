/** Logout tokens: the provider tells that logins have ended. @module */
import * as jose from "jose";
import type { HTTPConnection } from "tsgi";
import { isRecord } from "tsgi/internals";
import { ask, loginFailure, report } from "./failure.js";
import type { Settings } from "./options.js";
import { type Provider, ProviderAwayError } from "./provider.js";

const EVENT = "http://schemas.openid.net/event/backchannel-logout";

/** Asymmetric algorithms only. Attack: with HS256, the provider's public key would be the secret (RFC 8725 §2.1). */
const algorithms = ["RS", "PS", "ES"].flatMap((name) => ["256", "384", "512"].map((bits) => name + bits));
const RULES = {
  algorithms: [...algorithms, "EdDSA", "Ed25519"],
  clockTolerance: 30,
  requiredClaims: ["iat", "jti", "exp", "events"],
};

/** More than any provider sends. */
const MAX_CHARACTERS = 16_384;

/** The logins that a logout token ends. */
export interface EndedLogins {
  readonly kind: "sid" | "sub";
  readonly value: string;
}

/**
 * Checks a logout token as OpenID Connect Back-Channel Logout 1.0 §2.6 requires.
 *
 * @throws HTTPException 400 for anything but a valid token, 502 or 503 if the keys cannot be fetched.
 */
export async function readLogoutToken(
  connection: HTTPConnection,
  provider: Provider,
  { clientId: audience }: Settings,
  token: unknown,
): Promise<EndedLogins> {
  const [keys, issuer] = await ask(connection, async () => {
    return [await provider.keys(), (await provider.configuration()).serverMetadata().issuer] as const;
  });
  try {
    if (typeof token !== "string" || token.length > MAX_CHARACTERS) throw new Error("There is not one logout token");
    const { payload } = await jose.jwtVerify(token, keys, { ...RULES, issuer, audience });
    return endedLogins(payload);
  } catch (error) {
    const status = error instanceof ProviderAwayError ? 503 : 400;
    report(connection, status, error);
    throw loginFailure(status);
  }
}

/** Attack: an ID token of the same provider and client, which is not secret, is sent as a logout token. */
function endedLogins({ sid, sub, nonce, events }: jose.JWTPayload): EndedLogins {
  const isLogout = isRecord(events) && isRecord(events[EVENT]) && nonce === undefined;
  // §2.1: with both, it is the session at the provider that has ended, rather than all of the user.
  const value = sid ?? sub;
  if (isLogout && typeof value === "string") return { kind: sid === undefined ? "sub" : "sid", value };
  throw new Error("The token does not end a session or the logins of a user");
}
