import { describe, expect, it } from "@jest/globals";

import { openApp, until } from "./support.js";
import { PASSWORD } from "./support/constants.js";
import { createTestDatabase } from "./support/databases.js";

describe("the documentation", () => {
  it("is a page that loads no external resources", async () => {
    await using app = await openApp();
    const response = await app.request.get("/docs").expect(200);
    expect(response.get("Content-Type")).toMatch(/^text\/html/);
    expect(response.get("Content-Security-Policy")).toMatch(/default-src 'none'/);
  });
});

describe("the headers of every response", () => {
  it("prevent browsers from guessing types, and contain our own request id", async () => {
    await using app = await openApp();
    const answers = await Promise.all(
      ["/health", "/users/me", "/nothing"].map((path) => app.request.get(path).set("X-Request-Id", "theirs")),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 404]);
    expect(answers.map((answer) => answer.get("X-Content-Type-Options"))).toEqual(Array(3).fill("nosniff"));
    const ids = answers.map((answer) => answer.get("X-Request-Id"));
    expect(ids).toEqual(Array(3).fill(expect.stringMatching(/^[\da-f-]{36}$/)));
    expect(new Set(ids).size).toBe(3);
  });

  it("require https only if https is available", async () => {
    await using app = await openApp({ env: { TRUSTED_PROXIES: "127.0.0.1" } });
    const plain = await app.request.get("/health");
    expect(plain.get("Strict-Transport-Security")).toBeUndefined();
    const secure = await app.request.get("/health").set("X-Forwarded-Proto", "https");
    expect(secure.get("Strict-Transport-Security")).toBe("max-age=31536000");
  });
});

describe("the bodies of all responses", () => {
  it("have no hash, no key of another table and no refresh token in them", async () => {
    await using app = await openApp();
    await app.register();
    const { token, cookie } = await app.login();
    const bearer = { Authorization: `Bearer ${token}` };
    const wrong = { username: "alice", password: "wrong horse" };
    const answers = await Promise.all([
      app.request.post("/users").send({ username: "bob", email: "bob@example.com", password: PASSWORD }),
      app.request.post("/users").send({ username: "alice", email: "alice@example.com", password: PASSWORD }),
      app.request.post("/auth/token").type("form").send({ username: "alice", password: PASSWORD }),
      app.request.post("/auth/token").type("form").send(wrong),
      app.request.get("/users/me").set(bearer),
      app.request.post("/items").set(bearer).send({ name: "pen" }),
      app.request.get("/items").set(bearer),
      app.request.get("/items/1").set(bearer),
      app.request.post("/auth/refresh").set("Cookie", cookie),
    ]);
    const [user, session] = [await app.db.user.findFirstOrThrow(), await app.db.session.findFirstOrThrow()];
    const issued = answers.flatMap((answer) => answer.get("Set-Cookie") ?? []).map((text) => text.split(/[=;]/)[1]!);
    const secrets = [user.hashed_password, session.id, session.currentHash, ...issued];
    const bodies = answers.map(({ text }) => text).join("\n");
    expect(issued).toHaveLength(2);
    expect(secrets.filter((secret) => bodies.includes(secret))).toEqual([]);
    const others = answers.filter(({ body }) => body.name === undefined && !Array.isArray(body));
    expect(others.map(({ text }) => text).join("\n")).not.toContain('"id":');
    expect(bodies).not.toMatch(/"(?:ownerId|owner_id|userId|user_id|hashed_password|sessions)":/);
  });
});

describe("the log", () => {
  it("records success, failure, refresh, reuse and logout, each with the request's id and the client's address", async () => {
    await using app = await openApp();
    await app.register();
    const post = (path: string, cookie: string) => app.request.post(path).set("Cookie", cookie);
    const { cookie } = await app.login();
    const failure = await app.request
      .post("/auth/token")
      .type("form")
      .send({ username: "alice", password: "wrong horse" });
    await post("/auth/refresh", cookie);
    // If the database is slow, a second use soon after the first is taken for a concurrent one.
    await until(async () => {
      await post("/auth/refresh", cookie);
      return app.lines.at(-1)?.includes('"raced"') === false;
    });
    await post("/auth/logout", cookie);
    const entries = app.lines
      .map((line) => JSON.parse(line))
      .filter(({ requestId, reason }) => requestId !== undefined && reason !== "raced");
    expect(entries).toMatchObject([
      { level: "info", message: "registered", user: "alice" },
      { level: "info", message: "login", user: "alice" },
      { level: "warn", message: "login failed", requestId: failure.get("X-Request-Id") },
      { level: "info", message: "refresh", user: "alice" },
      { level: "warn", message: "refresh refused", user: "alice", reason: "reused" },
      { level: "info", message: "logout" },
    ]);
    expect(entries.every(({ requestId, address }) => requestId.length === 36 && address === "127.0.0.1")).toBe(true);
  });

  it("contains no password, token or cookie after any error", async () => {
    await using database = await createTestDatabase();
    await using app = await openApp({ env: { DATABASE_URL: database.url } });
    await app.register();
    const { token, cookie } = await app.login();
    await app.request.post("/auth/token").type("form").send({ username: "secret-in-name", password: "wrong horse" });
    await app.request.post("/auth/token").send({ username: "alice", password: PASSWORD });
    await app.request.get("/users/me").auth(`${token}x`, { type: "bearer" });
    await app.request.post("/auth/refresh").set("Cookie", `${cookie}x`);
    await app.db.$executeRaw`DROP TABLE sessions`;
    await app.request.post("/auth/refresh").set("Cookie", cookie).expect(500, { detail: "Internal Server Error" });
    await app.request.post("/auth/token").type("form").send({ username: "alice", password: PASSWORD }).expect(500);
    const log = app.lines.join("");
    expect(log).toContain('"level":"error"');
    for (const secret of [PASSWORD, "wrong horse", "secret-in-name", token, cookie.replace("refresh_token=", "")]) {
      expect(log).not.toContain(secret);
    }
  });

  it("keeps each entry on a separate line for any input", async () => {
    await using app = await openApp();
    await app.request
      .post("/auth/token")
      .type("form")
      .send({ username: 'x\r\n{"level":"info"}', password: "wrong horse" });
    await app.request.post("/auth/refresh").set("Cookie", "refresh_token=x%0D%0Ay");
    const log = app.lines.filter((line) => line.includes('"requestId"')).join("");
    expect(log.trimEnd().split("\n")).toHaveLength(2);
    expect(log).not.toContain("\r");
  });
});
