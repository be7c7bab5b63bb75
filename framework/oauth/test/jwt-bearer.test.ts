import { createHmac, createPublicKey } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { type ApiOf, createClient } from "@tsgi/client";
import { exportSPKI, importJWK, type JWK } from "jose";
import { App, ConfigurationError, Depends, Security, WebSocket } from "tsgi";
import { TestClient } from "tsgi/testing";
import { JWTBearer, type JWTBearerOptions, type ProviderTokenOptions } from "../src/index.js";
import { AUDIENCE, call, createApp, createKey, INVALID, Provider } from "./_provider.js";

const now = Math.floor(Date.now() / 1_000);
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

let provider: Provider;
beforeAll(async () => {
  provider = await Provider.start();
});
afterAll(() => provider[Symbol.asyncDispose]());

const schemeOf = (options: Partial<ProviderTokenOptions<true>> = {}) =>
  new JWTBearer({ issuer: provider.issuer, audience: AUDIENCE, ...options });

describe("JWTBearer", () => {
  it("returns the claims of a token whose keys it finds by discovery", async () => {
    const app = createApp(schemeOf());
    expect(await call(app, await provider.sign())).toMatchObject({ status: 200, body: { sub: "ada" } });
  });

  it("rejects a request without a token with a challenge that has no code", async () => {
    expect(await call(createApp(schemeOf()), null)).toEqual({
      status: 401,
      challenge: "Bearer",
      retryAfter: null,
      body: { detail: "Not authenticated" },
    });
  });

  it.each<[string, () => Promise<string>]>([
    ["no token", async () => "nonsense"],
    ["another issuer", () => provider.sign({ iss: "https://elsewhere.example.com" })],
    ["the issuer with a slash", () => provider.sign({ iss: `${provider.issuer}/` })],
    ["no issuer", () => provider.sign({ iss: undefined as never })],
    ["another audience", () => provider.sign({ aud: "https://elsewhere.example.com" })],
    ["other audiences", () => provider.sign({ aud: ["https://elsewhere.example.com", `${AUDIENCE}/`] })],
    ["no audience", () => provider.sign({ aud: undefined as never })],
    ["no expiry", () => provider.sign({ exp: undefined as never })],
    ["an expiry that is a string", () => provider.sign({ exp: String(now + 60) as never })],
    ["an expiry before the tolerance", () => provider.sign({ exp: now - 60 })],
    ["a start after the tolerance", () => provider.sign({ nbf: now + 60 })],
    [
      "an unknown critical extension",
      () => provider.sign({}, { crit: ["x"], x: 1 }).catch(() => handMade({ crit: ["x"], x: 1 })),
    ],
    ["a critical extension that the library knows", () => provider.sign({}, { crit: ["b64"], b64: true })],
    ["alg none", async () => `${encode({ alg: "none", kid: "first" })}.${encode(await claims())}.`],
    ["alg NONE", async () => `${encode({ alg: "NONE", kid: "first" })}.${encode(await claims())}.`],
    ["another algorithm of the header", () => handMade({ alg: "RS256", kid: "first" })],
    ["the algorithm of another curve", () => handMade({ alg: "ES384", kid: "first" })],
    ["five parts", async () => `${await provider.sign()}.x.x`],
    ["16 KiB and more", () => provider.sign({ padding: "x".repeat(16 * 1024) })],
    ["64 KB", () => provider.sign({ padding: "x".repeat(64_000) })],
    ["a long header", async () => `${encode({ alg: "ES256", kid: "x".repeat(64_000) })}.e30.e30`],
  ])("rejects a token with %s", async (_, create) => {
    expect(await call(createApp(schemeOf()), await create())).toEqual(INVALID);
  });

  /** The claims of a token that would be valid. */
  const claims = async () =>
    JSON.parse(Buffer.from((await provider.sign()).split(".")[1] ?? "", "base64url").toString()) as object;

  /** A token whose header is not the one that was signed. */
  async function handMade(header: object): Promise<string> {
    const [, payload, signature] = (await provider.sign()).split(".");
    return `${encode({ alg: "ES256", kid: "first", ...header })}.${payload}.${signature}`;
  }

  it("accepts times within the tolerance, of five seconds or of the option", async () => {
    const app = createApp(schemeOf());
    // Fetches the keys: after it, a request takes far less than the tolerance.
    await call(app, await provider.sign());
    const instant = Math.floor(Date.now() / 1_000);
    expect(await call(app, await provider.sign({ exp: instant }))).toMatchObject({ status: 200 });
    const patient = createApp(schemeOf({ clockToleranceSeconds: 600 }));
    for (const times of [{ exp: now - 300 }, { nbf: now + 300 }]) {
      expect(await call(patient, await provider.sign(times))).toMatchObject({ status: 200 });
      expect(await call(app, await provider.sign(times))).toEqual(INVALID);
    }
    const strict = createApp(schemeOf({ clockToleranceSeconds: 0 }));
    expect(await call(strict, await provider.sign({ exp: now }))).toEqual(INVALID);
  });

  it("accepts one of several audiences", async () => {
    const app = createApp(schemeOf({ audience: ["api", AUDIENCE] }));
    expect(await call(app, await provider.sign({ aud: "api" }))).toMatchObject({ status: 200 });
    expect(await call(app, await provider.sign({ aud: ["other", AUDIENCE] }))).toMatchObject({ status: 200 });
  });

  it("rejects a token that is signed with the public key as a secret (RFC 8725 §2.1)", async () => {
    await using rsa = await Provider.start("RS256");
    const app = createApp(new JWTBearer({ issuer: rsa.issuer, audience: AUDIENCE }));
    expect(await call(app, await rsa.sign())).toMatchObject({ status: 200 });
    const jwk = rsa.keys[0]?.jwk as JWK;
    const pem = await exportSPKI((await importJWK(jwk, "RS256")) as never);
    const der = createPublicKey(pem).export({ type: "spki", format: "der" });
    for (const secret of [pem, pem.trim(), der, JSON.stringify(jwk), Buffer.from(jwk.n ?? "", "base64url")]) {
      const content = `${encode({ alg: "HS256", kid: "first" })}.${encode({ iss: rsa.issuer, aud: AUDIENCE, exp: now + 60 })}`;
      const token = `${content}.${createHmac("sha256", secret).update(content).digest("base64url")}`;
      expect(await call(app, token)).toEqual(INVALID);
    }
  });

  it("ignores keys and addresses in the header of a token", async () => {
    await using attacker = await Provider.start();
    const app = createApp(schemeOf());
    const url = `${attacker.issuer}/jwks`;
    for (const header of [{ jwk: attacker.keys[0]?.jwk }, { jku: url }, { x5u: url }, { x5c: ["AAAA"] }]) {
      const token = await attacker.sign({ iss: provider.issuer }, header);
      expect(await call(app, token)).toEqual(INVALID);
    }
    expect(attacker.requests).toEqual([]);
  });

  it.each(["RS256", "RS512", "PS256", "PS384", "ES256", "ES384", "ES512", "EdDSA"])("accepts %s", async (alg) => {
    const key = await createKey("k", alg);
    const own = new Provider();
    own.keys = [key];
    const scheme = new JWTBearer({
      issuer: "https://login.example.com",
      audience: AUDIENCE,
      jwks: { keys: [key.jwk] },
    });
    Object.defineProperty(own, "issuer", { value: "https://login.example.com" });
    expect(await call(createApp(scheme), await own.sign())).toMatchObject({ status: 200 });
    const other = alg === "ES256" ? "RS256" : "ES256";
    const narrow = new JWTBearer({
      issuer: "https://login.example.com",
      audience: AUDIENCE,
      jwks: { keys: [key.jwk] },
      algorithms: [other],
    });
    expect(await call(createApp(narrow), await own.sign())).toEqual(INVALID);
  });

  it("tries each key of the right type for a token without kid", async () => {
    await using own = await Provider.start();
    own.keys = [await createKey("a"), await createKey("b"), await createKey("c", "RS256"), await createKey(undefined)];
    const app = createApp(new JWTBearer({ issuer: own.issuer, audience: AUDIENCE }));
    expect(await call(app, await own.sign())).toMatchObject({ status: 200 });
    expect(await call(app, await own.sign({ exp: 1 }))).toEqual(INVALID);
    own.keys = [await createKey(undefined)];
    expect(await call(app, await own.sign())).toEqual(INVALID);
  });
});

