import { request as httpRequest } from "node:http";

import { describe, expect, it, jest } from "@jest/globals";
import argon2 from "argon2";
import { decodeJwt } from "jose";
import { ClientDisconnect } from "tsgi";
import { Limiter } from "tsgi/concurrency";

import { setDisabled } from "../../../src/accounts.js";
import { openApp, until } from "../support.js";
import { forEachRow } from "../support/cases.js";
import { PASSWORD } from "../support/constants.js";

const INCORRECT = { detail: "Incorrect username or password" };
const NOT_VALIDATED = { detail: "Could not validate credentials" };

describe("POST /auth/token", () => {
  it("returns a bearer token for thirty minutes and a refresh cookie that scripts and other sites cannot access", async () => {
    await using app = await openApp();
    await app.register();
    const response = await app.request.post("/auth/token").type("form").send({ username: "alice", password: PASSWORD });
    expect(response.status).toBe(200);
    expect(response.body).toEqual({ access_token: expect.any(String), token_type: "bearer" });
    const { sub, exp } = decodeJwt(response.body.access_token);
    expect(sub).toBe("alice");
    expect(exp! - Date.now() / 1000).toBeCloseTo(30 * 60, -1);
    expect(response.get("Set-Cookie")).toEqual([
      expect.stringMatching(/^refresh_token=[\w-]{43}; Max-Age=604800; Path=\/auth; HttpOnly; SameSite=Strict$/),
    ]);
    expect(response.get("Cache-Control")).toBe("no-store");
  });

  it("marks the cookie Secure in production", async () => {
    await using app = await openApp({ env: { NODE_ENV: "production" } });
    await app.register();
    const response = await app.request.post("/auth/token").type("form").send({ username: "alice", password: PASSWORD });
    expect(response.get("Set-Cookie")?.[0]).toContain("; Secure;");
  });

  it("responds to a wrong password and an unknown name in the same way, after the same amount of work", async () => {
    await using app = await openApp();
    await app.register();
    const verify = jest.spyOn(argon2, "verify");
    for (const username of ["alice", "nobody"]) {
      const response = await app.request.post("/auth/token").type("form").send({ username, password: "wrong horse" });
      expect([response.status, response.body]).toEqual([401, INCORRECT]);
      expect(response.get("WWW-Authenticate")).toBe("Bearer");
      expect(response.get("Cache-Control")).toBe("no-store");
      expect(response.get("Set-Cookie")).toBeUndefined();
    }
    const work = verify.mock.calls.map(([hash]) => hash.replace(/\$[^$]+\$[^$]+$/, ""));
    verify.mockRestore();
    expect(work).toEqual(["$argon2id$v=19$m=64,t=2,p=1", "$argon2id$v=19$m=64,t=2,p=1"]);
  });

  it("rejects an invalid login form with 422", async () => {
    await using app = await openApp();
    await app.register();
    await forEachRow(
      [
        ["JSON", "application/json", JSON.stringify({ username: "alice", password: PASSWORD })],
        ["plain text", "text/plain", `username=alice&password=${PASSWORD}`],
        ["no password", "application/x-www-form-urlencoded", "username=alice"],
        ["no name", "application/x-www-form-urlencoded", `password=${PASSWORD}`],
        ["an empty form", "application/x-www-form-urlencoded", ""],
        ["two names", "application/x-www-form-urlencoded", `username=bob&username=alice&password=${PASSWORD}`],
        ["two passwords", "application/x-www-form-urlencoded", `username=alice&password=x&password=${PASSWORD}`],
        [
          "two grant types",
          "application/x-www-form-urlencoded",
          `username=alice&password=${PASSWORD}&grant_type=password&grant_type=password`,
        ],
        [
          "another grant type",
          "application/x-www-form-urlencoded",
          `username=alice&password=${PASSWORD}&grant_type=client_credentials`,
        ],
      ],
      async (_, type, body) => {
        const response = await app.request.post("/auth/token").type(type).send(body);
        expect(response.status).toBe(422);
        expect(response.body.detail[0].loc[0]).toBe("form");
        expect(response.get("Cache-Control")).toBe("no-store");
        expect(response.text).not.toContain(PASSWORD);
      },
    );
  });

  it("rejects name and password in the query", async () => {
    await using app = await openApp();
    await app.register();
    await app.request.post("/auth/token").query({ username: "alice", password: PASSWORD }).expect(422);
  });

  it("accepts the grant type of the password flow, and the fields that OAuth2 clients add", async () => {
    await using app = await openApp();
    await app.register();
    const form = { grant_type: "password", username: "alice", password: PASSWORD, scope: "", client_id: "app" };
    await app.request.post("/auth/token").type("form").send(form).expect(200);
  });

  it("returns a token to a disabled user that every endpoint rejects", async () => {
    await using app = await openApp();
    await app.register();
    await app.db.user.update({ where: { username: "alice" }, data: { disabled: true } });
    const { token, cookie } = await app.login();
    await app.request.get("/users/me").auth(token, { type: "bearer" }).expect(401, NOT_VALIDATED);
    await app.request.get("/items").auth(token, { type: "bearer" }).expect(401, NOT_VALIDATED);
    await app.request.post("/auth/refresh").set("Cookie", cookie).expect(401, NOT_VALIDATED);
  });

  it("returns no token to a disabled user that works after the account is enabled again", async () => {
    await using app = await openApp();
    await app.register();
    const set = (disabled: boolean) => app.db.user.update({ where: { username: "alice" }, data: { disabled } });
    await set(true);
    const { token, cookie } = await app.login();
    await set(false);
    await app.request.get("/users/me").auth(token, { type: "bearer" }).expect(401, NOT_VALIDATED);
    await app.request.post("/auth/refresh").set("Cookie", cookie).expect(401, NOT_VALIDATED);
    expect(await app.db.session.count()).toBe(0);
  });

  it("invalidates earlier tokens of a disabled account, even after it is enabled again", async () => {
    await using app = await openApp();
    await app.register();
    const { token, cookie } = await app.login();
    await setDisabled(app.db, "Alice", true);
    await setDisabled(app.db, "alice", false);
    await app.request.get("/users/me").auth(token, { type: "bearer" }).expect(401, NOT_VALIDATED);
    await app.request.post("/auth/refresh").set("Cookie", cookie).expect(401, NOT_VALIDATED);
    const later = await app.login();
    await app.request.get("/users/me").auth(later.token, { type: "bearer" }).expect(200);
  });

  it("rejects the form of another site's page", async () => {
    await using app = await openApp();
    await app.register();
    await forEachRow(
      [
        ["Sec-Fetch-Site: cross-site", { "Sec-Fetch-Site": "cross-site" }],
        ["an Origin of another host", { Origin: "https://evil.example" }],
        ["an Origin that hides", { Origin: "null" }],
      ],
      async (_, headers) => {
        const verify = jest.spyOn(argon2, "verify");
        const form = { username: "alice", password: PASSWORD };
        const response = await app.request.post("/auth/token").set(headers).type("form").send(form);
        expect([response.status, response.get("Set-Cookie")]).toEqual([403, undefined]);
        expect(verify).not.toHaveBeenCalled();
        verify.mockRestore();
        expect(await app.db.session.count()).toBe(0);
        const own = { Origin: app.url, "Sec-Fetch-Site": "same-origin" };
        await app.request.post("/auth/token").set(own).type("form").send(form).expect(200);
        await app.db.session.deleteMany();
      },
    );
  });

  it("renews a hash whose parameters have grown, and keeps one that is up to date", async () => {
    await using app = await openApp();
    await app.register();
    const weak = await argon2.hash(PASSWORD, { type: argon2.argon2id, memoryCost: 32, timeCost: 2, parallelism: 1 });
    await app.db.user.update({ where: { username: "alice" }, data: { hashed_password: weak } });
    await app.login();
    const [renewed] = await app.db.user.findMany();
    expect(renewed?.hashed_password).toMatch(/^\$argon2id\$v=19\$m=64,t=2,p=1\$/);
    await app.login();
    expect(await app.db.user.findMany()).toEqual([renewed]);
  });

  it("counts the guesses at all spellings of a name as one account's", async () => {
    await using app = await openApp();
    await app.register();
    const statuses = [];
    for (let guess = 0; guess < 25; guess += 1) {
      const username = guess % 2 === 0 ? "alice" : "ALICE";
      const { status } = await app.request.post("/auth/token").type("form").send({ username, password: "wrong horse" });
      statuses.push(status);
    }
    expect(statuses).toEqual([...Array(20).fill(401), ...Array(5).fill(429)]);
  });

  it("throttles guessing: 429 with Retry-After after twenty wrong passwords, even for the right one", async () => {
    await using app = await openApp();
    await app.register();
    const guess = (password: string) =>
      app.request.post("/auth/token").type("form").send({ username: "alice", password });
    const answers = await Promise.all(Array.from({ length: 25 }, () => guess("wrong horse")));
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual([
      ...Array(20).fill("401"),
      ...Array(5).fill("429"),
    ]);
    const refused = await guess(PASSWORD);
    expect([refused.status, refused.body]).toEqual([429, { detail: "Too Many Requests" }]);
    expect(Number(refused.get("Retry-After"))).toBeGreaterThan(0);
    expect(Number(refused.get("Retry-After"))).toBeLessThanOrEqual(300);
  });

  it("rejects the excess of a flood, and responds to others meanwhile", async () => {
    await using app = await openApp();
    await app.register();
    const logins = Array.from({ length: 60 }, () =>
      app.request.post("/auth/token").type("form").send({ username: "alice", password: PASSWORD }),
    );
    const [answers] = await Promise.all([Promise.all(logins), app.request.get("/health").expect(200)]);
    const admitted = answers.filter(({ status }) => status === 200);
    const excess = answers.filter(({ status }) => [429, 503].includes(status));
    expect(admitted.length + excess.length).toBe(60);
    expect(admitted.length).toBeGreaterThan(0);
    expect(excess.every((answer) => Number(answer.get("Retry-After")) > 0)).toBe(true);
  });
});

