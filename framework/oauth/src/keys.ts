/** The keys that sign and verify your own tokens. @module */
import type * as Crypto from "node:crypto";
import type { CryptoKey, KeyObject } from "jose";
import { describe, describeError, isRecord, missingModule } from "tsgi/internals";
import { oauthError } from "./errors.js";

/** A key pair, or twice the same secret, with the algorithm for which it is used. */
export interface TokenKeys {
  readonly algorithm: string;
  readonly signing: () => Promise<CryptoKey | KeyObject>;
  readonly verifying: () => Promise<CryptoKey | KeyObject>;
}

/** Bytes of a secret, by its algorithm: at least the size of the hash (RFC 7518 §3.2). */
const LEAST_BYTES: ReadonlyMap<string, number> = new Map([
  ["HS256", 32],
  ["HS384", 48],
  ["HS512", 64],
]);

/** @throws ConfigurationError for a secret that is too short, or another algorithm. */
export function keysOfSecret(secret: string | Uint8Array, algorithm = "HS256"): TokenKeys {
  const bytes = typeof secret === "string" ? new TextEncoder().encode(secret) : Uint8Array.from(secret);
  const least = LEAST_BYTES.get(algorithm);
  if (least === undefined) throw oauthError("TSGI_INVALID_TOKEN_ALGORITHM", algorithm, [...LEAST_BYTES.keys()]);
  if (bytes.length < least) throw oauthError("TSGI_SHORT_TOKEN_SECRET", algorithm, least, bytes.length);
  const hash = { name: "HMAC", hash: `SHA-${algorithm.slice(2)}` };
  let imported: Promise<CryptoKey> | undefined;
  // Imported once, and not before it is needed: Cloudflare Workers do no work before the first request.
  const key = () => (imported ??= crypto.subtle.importKey("raw", bytes, hash, false, ["sign", "verify"]));
  return { algorithm, signing: key, verifying: key };
}

/** The algorithms of each type of key, or of each curve. The first one is the default. WebCrypto has no `rsa-pss` keys. */
const ALGORITHMS: Readonly<Record<string, readonly string[]>> = {
  rsa: ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  prime256v1: ["ES256"],
  secp384r1: ["ES384"],
  secp521r1: ["ES512"],
  ed25519: ["EdDSA", "Ed25519"],
};

/** RFC 7518 §3.3: the least size of an RSA key, in bits. */
const LEAST_RSA_BITS = 2048;

/** @throws ConfigurationError for a key that cannot sign, or an algorithm that does not fit it. */
export function keysOfPrivateKey(given: string | KeyObject | CryptoKey, algorithm?: string): TokenKeys {
  const node = globalThis.process?.getBuiltinModule?.("node:crypto");
  if (node === undefined) throw missingModule("node:crypto", "new AccessTokens({ privateKey })");
  const key = readKey(given, node);
  const possible = isStrong(key) ? (rsaAlgorithmOf(given) ?? ALGORITHMS[typeOf(key)]) : undefined;
  if (possible === undefined) {
    const { modulusLength = "" } = key.asymmetricKeyDetails ?? {};
    throw oauthError("TSGI_INVALID_TOKEN_KEY.private", `a ${key.type} key of ${typeOf(key)} ${modulusLength}`.trim());
  }
  const chosen = algorithm ?? String(possible[0]);
  if (!possible.includes(chosen)) throw oauthError("TSGI_INVALID_TOKEN_ALGORITHM", chosen, possible);
  const [signing, verifying] = [typeof given === "string" ? key : given, node.createPublicKey(key)];
  return { algorithm: chosen, signing: async () => signing, verifying: async () => verifying };
}

/** The curve of a key, or its type. */
function typeOf({ type, asymmetricKeyType, asymmetricKeyDetails }: Crypto.KeyObject): string {
  return asymmetricKeyDetails?.namedCurve ?? asymmetricKeyType ?? type;
}

function isStrong({ type, asymmetricKeyDetails }: Crypto.KeyObject): boolean {
  return type === "private" && (asymmetricKeyDetails?.modulusLength ?? LEAST_RSA_BITS) >= LEAST_RSA_BITS;
}

function readKey(given: string | KeyObject | CryptoKey, { createPrivateKey, KeyObject: NodeKey }: typeof Crypto) {
  try {
    if (typeof given === "string") return createPrivateKey(given);
    if (given instanceof NodeKey) return given;
    if (isCryptoKey(given)) return NodeKey.from(given);
  } catch (cause) {
    throw Object.assign(oauthError("TSGI_INVALID_TOKEN_KEY.private", describeError(cause).message), { cause });
  }
  throw oauthError("TSGI_INVALID_TOKEN_KEY.private", describe(given));
}

const isCryptoKey = (given: unknown): given is CryptoKey => isRecord(given) && isRecord(given["algorithm"]);

/** A `CryptoKey` of RSA is made for one algorithm. */
function rsaAlgorithmOf(given: string | KeyObject | CryptoKey): readonly string[] | undefined {
  if (!isCryptoKey(given) || !("hash" in given.algorithm) || !isRecord(given.algorithm.hash)) return undefined;
  const bits = String(given.algorithm.hash["name"]).slice("SHA-".length);
  return [`${given.algorithm.name === "RSA-PSS" ? "PS" : "RS"}${bits}`];
}