describe("the scopes of a token", () => {
  it.each<[string, object, number]>([
    ["scope as a string", { scope: "other items:read items:write" }, 200],
    ["scope as an array", { scope: ["items:write", "items:read"] }, 200],
    ["scp as an array", { scp: ["items:read", "items:write"] }, 200],
    ["scp as a string", { scp: "items:read items:write" }, 200],
    ["one of them", { scope: "items:read" }, 403],
    ["a longer name", { scope: "items:read items:write2" }, 403],
    ["none", {}, 403],
    ["an object", { scope: { "items:read": true, "items:write": true } }, 403],
    ["a number", { scp: 7 }, 403],
  ])("with %s", async (_, claims, status) => {
    const app = createApp(schemeOf(), ["items:read", "items:write"]);
    const response = await call(app, await provider.sign({ ...claims }));
    expect(response.status).toBe(status);
    if (status === 403) {
      expect(response.challenge).toBe('Bearer error="insufficient_scope", scope="items:read items:write"');
      expect(response.body).toEqual({ detail: "Not enough scopes" });
    }
  });
});

describe("a JWTBearer on a route", () => {
  it("is null for a request without a token if it is optional, and rejects an invalid token", async () => {
    const app = createApp(schemeOf());
    expect(await call(app, null, "/open")).toMatchObject({ status: 200, body: null });
    expect(await call(app, await provider.sign(), "/open")).toMatchObject({ status: 200, body: "ada" });
    expect(await call(app, "nonsense", "/open")).toEqual(INVALID);
    expect(await call(app, "", "/open")).toMatchObject({ status: 401, challenge: "Bearer" });
  });

  it("rejects the handshake of a WebSocket, and passes the claims to its handler", async () => {
    const app = new App();
    const params = { websocket: WebSocket, claims: Security(schemeOf(), { scopes: ["chat"] }) };
    app.websocket("/chat", { params }, async ({ websocket, claims }) => {
      await websocket.accept();
      await websocket.sendText(String(claims.sub));
      await websocket.close();
    });
    await using client = await TestClient.open(app);
    const open = async (token: string | null) =>
      client.websocket("/chat", { headers: token === null ? {} : { authorization: `Bearer ${token}` } });
    await expect(open(null)).rejects.toMatchObject({ statusCode: 401 });
    await expect(open("nonsense")).rejects.toMatchObject({ statusCode: 401 });
    await expect(open(await provider.sign())).rejects.toMatchObject({ statusCode: 403 });
    const socket = await open(await provider.sign({ scope: "chat" }));
    expect(await socket.receiveText()).toBe("ada");
    await socket.close();
  });

  it("can be called with a typed client", async () => {
    const app = new App();
    const route = app.get("/me", { params: { claims: Depends(schemeOf()) } }, async ({ claims }) => ({
      user: claims.sub ?? "",
    }));
    const client = createClient<ApiOf<{ route: typeof route }>>({ fetch: app.fetch });
    const headers = { authorization: `Bearer ${await provider.sign()}` };
    const { data } = await client.GET("/me", { headers });
    expect(data?.user).toBe("ada");
    expect((await client.GET("/me")).response.status).toBe(401);
  });

  it("is described in the OpenAPI document by the address of the provider's metadata", () => {
    const app = createApp(schemeOf(), ["items:read"]);
    const { components, paths } = app.openapi();
    const openIdConnectUrl = `${provider.issuer}/.well-known/openid-configuration`;
    expect(components?.securitySchemes).toEqual({ JWTBearer: { type: "openIdConnect", openIdConnectUrl } });
    expect(paths["/"]?.["get"]?.security).toEqual([{ JWTBearer: ["items:read"] }]);
  });
});

