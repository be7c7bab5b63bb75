/** An identity provider on loopback, whose keys and responses a test can change. @module */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";
import { App, Depends, Security } from "tsgi";
import type { JWTBearer } from "../src/index.js";

export const AUDIENCE = "https://api.example.com";

/** A private key, and its public part as the provider publishes it. */
export interface ProviderKey {
  readonly jwk: JWK;
  readonly privateKey: CryptoKey;
}

export async function createKey(kid: string | undefined, alg = "ES256"): Promise<ProviderKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { jwk: { ...(await exportJWK(publicKey)), alg, use: "sig", ...(kid !== undefined && { kid }) }, privateKey };
}

/** A provider with one key. */
export class Provider implements AsyncDisposable {
  keys: ProviderKey[] = [];
  /** The paths that were requested, in order. */
  readonly requests: string[] = [];
  /** Responds in the place of the provider; `undefined` for the usual response. */
  respond: ((path: string, response: ServerResponse) => void) | undefined;
  readonly #server = createServer((request, response) => {
    const path = request.url ?? "";
    this.requests.push(path);
    if (this.respond) return this.respond(path, response);
    const metadata = { issuer: this.issuer, jwks_uri: `${this.issuer}/jwks` };
    const documents = {
      "/.well-known/openid-configuration": metadata,
      "/jwks": { keys: this.keys.map(({ jwk }) => jwk) },
    };
    const document = new Map<string, object>(Object.entries(documents)).get(path);
    response
      .writeHead(document ? 200 : 404, { "content-type": "application/json" })
      .end(JSON.stringify(document ?? {}));
  });

  static async start(alg = "ES256"): Promise<Provider> {
    const provider = new Provider();
    provider.keys = [await createKey("first", alg)];
    await once(provider.#server.listen(0, "127.0.0.1"), "listening");
    return provider;
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The number of times that the key set was requested. */
  get fetches(): number {
    return this.requests.filter((path) => path === "/jwks").length;
  }

  /** Signs a token for the API, with the newest key. */
  sign(claims: JWTPayload = {}, header: { kid?: string | undefined; [name: string]: unknown } = {}): Promise<string> {
    const { jwk, privateKey } = this.keys.at(-1) as ProviderKey;
    const now = Math.floor(Date.now() / 1_000);
    return new SignJWT({ iss: this.issuer, aud: AUDIENCE, sub: "ada", exp: now + 60, ...claims })
      .setProtectedHeader({ alg: jwk.alg ?? "", kid: jwk.kid, ...header })
      .sign(privateKey);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

/** An application whose route returns the claims. */
export function createApp(scheme: JWTBearer<boolean>, scopes: readonly string[] = []): App {
  const app = new App({ logger: { debug() {}, info() {}, warn() {}, error() {} } });
  app.get("/", { params: { claims: Security(scheme, { scopes }) } }, async ({ claims }) => ({ sub: claims?.sub }));
  app.get(
    "/open",
    { params: { claims: Depends(scheme, { optional: true }) } },
    async ({ claims }) => claims?.sub ?? null,
  );
  return app;
}

/** Calls a route with a token. */
export async function call(app: App, token: string | null, path = "/") {
  const headers = new Headers(token === null ? [] : [["authorization", `Bearer ${token}`]]);
  const response = await app.fetch(new Request(`http://localhost${path}`, { headers }));
  return {
    status: response.status,
    challenge: response.headers.get("www-authenticate"),
    retryAfter: response.headers.get("retry-after"),
    body: await response.json(),
  };
}

export const INVALID = {
  status: 401,
  challenge: 'Bearer error="invalid_token"',
  retryAfter: null,
  body: { detail: "Invalid token" },
};
