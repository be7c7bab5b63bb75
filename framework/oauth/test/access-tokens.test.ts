import { createHmac, createPublicKey, generateKeyPairSync, webcrypto } from "node:crypto";
import { describe, expect, it } from "@jest/globals";
import { decodeJwt, decodeProtectedHeader, EncryptJWT, jwtVerify, SignJWT } from "jose";
import { App, ConfigurationError, Depends } from "tsgi";
import { AccessTokens, type AccessTokensOptions, JWTBearer } from "../src/index.js";
import { call, createApp, INVALID } from "./_provider.js";

const SECRET = "a-key-of-exactly-32-bytes-length";
const tokens = new AccessTokens({ secret: SECRET, expiresInSeconds: 60 });
const now = Math.floor(Date.now() / 1_000);
const good = { sub: "ada", exp: now + 60 };

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A token written by hand, so that the library that verifies it is not the one that signed it. */
function handMade(payload: unknown, header: object = { alg: "HS256" }, key = SECRET, hash = "sha256"): string {
  const content = `${encode(header)}.${encode(payload)}`;
  return `${content}.${createHmac(hash, key).update(content).digest("base64url")}`;
}

const [header = "", payload = "", signature = ""] = handMade(good).split(".");

describe("AccessTokens", () => {
  it("signs the claims with HS256, with the time of issue and of expiry", async () => {
    const token = await tokens.sign({ sub: "ada", scope: "read" });
    expect(decodeProtectedHeader(token)).toEqual({ alg: "HS256", typ: "JWT" });
    const { iat = 0, ...claims } = decodeJwt(token);
    expect(claims).toEqual({ sub: "ada", scope: "read", exp: iat + 60 });
    expect(Math.abs(iat - now)).toBeLessThan(60);
    expect(await tokens.verify(token)).toEqual({ iat, ...claims });
  });

  it("accepts a token of another program with the same secret", async () => {
    expect(await tokens.verify(handMade(good))).toEqual(good);
    const bytes = new AccessTokens({ secret: new TextEncoder().encode(SECRET), expiresInSeconds: 60 });
    expect(await bytes.verify(handMade(good))).toEqual(good);
  });

  it.each([
    ["an empty string", ""],
    ["no token", "nonsense"],
    ["a changed payload", `${header}.${encode({ ...good, sub: "eve" })}.${signature}`],
    ["a changed signature", `${header}.${payload}.${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`],
    ["no signature", `${header}.${payload}.`],
    ["another secret", handMade(good, { alg: "HS256" }, "another-key-of-exactly-32-bytes-")],
    ["alg none", `${encode({ alg: "none" })}.${payload}.`],
    ["alg none and a signature", `${encode({ alg: "none" })}.${payload}.${signature}`],
    ["HS384", handMade(good, { alg: "HS384" }, SECRET, "sha384")],
    ["HS512", handMade(good, { alg: "HS512" }, SECRET, "sha512")],
    ["no alg", handMade(good, {})],
    ["an expiry in the past", handMade({ ...good, exp: now - 1 })],
    ["an expiry now", handMade({ ...good, exp: now })],
    ["no expiry", handMade({ sub: "ada" })],
    ["an expiry that is a string", handMade({ ...good, exp: String(good.exp) })],
    ["an expiry that is null", handMade({ ...good, exp: null })],
    ["a start in the future", handMade({ ...good, nbf: good.exp })],
    ["a payload that is an array", handMade([good])],
    ["a payload that is a string", handMade("ada")],
    ["an unknown critical extension", handMade(good, { alg: "HS256", crit: ["x"], x: 1 })],
    ["a critical extension that the library knows", handMade(good, { alg: "HS256", crit: ["b64"], b64: true })],
    ["more than 16 KiB", handMade({ ...good, padding: "x".repeat(16 * 1024) })],
    ["a fourth part", `${handMade(good)}.x`],
    ["a sixth part", `${handMade(good)}.x.x.x`],
  ])("rejects a token with %s", async (_, token) => {
    expect(await tokens.verify(token)).toBeNull();
  });

  it("rejects an encrypted token, even with its secret", async () => {
    const encrypted = await new EncryptJWT(good)
      .setProtectedHeader({ alg: "dir", enc: "A256GCM" })
      .encrypt(new TextEncoder().encode(SECRET));
    expect(await tokens.verify(encrypted)).toBeNull();
  });

  it("writes issuer and audience, and rejects tokens of others", async () => {
    const options = {
      secret: SECRET,
      expiresInSeconds: 60,
      issuer: "https://a.example",
      audience: "https://api.example",
    };
    const own = new AccessTokens(options);
    const token = await own.sign({ sub: "ada" });
    expect(await own.verify(token)).toMatchObject({ iss: options.issuer, aud: options.audience });
    expect(await own.verify(await tokens.sign({ sub: "ada" }))).toBeNull();
    for (const other of [{ issuer: "https://b.example" }, { audience: "https://b.example" }]) {
      expect(await own.verify(await new AccessTokens({ ...options, ...other }).sign({ sub: "ada" }))).toBeNull();
    }
  });

  it("prefers the claims that are passed", async () => {
    const { iat, exp } = decodeJwt(await tokens.sign({ iat: 1, exp: 2 }));
    expect([iat, exp]).toEqual([1, 2]);
  });
});

