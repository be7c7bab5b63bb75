/** A provider on loopback that lies as a test tells it. @module */
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from "jose";

export const CLIENT = { clientId: "shop", clientSecret: "a-secret-of-the-tests-with-32-bytes" };

/** A login that has a code, and no tokens yet. */
interface Grant {
  readonly nonce: string;
  readonly challenge: string;
  readonly redirectURI: string;
  readonly sub: string;
}

/** A request that the token endpoint has received. */
export interface TokenRequest {
  readonly form: URLSearchParams;
  readonly authorization: string | undefined;
}

async function createKey(alg: string) {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { jwk: { ...(await exportJWK(publicKey)), alg, use: "sig", kid: "first" } as JWK, privateKey };
}

const seconds = () => Math.floor(Date.now() / 1_000);

/** A provider whose users are logged in already: its authorization endpoint redirects at once. */
export class HostileProvider implements AsyncDisposable {
  /** The user who is logged in. */
  sub = "ada";
  /** Changes the metadata. */
  metadata: object = {};
  /** Changes the claims of each ID token. */
  claims: JWTPayload = {};
  /** Changes the parameters of the callback. */
  callback: Record<string, string | null> = {};
  /** `false` for a provider that ignores PKCE. */
  checksPKCE = true;
  /** The lifetime of access tokens; `undefined` if the provider does not tell. */
  expiresIn: number | undefined = 3_600;
  refreshes = true;
  /** Signs ID tokens instead of the key of the provider. */
  otherKey: { key: CryptoKey | Uint8Array; alg: string } | null = null;
  /** Responds in the place of the token endpoint; `undefined` for the usual response. */
  respond: ((request: TokenRequest, response: ServerResponse) => boolean | Promise<boolean>) | undefined;
  readonly tokenRequests: TokenRequest[] = [];
  readonly paths: string[] = [];
  readonly #grants = new Map<string, Grant>();
  readonly #refreshTokens = new Map<string, string>();
  readonly #key: Awaited<ReturnType<typeof createKey>>;
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  private constructor(key: Awaited<ReturnType<typeof createKey>>) {
    this.#key = key;
  }

  static async start(): Promise<HostileProvider> {
    const provider = new HostileProvider(await createKey("ES256"));
    await once(provider.#server.listen(0, "127.0.0.1"), "listening");
    return provider;
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Invalidates all refresh tokens. */
  forget(): void {
    this.#refreshTokens.clear();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", this.issuer);
    this.paths.push(url.pathname);
    if (url.pathname === "/authorize") return this.#authorize(url, response);
    if (url.pathname === "/token") return this.#token(request, response);
    const documents: Record<string, object> = {
      "/.well-known/openid-configuration": {
        issuer: this.issuer,
        authorization_endpoint: `${this.issuer}/authorize`,
        token_endpoint: `${this.issuer}/token`,
        jwks_uri: `${this.issuer}/jwks`,
        end_session_endpoint: `${this.issuer}/logout`,
        id_token_signing_alg_values_supported: ["ES256", "HS256"],
        token_endpoint_auth_methods_supported: ["client_secret_basic"],
        ...this.metadata,
      },
      "/jwks": { keys: [this.#key.jwk] },
    };
    const document = documents[url.pathname];
    send(response, document ? 200 : 404, document ?? {});
  }

  #authorize({ searchParams }: URL, response: ServerResponse): void {
    const code = randomBytes(16).toString("hex");
    const read = (name: string) => searchParams.get(name) ?? "";
    const redirectURI = read("redirect_uri");
    this.#grants.set(code, { nonce: read("nonce"), challenge: read("code_challenge"), redirectURI, sub: this.sub });
    const target = new URL(redirectURI);
    const parameters = { code, state: read("state"), ...this.callback };
    for (const [name, value] of Object.entries(parameters)) if (value !== null) target.searchParams.append(name, value);
    response.writeHead(303, { location: target.href }).end();
  }

  async #token(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += String(chunk);
    const form = new URLSearchParams(body);
    const received = { form, authorization: request.headers.authorization };
    this.tokenRequests.push(received);
    if (this.respond && (await this.respond(received, response))) return;
    if (form.get("grant_type") === "refresh_token") return this.#refresh(form, response);
    const grant = this.#grants.get(form.get("code") ?? "");
    this.#grants.delete(form.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const isRight =
      grant?.redirectURI === form.get("redirect_uri") && (!this.checksPKCE || grant.challenge === challenge);
    if (!grant || !isRight) return send(response, 400, { error: "invalid_grant", error_description: "<b>secret</b>" });
    return send(response, 200, await this.#tokens(grant.sub, { nonce: grant.nonce }));
  }

  async #refresh(form: URLSearchParams, response: ServerResponse): Promise<void> {
    const token = form.get("refresh_token") ?? "";
    const sub = this.#refreshTokens.get(token);
    this.#refreshTokens.delete(token);
    if (sub === undefined) return send(response, 400, { error: "invalid_grant" });
    return send(response, 200, await this.#tokens(sub, {}));
  }

  async #tokens(sub: string, claims: JWTPayload): Promise<object> {
    const refreshToken = randomBytes(16).toString("hex");
    this.#refreshTokens.set(refreshToken, sub);
    return {
      access_token: `access-${randomBytes(8).toString("hex")}`,
      token_type: "Bearer",
      ...(this.expiresIn !== undefined && { expires_in: this.expiresIn }),
      ...(this.refreshes && { refresh_token: refreshToken }),
      id_token: await this.sign({ sub, sid: `sid-of-${sub}`, name: "Ada", ...claims, ...this.claims }),
    };
  }

  /** Signs an ID token. */
  sign(claims: JWTPayload): Promise<string> {
    const { key, alg } = this.otherKey ?? { key: this.#key.privateKey, alg: "ES256" };
    const all = { iss: this.issuer, aud: CLIENT.clientId, iat: seconds(), exp: seconds() + 300, ...claims };
    return new SignJWT(all).setProtectedHeader({ alg, kid: "first" }).sign(key);
  }

  /** Signs a logout token (OpenID Connect Back-Channel Logout 1.0 §2.4). */
  signLogout(claims: JWTPayload): Promise<string> {
    const events = { "http://schemas.openid.net/event/backchannel-logout": {} };
    return this.sign({ jti: randomBytes(8).toString("hex"), events, ...claims });
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    if (this.#server.listening) this.#server.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
