import { describe, expect, it, jest } from "@jest/globals";
import argon2 from "argon2";

import { openApp } from "../support.js";
import { forEachRow } from "../support/cases.js";
import { PASSWORD } from "../support/constants.js";

const alice = { username: "alice", email: "alice@example.com", password: PASSWORD };

/** Begins 120 registrations, each from a different address. */
function flood({ request }: Awaited<ReturnType<typeof openApp>>) {
  return Array.from({ length: 120 }, (_, index) =>
    request
      .post("/users")
      .set("X-Forwarded-For", `192.0.2.${index}`)
      .send({ ...alice, username: `user-${index}` }),
  );
}

describe("POST /users", () => {
  it("stores the password only as a salted hash", async () => {
    await using app = await openApp();
    await app.register("alice");
    await app.register("bob");
    const users = await app.db.user.findMany();
    expect(JSON.stringify(users)).not.toContain(PASSWORD);
    const hashes = users.map(({ hashed_password }) => hashed_password);
    expect(hashes).toEqual([expect.stringMatching(/^\$argon2id\$/), expect.stringMatching(/^\$argon2id\$/)]);
    expect(hashes[0]).not.toBe(hashes[1]);
  });

  it("responds with 409 if the name is in use, and does not change its owner", async () => {
    await using app = await openApp();
    await app.register();
    const again = { ...alice, email: "mallory@example.com", password: "another horse" };
    await app.request.post("/users").send(again).expect(409, { detail: "Username already taken" });
    await app.login();
    expect(await app.db.user.findMany()).toMatchObject([{ email: "alice@example.com" }]);
  });

  it("treats upper and lower case in names as the same", async () => {
    await using app = await openApp();
    await app.register();
    await forEachRow(["Alice", "ALICE", "aLiCe"], async (username) => {
      await app.request
        .post("/users")
        .send({ ...alice, username })
        .expect(409, { detail: "Username already taken" });
      const { token } = await app.login(username);
      const { body } = await app.request.get("/users/me").auth(token, { type: "bearer" }).expect(200);
      expect(body.username).toBe("alice");
    });
  });

  it("responds with 429 and Retry-After after a hundred from one address", async () => {
    await using app = await openApp({ env: { TRUSTED_PROXIES: "127.0.0.1" } });
    const register = (address: string) => app.request.post("/users").set("X-Forwarded-For", address).send(alice);
    const statuses = [];
    for (let count = 0; count < 100; count += 1) {
      statuses.push((await register("192.0.2.1")).status);
    }
    expect(statuses).toEqual([201, ...Array(99).fill(409)]);
    const refused = await register("192.0.2.1").expect(429, { detail: "Too Many Requests" });
    expect(Number(refused.get("Retry-After"))).toBeGreaterThan(0);
    await register("192.0.2.2").expect(409);
  });

  it("leaves the line for hashing to the logins, from however many addresses it is flooded", async () => {
    await using app = await openApp({ env: { TRUSTED_PROXIES: "127.0.0.1" } });
    await app.register();
    const registering = Promise.all(flood(app));
    const logins = await Promise.all(Array.from({ length: 20 }, () => app.login()));
    expect(logins.every(({ token }) => token !== "")).toBe(true);
    const statuses = (await registering).map(({ status }) => status);
    expect(statuses.filter((status) => status !== 201 && status !== 503)).toEqual([]);
    expect(statuses).toContain(201);
  });

  it("responds with 503 if the database is too slow", async () => {
    await using app = await openApp({ env: { TRUSTED_PROXIES: "127.0.0.1" }, waitMs: 1_000 });
    await app.register();
    const registering = Promise.all(flood(app));
    const logins = Array.from({ length: 20 }, () =>
      app.request.post("/auth/token").type("form").send({ username: alice.username, password: alice.password }),
    );
    const answers = await Promise.all([registering, Promise.all(logins)]);
    const statuses = new Set(answers.flat().map(({ status }) => status));
    expect([...statuses].filter((status) => ![200, 201, 503].includes(status))).toEqual([]);
  });

  it("ignores unknown fields", async () => {
    await using app = await openApp();
    const body = { ...alice, id: 99, disabled: true, hashed_password: "!", items: [{ name: "pen" }], role: "admin" };
    await app.request.post("/users").send(body).expect(201, { username: "alice", email: alice.email, disabled: false });
    await app.login();
    expect(await app.db.user.findMany({ include: { items: true } })).toMatchObject([{ id: 1, items: [] }]);
  });

  it("takes passwords of 8 to 128 characters of any script", async () => {
    await using app = await openApp();
    await forEachRow(["пароль из слов", "🐎🐎🐎🐎🐎🐎🐎🐎", " ".repeat(8), "x".repeat(128)], async (password) => {
      const username = `user-${password.length}`;
      await app.register(username, password);
      expect((await app.login(username, password)).token).not.toBe("");
    });
  });

  it("rejects an invalid body with 422 that contains the field, without hashing", async () => {
    await using app = await openApp();
    await forEachRow(
      [
        ["a password of 7 characters", { ...alice, password: "1234567" }, "password"],
        ["a password of 129 characters", { ...alice, password: "x".repeat(129) }, "password"],
        [
          "a password of half a surrogate pair",
          `{"username":"alice","email":"a@example.com","password":"12345678\\ud83d"}`,
          "password",
        ],
        ["a password that is a number", { ...alice, password: 12345678 }, "password"],
        ["a password that is null", { ...alice, password: null }, "password"],
        ["no password", { username: "alice", email: alice.email }, "password"],
        ["an email that is none", { ...alice, email: "alice" }, "email"],
        ["an empty name", { ...alice, username: "" }, "username"],
        ["a name of 65 characters", { ...alice, username: "x".repeat(65) }, "username"],
        ["a name that begins with a sign", { ...alice, username: "-rf" }, "username"],
        ["the name of a folder", { ...alice, username: ".." }, "username"],
        ["a name of JavaScript's objects", { ...alice, username: "__proto__" }, "username"],
        ["their other name", { ...alice, username: "constructor" }, "username"],
        ["their other name in another case", { ...alice, username: "Constructor" }, "username"],
        ["a name that would break a line", { ...alice, username: "ali\nce" }, "username"],
        ["a name that looks like another", { ...alice, username: "аlice" }, "username"],
      ],
      async (_, body, field) => {
        const hash = jest.spyOn(argon2, "hash");
        const response = await app.request.post("/users").type("json").send(body);
        expect([response.status, response.body.detail?.[0]?.loc]).toEqual([422, ["body", field]]);
        expect(hash).not.toHaveBeenCalled();
        hash.mockRestore();
        expect(response.text).not.toContain("1234567");
      },
    );
  });
});

