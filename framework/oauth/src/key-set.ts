/** The keys of an identity provider: found, fetched, cached, and fetched again if they are rotated. @module */
import type { JWTVerifyGetKey } from "jose";
import { HTTPException } from "tsgi";
import { discoveryUrlOf, isRecord, isSecure, markHandled } from "tsgi/internals";
import * as jose from "jose";

/** Milliseconds that must pass after a fetch that failed. The library aborts a fetch after 5 seconds. */
const PAUSE_AFTER_FAILURE_MS = 5_000;
/** Attack: a flood of tokens with unknown `kid` would make this server send as many requests to the provider. */
const PAUSE_AFTER_UNKNOWN_KEY_MS = 60_000;
/** Keys that the provider has withdrawn are used for an hour at most, while the provider can be reached. */
const FRESH_MS = 3_600_000;
/** More than any provider sends. */
const MAX_CHARACTERS = 1_048_576;

/**
 * Selects the key of a token. The key set is fetched from `given`, or from the address in the provider's metadata. Requests
 * that need it at the same time share one fetch.
 *
 * @throws HTTPException 503 if no keys are cached and the provider is unavailable.
 */
export function remoteKeys(issuer: string, given: string | null): JWTVerifyGetKey {
  let url = given;
  const keys = jose.createRemoteJWKSet(new URL(given ?? issuer), {
    // Fetches are started below: the first one does not delay the next, and cached keys are used during a renewal.
    cooldownDuration: Infinity,
    cacheMaxAge: Infinity,
    [jose.customFetch]: async (_, options) =>
      Response.json(await fetchJSON((url ??= await discover(issuer, options)), options)),
  });
  /** Times, in milliseconds since 1970, from which the set may be fetched: at all, for an unknown key, since it is old. */
  let [fetchFrom, searchFrom, refreshFrom] = [0, 0, 0];
  const reload = async () => {
    const isFirst = !keys.fresh;
    try {
      if (Date.now() < fetchFrom) throw new Error("The last fetch has just failed.");
      await keys.reload();
    } catch (cause) {
      const now = Date.now();
      if (now >= fetchFrom) fetchFrom = now + PAUSE_AFTER_FAILURE_MS;
      const headers = { "Retry-After": String(Math.max(1, Math.ceil((fetchFrom - now) / 1_000))) };
      throw new HTTPException(503, "The identity provider is unavailable", { headers, cause });
    }
    if (!isFirst) searchFrom = Date.now() + PAUSE_AFTER_UNKNOWN_KEY_MS;
    refreshFrom = Date.now() + FRESH_MS;
  };
  return async (header, token) => {
    const now = Date.now();
    if (!keys.fresh) await reload();
    else if (now >= Math.max(refreshFrom, fetchFrom)) void markHandled(reload());
    try {
      return await keys(header, token);
    } catch (error) {
      const maySearch = keys.reloading || now >= Math.max(searchFrom, fetchFrom);
      if (!(error instanceof jose.errors.JWKSNoMatchingKey) || !maySearch) throw error;
      await reload().catch(() => {});
      return keys(header, token);
    }
  };
}

/** @see OpenID Connect Discovery 1.0 §4.3: an issuer that differs could be an impersonation. */
async function discover(issuer: string, options: RequestInit): Promise<string> {
  const metadata = await fetchJSON(discoveryUrlOf(issuer), options);
  if (!isRecord(metadata) || metadata["issuer"] !== issuer) throw new Error("The metadata is of another issuer.");
  const { jwks_uri: url } = metadata;
  if (!isSecure(url)) throw new Error("jwks_uri is not an https: URL.");
  return String(url);
}

/** @param options - They do not follow a redirect, which could lead to an address that only this server can reach. */
async function fetchJSON(url: string, options: RequestInit): Promise<unknown> {
  const { status, body } = await fetch(url, options);
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    if (status !== 200 || text.length > MAX_CHARACTERS) throw new Error(`${url} did not respond with JSON.`);
  }
  return JSON.parse(text);
}
