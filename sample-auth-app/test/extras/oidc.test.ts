import { expect, it } from "@jest/globals";
import { SettingsError } from "tsgi/settings";

import { findOrAdd, usernameOf } from "../../src/extras/oidc/account.js";
import { readProvider } from "../../src/extras/oidc/settings.js";
import { openApp } from "../support.js";

it("is off without OIDC_ISSUER, and rejects an invalid one", () => {
  expect(readProvider({})).toBeNull();
  expect(readProvider({ OIDC_ISSUER: "https://login.example.com" })?.issuer).toBe("https://login.example.com");
  expect(() => readProvider({ OIDC_ISSUER: "login.example.com" })).toThrow(SettingsError);
});

it("derives a separate name from each subject", () => {
  expect(usernameOf("ada@example.com")).toBe("ada@example.com");
  const names = ["Ada", "ADA", "auth0|7", "constructor", "user-1", ""].map(usernameOf);
  expect(new Set(names).size).toBe(names.length);
});

it("adds an account at the first login, and never uses the account of a user with a password", async () => {
  await using app = await openApp();
  await app.register("alice");
  const ada = await findOrAdd(app.db, "ada", "ada@example.com");
  expect((await findOrAdd(app.db, "ada", "ada@example.com"))?.id).toBe(ada?.id);
  expect(await findOrAdd(app.db, "alice", "")).toBeNull();
  const form = { username: "ada", password: "!" };
  await app.request.post("/auth/token").type("form").send(form).expect(401);
});