describe("PUT /users/me/password", () => {
  const change = { current_password: PASSWORD, new_password: "another horse" };

  it("sets a new password and ends every session", async () => {
    await using app = await openApp();
    await app.register();
    const { token, cookie } = await app.login();
    await app.request.put("/users/me/password").auth(token, { type: "bearer" }).send(change).expect(204);
    await app.request.post("/auth/refresh").set("Cookie", cookie).expect(401);
    await app.request.post("/auth/token").type("form").send({ username: "alice", password: PASSWORD }).expect(401);
    await app.login("alice", "another horse");
  });

  it("ends every access token that was issued before", async () => {
    await using app = await openApp();
    await app.register();
    const { token } = await app.login();
    const me = (bearer: string) => app.request.get("/users/me").auth(bearer, { type: "bearer" });
    await app.request.put("/users/me/password").auth(token, { type: "bearer" }).send(change).expect(204);
    await me(token).expect(401, { detail: "Could not validate credentials" });
    const { token: later } = await app.login("alice", "another horse");
    await me(later).expect(200);
  });

  it("rejects a wrong password, and an invalid new one", async () => {
    await using app = await openApp();
    await app.register();
    const { token, cookie } = await app.login();
    const put = (body: object) => app.request.put("/users/me/password").auth(token, { type: "bearer" }).send(body);
    await put({ ...change, current_password: "wrong horse" }).expect(403, { detail: "Incorrect password" });
    await put({ ...change, new_password: "short" }).expect(422);
    await app.request.post("/auth/refresh").set("Cookie", cookie).expect(200);
    await app.login();
  });

  it("cannot be used to guess a password with a stolen token", async () => {
    await using app = await openApp();
    await app.register();
    const { token } = await app.login();
    const put = () =>
      app.request
        .put("/users/me/password")
        .auth(token, { type: "bearer" })
        .send({ ...change, current_password: "wrong horse" });
    const answers = await Promise.all(Array.from({ length: 25 }, put));
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual([
      ...Array(20).fill("403"),
      ...Array(5).fill("429"),
    ]);
  });
});