const pair = (type: "rsa" | "rsa-pss" | "ec" | "ed25519", options: object = {}) =>
  generateKeyPairSync(type as "ec", options as { namedCurve: string }).privateKey;

const webKey = async (algorithm: object) => {
  const usages = ["sign", "verify"] as const;
  return (await webcrypto.subtle.generateKey(algorithm as webcrypto.EcKeyGenParams, false, usages)).privateKey;
};

const RSA = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) };

describe("AccessTokens with a private key", () => {
  it.each([
    ["RS256", () => pair("rsa", { modulusLength: 2048 })],
    ["ES256", () => pair("ec", { namedCurve: "P-256" })],
    ["ES384", () => pair("ec", { namedCurve: "P-384" })],
    ["ES512", () => pair("ec", { namedCurve: "P-521" })],
    ["EdDSA", () => pair("ed25519")],
    ["ES256", () => pair("ec", { namedCurve: "P-256" }).export({ type: "pkcs8", format: "pem" }) as string],
    ["RS256", () => pair("rsa", { modulusLength: 2048 }).export({ type: "pkcs8", format: "pem" }) as string],
    ["ES384", () => webKey({ name: "ECDSA", namedCurve: "P-384" })],
    ["EdDSA", () => webKey({ name: "Ed25519" })],
    ["RS512", () => webKey({ name: "RSASSA-PKCS1-v1_5", hash: "SHA-512", ...RSA })],
    ["PS384", () => webKey({ name: "RSA-PSS", hash: "SHA-384", ...RSA })],
  ])("signs with %s, which follows from the key", async (algorithm, create) => {
    const privateKey = await create();
    const own = new AccessTokens({ privateKey, expiresInSeconds: 60 });
    const token = await own.sign({ sub: "ada" });
    expect(decodeProtectedHeader(token).alg).toBe(algorithm);
    expect(await own.verify(token)).toMatchObject({ sub: "ada" });
    const other = new AccessTokens({ privateKey: pair("ec", { namedCurve: "P-256" }), expiresInSeconds: 60 });
    expect(await own.verify(await other.sign({ sub: "ada" }))).toBeNull();
  });

  it("can use another algorithm of the same key, and accepts no other one", async () => {
    const privateKey = pair("rsa", { modulusLength: 2048 });
    const own = new AccessTokens({ privateKey, algorithm: "PS512", expiresInSeconds: 60 });
    const token = await own.sign({ sub: "ada" });
    await expect(jwtVerify(token, createPublicKey(privateKey), { algorithms: ["PS512"] })).resolves.toBeDefined();
    const another = await new SignJWT({ ...good }).setProtectedHeader({ alg: "RS256" }).sign(privateKey);
    expect(await own.verify(another)).toBeNull();
  });

  it("rejects a token that is signed with its public key as a secret (RFC 8725 §2.1)", async () => {
    const privateKey = pair("rsa", { modulusLength: 2048 });
    const pem = createPublicKey(privateKey).export({ type: "spki", format: "pem" }) as string;
    const own = new AccessTokens({ privateKey, expiresInSeconds: 60 });
    expect(await own.verify(handMade(good, { alg: "HS256" }, pem))).toBeNull();
  });
});