describe("the option resource", () => {
  it("refers clients to the metadata of the resource in every challenge", async () => {
    const app = createApp(schemeOf({ resource: "https://api.example.com/mcp" }), ["items:read"]);
    const parameter = 'resource_metadata="https://api.example.com/.well-known/oauth-protected-resource/mcp"';
    expect((await call(app, null)).challenge).toBe(`Bearer ${parameter}`);
    expect((await call(app, "nonsense")).challenge).toBe(`Bearer error="invalid_token", ${parameter}`);
    expect((await call(app, await provider.sign())).challenge).toBe(
      `Bearer error="insufficient_scope", scope="items:read", ${parameter}`,
    );
  });
});

describe("the options of JWTBearer", () => {
  const issuer = "https://login.example.com";
  it.each<[string, object, RegExp]>([
    ["no issuer", { audience: AUDIENCE }, /issuer should be an https: URL/],
    ["no audience", { issuer }, /audience should be a string, or a list of strings/],
    ["an empty audience", { issuer, audience: "" }, /audience should be/],
    ["no audiences", { issuer, audience: [] }, /audience should be/],
    [
      "an issuer without encryption",
      { issuer: "http://login.example.com", audience: AUDIENCE },
      /issuer should be an https: URL/,
    ],
    [
      "a host that looks like loopback",
      { issuer: "http://127.0.0.1.example.com", audience: AUDIENCE },
      /issuer should be/,
    ],
    [
      "a user name that looks like a host",
      { issuer: "http://localhost@example.com", audience: AUDIENCE },
      /issuer should be/,
    ],
    ["an issuer with a query", { issuer: `${issuer}?a`, audience: AUDIENCE }, /issuer should be/],
    [
      "a key set without encryption",
      { issuer, audience: AUDIENCE, jwks: "http://login.example.com/jwks" },
      /jwks should be/,
    ],
    ["a key set of another kind", { issuer, audience: AUDIENCE, jwks: { key: [] } }, /jwks should be/],
    ["a symmetric algorithm", { issuer, audience: AUDIENCE, algorithms: ["RS256", "HS256"] }, /algorithms should be/],
    ["the algorithm none", { issuer, audience: AUDIENCE, algorithms: ["none"] }, /algorithms should be/],
    ["no algorithms", { issuer, audience: AUDIENCE, algorithms: [] }, /algorithms should be/],
    [
      "a negative tolerance",
      { issuer, audience: AUDIENCE, clockToleranceSeconds: -1 },
      /clockToleranceSeconds should be/,
    ],
    [
      "a resource without encryption",
      { issuer, audience: AUDIENCE, resource: "http://example.com" },
      /resource should be/,
    ],
    ["a misspelled option", { issuer, audiense: AUDIENCE }, /audience/],
    ["tokens that are none", { tokens: {} }, /tokens should be AccessTokens/],
    ["tokens of a provider", { tokens: { verify: async () => null }, issuer }, /issuer/],
  ])("do not accept %s", (_, options, message) => {
    const create = () => new JWTBearer(options as JWTBearerOptions<true>);
    expect(create).toThrow(ConfigurationError);
    expect(create).toThrow(message);
  });

  it.each([
    "http://127.0.0.1:3000",
    "http://127.8.0.1",
    "http://[::1]:3000",
    "http://localhost",
    "http://a.localhost:1/x",
  ])("accept %s, which does not leave the machine", (local) => {
    expect(new JWTBearer({ issuer: local, audience: AUDIENCE }).autoError).toBe(true);
  });
});