/** Delays all password verifications until it is released, and records the calls for a place in the queue. */
function holdLine() {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const real = argon2.verify;
  const verify = jest.spyOn(argon2, "verify").mockImplementation((...args) => released.then(() => real(...args)));
  const run = jest.spyOn(Limiter.prototype, "run");
  return {
    release: () => release(),
    calls: () => run.mock.calls.length,
    last: () => run.mock.results.at(-1)?.value,
    [Symbol.dispose]: () => {
      release();
      verify.mockRestore();
      run.mockRestore();
    },
  };
}

describe("the clients of Fly.io's proxy", () => {
  it("are counted one by one: 101 wrong passwords of one do not lock out another", async () => {
    await using app = await openApp({
      env: { TRUSTED_PROXIES: "loopback, private", CLIENT_ADDRESS_HEADER: "Fly-Client-IP" },
    });
    await app.register("alice");
    // The proxy replaces Fly-Client-IP. To X-Forwarded-For, it appends the client and the application's own address.
    const login = (client: string, username: string, password: string, sent = "") =>
      app.request
        .post("/auth/token")
        .set("Fly-Client-IP", client)
        .set("X-Forwarded-For", `${sent}${client}, 192.0.2.80`)
        .set("X-Forwarded-Proto", "https")
        .type("form")
        .send({ username, password });
    const statuses: number[] = [];
    for (let index = 0; index < 101; index++) {
      const forged = `198.51.100.${index}, `; // each attempt with another address
      statuses.push((await login("203.0.113.1", `user-${index}`, "wrong horse", forged)).status);
    }
    expect(statuses).toEqual([...Array(100).fill(401), 429]);
    await login("203.0.113.1", "alice", PASSWORD, "198.51.100.200, ").expect(429);
    await login("203.0.113.2", "alice", PASSWORD).expect(200);
  });
});

