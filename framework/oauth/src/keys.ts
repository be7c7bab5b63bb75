/** The keys that sign and verify your own tokens. @module */
import type * as Crypto from "node:crypto";
import type { CryptoKey, KeyObject } from "jose";
import { describe, describeError, missingModule } from "tsgi/internals";
import { oauthError } from "./errors.js";

/** The options of `AccessTokens` that give its key. */
interface TokenKeyOptions {
  readonly secret?: string | Uint8Array;
  readonly privateKey?: string | KeyObject | CryptoKey;
  readonly algorithm?: string;
}

/** A key pair, or twice the same secret, with the algorithm for which it is used. */
export interface TokenKeys {
  readonly algorithm: string;
  readonly signing: () => Promise<CryptoKey | KeyObject>;
  readonly verifying: () => Promise<CryptoKey | KeyObject>;
}

/** The algorithms of each type of key, or of each curve. The first one is the default. WebCrypto has no `rsa-pss` keys. */
const ALGORITHMS: Readonly<Record<string, readonly string[]>> = {
  secret: ["HS256", "HS384", "HS512"],
  rsa: ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  prime256v1: ["ES256"],
  secp384r1: ["ES384"],
  secp521r1: ["ES512"],
  ed25519: ["EdDSA", "Ed25519"],
};

/** RFC 7518 §3.3: the least size of an RSA key, in bits. */
const LEAST_RSA_BITS = 2048;

/** @throws ConfigurationError for a key that is too weak or cannot sign, or an algorithm that does not fit it. */
export function keysOf({ secret, privateKey, algorithm }: TokenKeyOptions): TokenKeys {
  if ((secret === undefined) === (privateKey === undefined)) throw oauthError("TSGI_INVALID_TOKEN_KEY");
  return secret === undefined ? keysOfPrivateKey(privateKey ?? "", algorithm) : keysOfSecret(secret, algorithm);
}

/** A secret has at least the size of the hash (RFC 7518 §3.2). */
function keysOfSecret(secret: string | Uint8Array, given?: string): TokenKeys {
  const key = typeof secret === "string" ? new TextEncoder().encode(secret) : Uint8Array.from(secret);
  const algorithm = choose(given, ALGORITHMS["secret"]);
  const least = Number(algorithm.slice(2)) / 8;
  if (key.length < least) throw oauthError("TSGI_SHORT_TOKEN_SECRET", algorithm, least, key.length);
  const hash = { name: "HMAC", hash: `SHA-${algorithm.slice(2)}` };
  let imported: Promise<CryptoKey> | undefined;
  // Imported once, and not before it is needed: Cloudflare Workers do no work before the first request.
  const read = () => (imported ??= crypto.subtle.importKey("raw", key, hash, false, ["sign", "verify"]));
  return { algorithm, signing: read, verifying: read };
}

function choose(given: string | undefined, possible: readonly string[] = []): string {
  const chosen = given ?? String(possible[0]);
  if (!possible.includes(chosen)) throw oauthError("TSGI_INVALID_TOKEN_ALGORITHM", chosen, possible);
  return chosen;
}

function keysOfPrivateKey(given: string | KeyObject | CryptoKey, algorithm?: string): TokenKeys {
  const node = globalThis.process?.getBuiltinModule?.("node:crypto");
  if (node === undefined) throw missingModule("node:crypto", "new AccessTokens({ privateKey })");
  const key = readKey(given, node);
  const type = typeOf(key);
  if (!isStrong(key) || !(type in ALGORITHMS)) {
    const { modulusLength = "" } = key.asymmetricKeyDetails ?? {};
    throw oauthError("TSGI_INVALID_TOKEN_KEY.private", `a ${key.type} key of ${type} ${modulusLength}`.trim());
  }
  const signing = typeof given === "string" ? key : given;
  const possible = rsaAlgorithmOf(signing) ?? ALGORITHMS[type];
  const verifying = node.createPublicKey(key);
  return { algorithm: choose(algorithm, possible), signing: async () => signing, verifying: async () => verifying };
}

/** The curve of a key, or its type. */
function typeOf({ type, asymmetricKeyType, asymmetricKeyDetails }: Crypto.KeyObject): string {
  return asymmetricKeyDetails?.namedCurve ?? asymmetricKeyType ?? type;
}

function isStrong({ type, asymmetricKeyDetails }: Crypto.KeyObject): boolean {
  return type === "private" && (asymmetricKeyDetails?.modulusLength ?? LEAST_RSA_BITS) >= LEAST_RSA_BITS;
}

function readKey(given: string | KeyObject | CryptoKey, node: typeof Crypto): Crypto.KeyObject {
  try {
    if (typeof given === "string") return node.createPrivateKey(given);
    return given instanceof node.KeyObject ? given : node.KeyObject.from(given as CryptoKey);
  } catch (cause) {
    const what = typeof given === "string" ? describeError(cause).message : describe(given);
    throw Object.assign(oauthError("TSGI_INVALID_TOKEN_KEY.private", what), { cause });
  }
}

/** A `CryptoKey` of RSA is made for one algorithm. */
function rsaAlgorithmOf(key: object): readonly string[] | undefined {
  const { name, hash } = (key as { algorithm?: { name: string; hash?: { name: string } } }).algorithm ?? {};
  return hash && [`${name === "RSA-PSS" ? "PS" : "RS"}${hash.name.slice("SHA-".length)}`];
}
