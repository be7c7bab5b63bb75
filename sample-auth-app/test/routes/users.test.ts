import { describe, expect, it } from "@jest/globals";

import { openApp, PASSWORD } from "../support.js";

const alice = { username: "alice", email: "alice@example.com", password: PASSWORD };

describe("POST /users", () => {
  it("adds a user, whose password is stored only as a salted hash", async () => {
    await using app = await openApp();
    const user = { username: "alice", email: "alice@example.com", disabled: false };
    await app.request
      .post("/users")
      .send({ ...alice, disabled: true, role: "admin" })
      .expect(201, user);
    await app.register("bob");
    const hashes = (await app.db.user.findMany()).map(({ hashed_password }) => hashed_password);
    expect(hashes).toEqual([expect.stringMatching(/^\$argon2id\$/), expect.stringMatching(/^\$argon2id\$/)]);
    expect(hashes[0]).not.toBe(hashes[1]);
  });

  it("responds with 409 if the name is taken, in any case", async () => {
    await using app = await openApp();
    await app.register();
    for (const username of ["alice", "Alice", "ALICE"]) {
      const user = { ...alice, username, email: "mallory@example.com", password: "another horse" };
      await app.request.post("/users").send(user).expect(409, { detail: "Username already taken" });
    }
    await app.login("Alice");
  });

  const invalid = [
    ["username", { ...alice, username: "" }],
    ["username", { ...alice, username: "-rf" }],
    ["username", { ...alice, username: "constructor" }],
    ["username", { ...alice, username: "x".repeat(65) }],
    ["email", { ...alice, email: "alice" }],
    ["password", { ...alice, password: "1234567" }],
    ["password", { ...alice, password: "x".repeat(129) }],
  ] as const;
  for (const [field, body] of invalid) {
    it(`rejects ${field} ${JSON.stringify(body[field])}`, async () => {
      await using app = await openApp();
      const response = await app.request.post("/users").send(body).expect(422);
      expect(response.body.detail[0].loc).toEqual(["body", field]);
      expect(await app.db.user.count()).toBe(0);
    });
  }
});

describe("GET /users/me", () => {
  it("returns the user of the token", async () => {
    await using app = await openApp();
    await app.register();
    const { token } = await app.login();
    const user = { username: "alice", email: "alice@example.com", disabled: false };
    await app.request.get("/users/me").auth(token, { type: "bearer" }).expect(200, user);
  });
});

describe("PUT /users/me/password", () => {
  const change = { current_password: PASSWORD, new_password: "another horse" };

  it("ends all sessions and access tokens", async () => {
    await using app = await openApp();
    await app.register();
    const { token, cookie } = await app.login();
    await app.request.put("/users/me/password").auth(token, { type: "bearer" }).send(change).expect(204);
    await app.request.get("/users/me").auth(token, { type: "bearer" }).expect(401);
    await app.request.post("/auth/refresh").set("Cookie", cookie).expect(401);
    await app.login("alice", "another horse");
  });

  it("rejects a wrong password, and an invalid new one", async () => {
    await using app = await openApp();
    await app.register();
    const { token } = await app.login();
    const put = (body: object) => app.request.put("/users/me/password").auth(token, { type: "bearer" }).send(body);
    await put({ ...change, current_password: "wrong horse" }).expect(403, { detail: "Incorrect password" });
    await put({ ...change, new_password: "short" }).expect(422);
    await app.login();
  });
});