describe("the line for hashing", () => {
  it("keeps turns for other addresses, however many log in from one address with the right password", async () => {
    await using app = await openApp({ env: { TRUSTED_PROXIES: "127.0.0.1" } });
    const names = ["alice", "bob", "carol", "dave"];
    for (const name of names) {
      await app.register(name);
    }
    const from = (address: string, username: string) =>
      app.request
        .post("/auth/token")
        .set("X-Forwarded-For", address)
        .type("form")
        .send({ username, password: PASSWORD });
    using line = holdLine();
    const flood = Promise.all(Array.from({ length: 80 }, (_, index) => from("2001:db8::1", names[index % 4]!)));
    await until(async () => line.calls() === 80);
    const others = Promise.all(Array.from({ length: 10 }, () => from("2001:db8:0:1::1", "alice")));
    const body = { username: "eve", email: "eve@example.com", password: PASSWORD };
    const registering = app.request.post("/users").set("X-Forwarded-For", "192.0.2.1").send(body).expect(201);
    await Promise.all([registering, until(async () => line.calls() === 92).then(line.release)]);
    expect((await others).map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect((await flood).map(({ status }) => status).filter((status) => status !== 200 && status !== 503)).toEqual([]);
  });

  it("does not hash for a client that has disconnected", async () => {
    await using app = await openApp();
    await app.register();
    await forEachRow(
      [
        ["POST", "/auth/token", "application/x-www-form-urlencoded", `username=alice&password=${PASSWORD}`],
        [
          "POST",
          "/users",
          "application/json",
          JSON.stringify({ username: "bob", email: "b@example.com", password: PASSWORD }),
        ],
        [
          "PUT",
          "/users/me/password",
          "application/json",
          JSON.stringify({ current_password: PASSWORD, new_password: "another horse" }),
        ],
      ],
      async (method, path, type, body) => {
        const { token } = await app.login();
        using line = holdLine();
        const logins = Promise.all(Array.from({ length: 4 }, () => app.login())); // which take all places
        await until(async () => line.calls() === 4);
        const headers = { Authorization: `Bearer ${token}`, "Content-Type": type, "Content-Length": body.length };
        const client = httpRequest(app.url + path, { method, headers });
        client.on("error", () => {}).end(body);
        await until(async () => line.calls() > 4);
        client.destroy();
        await expect(line.last()).rejects.toThrow(ClientDisconnect);
        line.release();
        await logins;
        expect(app.lines.filter((entry) => entry.includes('"level":"error"'))).toEqual([]);
      },
    );
  });
});

describe("POST /auth/refresh", () => {
  it("rejects an invalid refresh cookie", async () => {
    await using app = await openApp();
    await forEachRow(
      [
        ["no cookie", {}],
        ["an empty cookie", { Cookie: "refresh_token=" }],
        ["a cookie that nobody issued", { Cookie: `refresh_token=${"A".repeat(43)}` }],
        ["another cookie", { Cookie: "session=1" }],
      ],
      async (_, headers) => {
        const response = await app.request.post("/auth/refresh").set(headers).expect(401, NOT_VALIDATED);
        expect(response.get("WWW-Authenticate")).toBe("Bearer");
      },
    );
  });

  it("reads the refresh token only from the cookie", async () => {
    await using app = await openApp();
    await app.register();
    const { cookie } = await app.login();
    await app.request.post(`/auth/refresh?${cookie}`).type("form").send(cookie).expect(401);
    await app.request.get("/users/me").auth(cookie.replace("refresh_token=", ""), { type: "bearer" }).expect(401);
  });
});

describe("GET /auth/session", () => {
  it("reports whether there is a cookie, valid or not, and includes the demo user only in development", async () => {
    for (const environment of ["development", "test", "production"] as const) {
      await using app = await openApp({ env: { NODE_ENV: environment } });
      const ask = (cookie: string) => app.request.get("/auth/session").set("Cookie", cookie).expect(200);
      const [without, having] = [await ask(""), await ask("refresh_token=x")];
      expect([without.body.hasCookie, having.body.hasCookie]).toEqual([false, true]);
      const demo = environment === "development" ? { username: "demo", password: "demo-password" } : null;
      expect(without.body.demo).toEqual(demo);
      expect(without.get("Cache-Control")).toBe("no-store");
    }
  });
});

describe("POST /auth/logout", () => {
  it("ends the session and the cookie, and succeeds without one", async () => {
    await using app = await openApp();
    await app.register();
    const { cookie } = await app.login();
    const response = await app.request.post("/auth/logout").set("Cookie", cookie).expect(204, {});
    expect(response.get("Set-Cookie")).toEqual([
      expect.stringMatching(
        /^refresh_token=; Max-Age=0; Expires=Thu, 01 Jan 1970 .*; Path=\/auth; HttpOnly; SameSite=Strict$/,
      ),
    ]);
    await app.request.post("/auth/refresh").set("Cookie", cookie).expect(401, NOT_VALIDATED);
    await app.request.post("/auth/logout").expect(204);
  });
});

describe.each(["/auth/refresh", "/auth/logout"])("%s", (path) => {
  it("is POST only", async () => {
    await using app = await openApp();
    const response = await app.request.get(path).expect(405, { detail: "Method Not Allowed" });
    expect(response.get("Allow")).toBe("POST");
  });

  it("rejects another site's page, with no effect", async () => {
    await using app = await openApp();
    await app.register();
    await forEachRow(
      [
        ["Sec-Fetch-Site: cross-site", { "Sec-Fetch-Site": "cross-site" }],
        ["an Origin of another host", { Origin: "https://evil.example" }],
        ["an Origin of another port", { Origin: "http://127.0.0.1:1" }],
        ["an Origin that hides", { Origin: "null" }],
        ["an Origin that is none", { Origin: "//" }],
      ],
      async (_, headers) => {
        const { cookie } = await app.login();
        const response = await app.request.post(path).set({ Cookie: cookie, ...headers });
        expect(response.status).toBe(403);
        expect(response.get("Set-Cookie")).toBeUndefined();
        await app.request.post("/auth/refresh").set("Cookie", cookie).expect(200);
      },
    );
  });
});
