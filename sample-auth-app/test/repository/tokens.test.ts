import { createHmac, generateKeyPairSync, sign } from "node:crypto";

import { describe, expect, it } from "@jest/globals";
import { decodeJwt, decodeProtectedHeader, EncryptJWT } from "jose";

import { createTokens, readToken } from "../../src/security/tokens.js";
import { cases } from "./support/cases.js";
import { SECRET_KEY } from "./support/constants.js";

const tokens = createTokens(SECRET_KEY);
const now = Math.floor(Date.now() / 1000);
const soon = now + 60;

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A token made by hand, so that the library that reads it is not the one that wrote it. */
function handMade(payload: unknown, header: object = { alg: "HS256" }, key = SECRET_KEY, hash = "sha256"): string {
  const content = `${encode(header)}.${encode(payload)}`;
  return `${content}.${createHmac(hash, key).update(content).digest("base64url")}`;
}

describe("an access token", () => {
  it("carries the claims and an expiry of 15 minutes, signed with HS256", async () => {
    const token = await tokens.sign({ sub: "alice" });
    const { sub, exp } = decodeJwt(token);
    expect(sub).toBe("alice");
    expect(exp! - Date.now() / 1000).toBeCloseTo(15 * 60, -1);
    expect(decodeProtectedHeader(token).alg).toBe("HS256");
  });

  it("is valid with only sub and exp, for any signer with the key", async () => {
    const token = handMade({ sub: "alice", exp: soon });
    expect(await readToken(tokens, token)).toEqual({
      username: "alice",
      version: undefined,
      scopes: null,
    });
  });

  const good = { sub: "alice", exp: soon };
  const [header, payload, signature] = handMade(good).split(".") as [string, string, string];

  cases([
    ["the empty text", ""],
    ["no token at all", "nonsense"],
    [
      "one character of the payload changed",
      `${header}.${payload.slice(0, -1)}${payload.endsWith("0") ? "1" : "0"}.${signature}`,
    ],
    [
      "one character of the signature changed",
      `${header}.${payload}.${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`,
    ],
    ["no signature", `${header}.${payload}.`],
    ["another key", handMade(good, { alg: "HS256" }, "another-key-of-exactly-32-bytes-")],
    ["alg none", `${encode({ alg: "none" })}.${payload}.`],
    ["alg none with our signature", `${encode({ alg: "none" })}.${payload}.${signature}`],
    ["HS384", handMade(good, { alg: "HS384" }, SECRET_KEY, "sha384")],
    ["HS512", handMade(good, { alg: "HS512" }, SECRET_KEY, "sha512")],
    ["no alg", handMade(good, {})],
    ["an expiry in the past", handMade({ sub: "alice", exp: now - 1 })],
    ["an expiry now", handMade({ sub: "alice", exp: now })],
    ["no expiry", handMade({ sub: "alice" })],
    ["an expiry that is text", handMade({ sub: "alice", exp: String(soon) })],
    ["an expiry that is null", handMade({ sub: "alice", exp: null })],
    ["a start in the future", handMade({ ...good, nbf: soon })],
    ["no subject", handMade({ exp: soon })],
    ["an empty subject", handMade({ sub: "", exp: soon })],
    ["a subject that is a number", handMade({ sub: 1, exp: soon })],
    ["a subject that is a list", handMade({ sub: ["alice"], exp: soon })],
    ["a payload that is a list", handMade([good])],
    ["a payload that is text", handMade("alice")],
    ["an unknown critical extension", handMade(good, { alg: "HS256", crit: ["x"], x: 1 })],
    ["a critical extension that the library knows", handMade(good, { alg: "HS256", crit: ["b64"], b64: true })],
    ["more than 4 KB", handMade({ ...good, padding: "x".repeat(4096) })],
    ["a sixth part", `${handMade(good)}.x.x.x`],
  ])("is rejected if any part of it is wrong", async (_, token) => {
    expect(await readToken(tokens, token)).toBeNull();
  });

  it("is rejected if it is signed with RS256", async () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const content = `${encode({ alg: "RS256" })}.${encode(good)}`;
    const rsa = `${content}.${sign("sha256", Buffer.from(content), privateKey).toString("base64url")}`;
    expect(await readToken(tokens, rsa)).toBeNull();
  });

  it("is rejected if it is encrypted (five parts), even with our key", async () => {
    const encrypted = await new EncryptJWT({ sub: "alice" })
      .setProtectedHeader({ alg: "dir", enc: "A256GCM" })
      .setExpirationTime("1m")
      .encrypt(new TextEncoder().encode(SECRET_KEY));
    expect(encrypted.split(".")).toHaveLength(5);
    expect(await readToken(tokens, encrypted)).toBeNull();
  });
});