describe("the options of AccessTokens", () => {
  const expiresInSeconds = 60;
  it.each<[string, object, RegExp]>([
    ["a secret of 31 bytes", { secret: "x".repeat(31), expiresInSeconds }, /at least 32 bytes, not 31/],
    ["a secret of 32 bytes for HS512", { secret: SECRET, algorithm: "HS512", expiresInSeconds }, /at least 64 bytes/],
    ["no key", { expiresInSeconds }, /either a secret or a privateKey/],
    ["two keys", { secret: SECRET, privateKey: "x", expiresInSeconds }, /either a secret or a privateKey/],
    ["text that is no key", { privateKey: "x", expiresInSeconds }, /PKCS #8/],
    ["a number", { privateKey: 7, expiresInSeconds }, /PKCS #8/],
    ["a public key", { privateKey: createPublicKey(pair("ed25519")), expiresInSeconds }, /a public key of ed25519/],
    [
      "a weak key",
      { privateKey: pair("rsa", { modulusLength: 1024 }), expiresInSeconds },
      /RSA \(2,048 bits or more\)/,
    ],
    [
      "a key of a type that WebCrypto lacks",
      { privateKey: pair("rsa-pss", { modulusLength: 2048 }), expiresInSeconds },
      /rsa-pss/,
    ],
    ["a curve of Bitcoin", { privateKey: pair("ec", { namedCurve: "secp256k1" }), expiresInSeconds }, /secp256k1/],
    ["RS256 for a secret", { secret: SECRET, algorithm: "RS256", expiresInSeconds }, /does not fit the key. Use HS256/],
    ["none", { secret: SECRET, algorithm: "none", expiresInSeconds }, /does not fit the key/],
    ["HS256 for a key", { privateKey: pair("ed25519"), algorithm: "HS256", expiresInSeconds }, /Use EdDSA/],
    ["no time", { secret: SECRET }, /expiresInSeconds should be a number of seconds above 0/],
    ["a negative time", { secret: SECRET, expiresInSeconds: -1 }, /expiresInSeconds should be/],
    ["a misspelled option", { secret: SECRET, expiresInSeconds, isuer: "x" }, /issuer/],
  ])("do not accept %s", (_, options, message) => {
    const create = () => new AccessTokens(options as AccessTokensOptions);
    expect(create).toThrow(ConfigurationError);
    expect(create).toThrow(message);
  });
});

describe("JWTBearer({ tokens })", () => {
  const app = createApp(new JWTBearer({ tokens }));

  it("returns the claims, and rejects requests without a valid token", async () => {
    expect(await call(app, await tokens.sign({ sub: "ada" }))).toMatchObject({ status: 200, body: { sub: "ada" } });
    expect(await call(app, null)).toMatchObject({
      status: 401,
      challenge: "Bearer",
      body: { detail: "Not authenticated" },
    });
    expect(await call(app, "nonsense")).toEqual(INVALID);
    expect(await call(app, handMade({ sub: "ada", exp: now - 60 }))).toEqual(INVALID);
  });

  it("is described as a bearer token in the OpenAPI document", () => {
    const { components, paths } = app.openapi();
    expect(components?.securitySchemes).toEqual({ JWTBearer: { type: "http", scheme: "bearer", bearerFormat: "JWT" } });
    expect(paths["/"]?.["get"]?.security).toEqual([{ JWTBearer: [] }]);
    expect(paths["/open"]?.["get"]?.security).toEqual([{}, { JWTBearer: [] }]);
  });

  it("is null for an invalid token if autoError is false, and still rejects a token without the scopes", async () => {
    const lenient = new JWTBearer({ tokens, autoError: false });
    const own = new App();
    own.get("/", { params: { claims: Depends(lenient) } }, async ({ claims }) => ({ sub: claims?.sub ?? null }));
    expect(await call(own, "nonsense")).toMatchObject({ status: 200, body: { sub: null } });
    expect(await call(own, null)).toMatchObject({ status: 200, body: { sub: null } });
    expect(await call(own, await tokens.sign({ sub: "ada" }))).toMatchObject({ status: 200, body: { sub: "ada" } });
    expect(await call(createApp(lenient, ["a"]), await tokens.sign({}))).toMatchObject({ status: 403 });
  });
});
