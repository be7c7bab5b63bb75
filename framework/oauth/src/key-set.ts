/** The keys of an identity provider: found, fetched, cached, and fetched again if they are rotated. @module */
import type { JSONWebKeySet, JWTVerifyGetKey } from "jose";
import { HTTPException } from "tsgi";
import { isRecord, isWorkerd, markHandled } from "tsgi/internals";
import { jose } from "./jose.js";
import { isSecure } from "./options.js";

/** Milliseconds that a fetch may take, and that must pass after one that failed. */
const FETCH_MS = 5_000;
const PAUSE_AFTER_FAILURE_MS = 5_000;
/** Attack: a flood of tokens with unknown `kid` would make this server send as many requests to the provider. */
const PAUSE_AFTER_UNKNOWN_KEY_MS = 60_000;
/** Keys that the provider has withdrawn are used for an hour at most, while the provider can be reached. */
const FRESH_MS = 3_600_000;
/** More than any provider sends. */
const MAX_BYTES = 1_048_576;

/** Selects the key of a token. The key set is fetched from `url`, or from the address in the provider's metadata. */
export class RemoteKeySet {
  readonly #issuer: string;
  #url: string | null;
  #select: JWTVerifyGetKey | null = null;
  #pending: Promise<JWTVerifyGetKey> | null = null;
  /** Times, in milliseconds since 1970, from which the set may be fetched: at all, for an unknown key, since it is old. */
  #fetchFrom = 0;
  #searchFrom = 0;
  #refreshFrom = 0;

  constructor(issuer: string, url: string | null) {
    this.#issuer = issuer;
    this.#url = url;
  }

  /** @throws HTTPException 503 if no keys are cached and the provider is unavailable. */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const now = Date.now();
    const select = this.#select ?? (await this.#fetch());
    if (now >= Math.max(this.#refreshFrom, this.#fetchFrom)) void markHandled(this.#fetch());
    try {
      return await select(header, token);
    } catch (error) {
      const isUnknown = error instanceof jose.errors.JWKSNoMatchingKey;
      const maySearch = this.#pending !== null || now >= Math.max(this.#searchFrom, this.#fetchFrom);
      if (!isUnknown || !maySearch) throw error;
      const renewed = await this.#fetch().catch(() => null);
      if (renewed === null) throw error;
      return renewed(header, token);
    }
  };

  /** Requests that need the keys at the same time share one fetch. */
  #fetch(): Promise<JWTVerifyGetKey> {
    if (this.#pending !== null && !isWorkerd()) return this.#pending;
    const pending = this.#load().finally(() => (this.#pending = null));
    this.#pending = pending;
    return pending;
  }

  async #load(): Promise<JWTVerifyGetKey> {
    const isFirst = this.#select === null;
    let cause: unknown;
    if (Date.now() >= this.#fetchFrom) {
      try {
        this.#url ??= await this.#discover();
        // Checks the form of the set. A set that cannot be used leaves the one that is cached.
        const select = jose.createLocalJWKSet((await fetchJSON(this.#url)) as JSONWebKeySet);
        const now = Date.now();
        if (!isFirst) this.#searchFrom = now + PAUSE_AFTER_UNKNOWN_KEY_MS;
        this.#refreshFrom = now + FRESH_MS;
        return (this.#select = select);
      } catch (error) {
        cause = error;
        this.#fetchFrom = Date.now() + PAUSE_AFTER_FAILURE_MS;
      }
    }
    const seconds = Math.max(1, Math.ceil((this.#fetchFrom - Date.now()) / 1_000));
    const headers = { "Retry-After": String(seconds) };
    throw new HTTPException(503, "The identity provider is unavailable", { headers, cause });
  }

  /** @see OpenID Connect Discovery 1.0 §4.3: an issuer that differs could be an impersonation. */
  async #discover(): Promise<string> {
    const metadata = await fetchJSON(discoveryUrlOf(this.#issuer));
    if (!isRecord(metadata) || metadata["issuer"] !== this.#issuer)
      throw new Error("The metadata is of another issuer.");
    const { jwks_uri: url } = metadata;
    if (!isSecure(url)) throw new Error("jwks_uri is not an https: URL.");
    return String(url);
  }
}

/** The address of a provider's metadata (OpenID Connect Discovery 1.0 §4). */
export function discoveryUrlOf(issuer: string): string {
  return `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
}

/** Attack: a redirect leads to an address that is not encrypted, or that only this server can reach. */
async function fetchJSON(url: string): Promise<unknown> {
  const signal = AbortSignal.timeout(FETCH_MS);
  const response = await fetch(url, { signal, redirect: "manual", headers: { accept: "application/json" } });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`${url} responded with ${response.status}.`);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const body: AsyncIterable<Uint8Array> | null = response.body;
  for await (const chunk of body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`${url} responded with more than ${MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return JSON.parse(await new Blob(chunks).text());
}
