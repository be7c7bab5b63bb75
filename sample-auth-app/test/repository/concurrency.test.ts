/** Requests for the same rows at the same time: their results depend on the database. */
import { request as httpRequest } from "node:http";

import { describe, expect, it, jest } from "@jest/globals";
import argon2 from "argon2";

import { openApp, refreshCookieOf, until } from "./support.js";
import { PASSWORD } from "./support/constants.js";

const NOT_VALIDATED = { detail: "Could not validate credentials" };

describe("POST /users", () => {
  it("registers a name once if ten concurrent requests try it", async () => {
    await using app = await openApp();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        app.request.post("/users").send({ username: "alice", email: "alice@example.com", password: PASSWORD }),
      ),
    );
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(["201", ...Array(9).fill("409")]);
    expect(await app.db.user.count()).toBe(1);
  });
});

describe("PUT /users/me/password", () => {
  const change = { current_password: PASSWORD, new_password: "another horse" };

  it("accepts one of two concurrent changes, and rejects the other with 401", async () => {
    await using app = await openApp();
    await app.register();
    const { token } = await app.login();
    const passwords = ["another horse", "a third horse"];
    const answers = await Promise.all(
      passwords.map((new_password) =>
        app.request
          .put("/users/me/password")
          .auth(token, { type: "bearer" })
          .send({ current_password: PASSWORD, new_password }),
      ),
    );
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(["204", "401"]);
    await app.login("alice", passwords[answers.findIndex(({ status }) => status === 204)]);
  });

  it("responds with 401 if another change is made between the token and the password of a request", async () => {
    await using app = await openApp();
    await app.register();
    const { token } = await app.login();
    const account = await app.accounts.find("alice");
    const verify = jest.spyOn(argon2, "verify").mockImplementationOnce(async () => {
      await app.accounts.changePassword(account!, "a third horse");
      return false;
    });
    await app.request.put("/users/me/password").auth(token, { type: "bearer" }).send(change).expect(401);
    verify.mockRestore();
    await app.login("alice", "a third horse");
  });
});

describe("POST /auth/token", () => {
  it("starts no session with a password that is changed while it is verified", async () => {
    await using app = await openApp();
    await app.register();
    const account = await app.accounts.find("alice");
    const verify = jest.spyOn(argon2, "verify").mockImplementationOnce(async () => {
      await app.accounts.changePassword(account!, "another horse");
      return true;
    });
    await app.request.post("/auth/token").type("form").send({ username: "alice", password: PASSWORD }).expect(401);
    verify.mockRestore();
    expect(await app.db.session.count()).toBe(0);
  });

  it("leaves no session of the old password, however many log in while it is changed", async () => {
    await using app = await openApp();
    await app.register();
    const { token } = await app.login();
    const logIn = () => app.request.post("/auth/token").type("form").send({ username: "alice", password: PASSWORD });
    const change = { current_password: PASSWORD, new_password: "another horse" };
    const logins = Array.from({ length: 10 }, logIn);
    const changing = app.request.put("/users/me/password").auth(token, { type: "bearer" }).send(change).expect(204);
    const answers = await Promise.all([...logins, changing, ...Array.from({ length: 10 }, logIn)]);
    const cookies = answers.map(refreshCookieOf).filter((cookie) => cookie !== "");
    for (const cookie of cookies) {
      await app.request.post("/auth/refresh").set("Cookie", cookie).expect(401, NOT_VALIDATED);
    }
    expect(await app.db.session.count()).toBe(0);
  });
});

describe("POST /auth/refresh", () => {
  it("creates one valid successor if the same cookie is sent twenty times concurrently", async () => {
    await using app = await openApp();
    await app.register();
    const { cookie } = await app.login();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => app.request.post("/auth/refresh").set("Cookie", cookie)),
    );
    const successes = answers.filter(({ status }) => status === 200);
    expect(successes).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(19);
    expect(await app.db.session.count()).toBe(1);
    await app.request.post("/auth/refresh").set("Cookie", refreshCookieOf(successes[0]!)).expect(200);
  });

  it("keeps a cookie valid if its client disconnects before it has the response, five times of five", async () => {
    await using app = await openApp();
    await app.register();
    let { cookie } = await app.login();
    for (let round = 0; round < 5; round += 1) {
      const client = httpRequest(`${app.url}/auth/refresh`, { method: "POST", headers: { cookie } });
      client.on("error", () => {}).end();
      await until(async () => (await app.db.session.count({ where: { pendingHash: null } })) === 0);
      client.destroy();
      const again = await app.request.post("/auth/refresh").set("Cookie", cookie).expect(200);
      cookie = refreshCookieOf(again);
    }
    expect(app.lines.filter((line) => line.includes('"reason":"abandoned"'))).toHaveLength(5);
  });

  it("rejects a cookie of a disconnected client after another request got the response, together with all its successors", async () => {
    await using app = await openApp();
    await app.register();
    const { cookie } = await app.login();
    const client = httpRequest(`${app.url}/auth/refresh`, { method: "POST", headers: { cookie } });
    client.on("error", () => {}).end();
    await until(async () => (await app.db.session.count({ where: { pendingHash: null } })) === 0);
    client.destroy();
    const next = refreshCookieOf(await app.request.post("/auth/refresh").set("Cookie", cookie).expect(200));
    await app.request.post("/auth/refresh").set("Cookie", cookie).expect(401, NOT_VALIDATED);
    await app.request.post("/auth/refresh").set("Cookie", next).expect(401, NOT_VALIDATED);
  });
});
