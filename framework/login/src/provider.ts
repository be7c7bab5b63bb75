/** The identity provider: its metadata, and requests to it that are limited in time and size. @module */
import * as jose from "jose";
import * as client from "openid-client";
import { isSecure } from "tsgi/internals";
import type { Settings } from "./options.js";

/** A provider that does not respond, or responds that it cannot. */
export class ProviderAwayError extends Error {
  override readonly name = "ProviderAwayError";
}

/** More than any provider sends. */
const MAX_CHARACTERS = 1_048_576;

/** Statuses whose responses have no body. */
const BODILESS = new Set([101, 204, 205, 304]);

async function readText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MAX_CHARACTERS) throw new RangeError(`The response has more than ${MAX_CHARACTERS} characters`);
  }
  return text;
}

/** The provider of one login. */
export class Provider {
  readonly #settings: Settings;
  #configuration: Promise<client.Configuration> | null = null;
  #keys: jose.JWTVerifyGetKey | null = null;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** The provider as its metadata describe it, fetched at the first use. A fetch that fails is tried again by the next use. */
  configuration(): Promise<client.Configuration> {
    return (this.#configuration ??= this.#discover().catch((error: unknown) => {
      this.#configuration = null;
      throw error;
    }));
  }

  async #discover(): Promise<client.Configuration> {
    const { issuer, clientId, clientSecret } = this.#settings;
    const execute = [client.enableNonRepudiationChecks];
    // oxlint-disable-next-line typescript/no-deprecated -- the rule of the option allows `http:` on loopback only
    if (issuer.startsWith("http:")) execute.push(client.allowInsecureRequests);
    const authenticate: client.ClientAuth = (server, ...rest) =>
      authenticationOf(server.token_endpoint_auth_methods_supported, clientSecret)(server, ...rest);
    const options = { execute, [client.customFetch]: this.#fetch };
    return client.discovery(new URL(issuer), clientId, undefined, authenticate, options);
  }

  /** Attack: a provider that never ends its response, or sends an endless one, would hold requests and memory. */
  readonly #fetch = async (url: string, { signal, ...options }: RequestInit): Promise<Response> => {
    const timeout = AbortSignal.timeout(this.#settings.timeoutMs);
    try {
      const response = await fetch(url, { ...options, signal: signal ? AbortSignal.any([signal, timeout]) : timeout });
      const { status, headers } = response;
      if (status >= 500 || status === 429) throw new Error(`${url} responded with ${status}`);
      const text = await readText(response);
      return new Response(BODILESS.has(status) ? null : text, { status, headers });
    } catch (cause) {
      if (cause instanceof RangeError) throw cause;
      throw new ProviderAwayError("The identity provider is unavailable", { cause });
    }
  };

  /** Selects the public key of a token that the provider has signed. */
  async keys(): Promise<jose.JWTVerifyGetKey> {
    const { jwks_uri: url } = (await this.configuration()).serverMetadata();
    if (!isSecure(url)) throw new Error("jwks_uri of the identity provider is not an https: URL");
    return (this.#keys ??= jose.createRemoteJWKSet(new URL(url), { [jose.customFetch]: this.#fetch }));
  }
}

/** OpenID Connect Discovery §3: without the list, a client uses HTTP Basic. */
function authenticationOf(methods: readonly string[] = ["client_secret_basic"], secret: string) {
  if (secret === "") return client.None();
  if (methods.includes("client_secret_basic")) return client.ClientSecretBasic(secret);
  if (methods.includes("client_secret_post")) return client.ClientSecretPost(secret);
  return methods.includes("client_secret_jwt") ? client.ClientSecretJwt(secret) : client.ClientSecretBasic(secret);
}
