import { request as httpRequest } from "node:http";

import { describe, expect, it } from "@jest/globals";
import { SignJWT } from "jose";

import { openApp } from "./support.js";
import { forEachRow } from "./support/cases.js";
import { SECRET_KEY } from "./support/constants.js";

const NOT_VALIDATED = { detail: "Could not validate credentials" };

/** A token that another program with the key has made. */
const sign = (claims: object, expires = "1m") =>
  new SignJWT({ ...claims })
    .setProtectedHeader({ alg: "HS256" })
    .setExpirationTime(expires)
    .sign(new TextEncoder().encode(SECRET_KEY));

describe("the current user", () => {
  it("is not found by the user name in another case, which may have been another user's", async () => {
    await using app = await openApp();
    await app.register();
    const token = await sign({ sub: "Alice" });
    await app.request.get("/users/me").auth(token, { type: "bearer" }).expect(401, NOT_VALIDATED);
  });

  it("is not found with a token that contains an earlier version of the account", async () => {
    await using app = await openApp();
    await app.register();
    const statuses = [];
    for (const ver of [1, 0, 2, "1", null]) {
      const token = await sign({ sub: "alice", ver });
      statuses.push((await app.request.get("/users/me").auth(token, { type: "bearer" })).status);
    }
    expect(statuses).toEqual([200, 401, 401, 401, 401]);
  });

  it("is not found with an invalid header: 401", async () => {
    await using app = await openApp();
    await app.register();
    await forEachRow(
      [
        ["no header", () => undefined],
        ["an empty header", () => ""],
        ["the scheme alone", () => "Bearer"],
        ["the scheme and a space", () => "Bearer "],
        ["no space after the scheme", (token: string) => `Bearer${token}`],
        ["a tab after the scheme", (token: string) => `Bearer\t${token}`],
        ["another scheme", (token: string) => `Basic ${token}`],
        ["no scheme", (token: string) => token],
        ["the scheme in lower case", (token: string) => `bearer ${token}`],
        ["two tokens", (token: string) => `Bearer ${token}, Bearer ${token}`],
        ["text behind the token", (token: string) => `Bearer ${token} x`],
        [
          "a token with one character changed",
          (token: string) => `Bearer ${token.slice(0, -2)}${token.at(-2) === "A" ? "B" : "A"}${token.at(-1)}`,
        ],
        ["a token of more than 4 KB", () => `Bearer ${"x".repeat(5_000)}`],
      ],
      async (_, headerOf) => {
        const header = headerOf(await sign({ sub: "alice" }));
        const request = app.request.get("/users/me");
        const response = await (header === undefined ? request : request.set("Authorization", header));
        expect([response.status, response.body]).toEqual([401, NOT_VALIDATED]);
        expect(response.get("WWW-Authenticate")).toBe("Bearer");
      },
    );
  });

  it("is not found with an expired token, or with one of a user who does not exist", async () => {
    await using app = await openApp();
    await app.register();
    for (const token of [await sign({ sub: "alice" }, "-1s"), await sign({ sub: "nobody" })]) {
      const response = await app.request.get("/users/me").auth(token, { type: "bearer" }).expect(401, NOT_VALIDATED);
      expect(response.get("WWW-Authenticate")).toBe("Bearer");
    }
  });

  it("is not identified by a token in the query, in a form or in a cookie (RFC 6750 §§2.2, 2.3)", async () => {
    await using app = await openApp();
    await app.register();
    const { token } = await app.login();
    await app.request.get("/users/me").query({ access_token: token }).expect(401);
    await app.request
      .get("/users/me")
      .set("Cookie", `access_token=${token}; Authorization=Bearer ${token}`)
      .expect(401);
    await app.request.get("/users/me").type("form").send({ access_token: token }).expect(401);
  });

  it("is not found with two Authorization headers, in either order", async () => {
    await using app = await openApp();
    await app.register();
    const good = `Bearer ${await sign({ sub: "alice" })}`;
    for (const headers of [
      [good, "Bearer x"],
      ["Bearer x", good],
      [good, good],
    ]) {
      const { port, hostname } = new URL(app.url);
      const status = await new Promise((resolve, reject) => {
        const lines = ["Host", `${hostname}:${port}`, ...headers.flatMap((header) => ["Authorization", header])];
        httpRequest({ host: hostname, port, path: "/users/me", headers: lines }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
          .on("error", reject)
          .end();
      });
      expect([400, 401]).toContain(status);
    }
  });
});
