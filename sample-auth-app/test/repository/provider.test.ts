import { describe, expect, it } from "@jest/globals";
import { SettingsError } from "tsgi/settings";

import { findOrAdd, usernameOf } from "../../src/extras/oidc/account.js";
import { readProvider } from "../../src/extras/oidc/settings.js";
import { openApp } from "./support.js";

describe("the identity provider", () => {
  it("is read from the environment, and absent without OIDC_ISSUER", () => {
    expect(readProvider({})).toBeNull();
    expect(readProvider({ OIDC_ISSUER: "https://login.example.com/" })).toEqual({
      issuer: "https://login.example.com/",
      audience: "http://127.0.0.1:8000",
      clientId: "sample-auth-app",
    });
    expect(() => readProvider({ OIDC_ISSUER: "login.example.com" })).toThrow(SettingsError);
  });

  it("has subjects that never share a name", () => {
    expect(["ada", "ada@example.com", "7"].map(usernameOf)).toEqual(["ada", "ada@example.com", "7"]);
    const others = ["Ada", "ADA", "auth0|7", "constructor", "user-1", "", "ä", "x".repeat(65)].map(usernameOf);
    expect(new Set(others).size).toBe(others.length);
    for (const name of others) {
      expect(name).toMatch(/^user-[0-9a-f]{40}$/);
    }
  });

  it("adds an account for a subject once, and not for the name of a user with a password", async () => {
    await using app = await openApp();
    await app.register("alice");
    const added = await Promise.all([1, 2, 3].map(() => findOrAdd(app.db, "ada", "ada@example.com")));
    expect(new Set(added.map((account) => account?.id)).size).toBe(1);
    expect(await findOrAdd(app.db, "alice", "")).toBeNull();
    const login = { username: "ada", password: "!" };
    await app.request.post("/auth/token").type("form").send(login).expect(401);
  });
});
