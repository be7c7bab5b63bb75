import { describe, expect, it } from "@jest/globals";

import { openApp, PASSWORD } from "../support.js";

const INCORRECT = { detail: "Incorrect username or password" };
const alice = { username: "alice", password: PASSWORD };

type OpenApp = Awaited<ReturnType<typeof openApp>>;

const logIn = ({ request }: OpenApp, form: object, headers = {}) =>
  request.post("/auth/token").set(headers).type("form").send(form);

describe("POST /auth/token", () => {
  it("returns a bearer token, and a refresh cookie that scripts and other sites cannot use", async () => {
    await using app = await openApp();
    await app.register();
    const response = await logIn(app, { grant_type: "password", ...alice }).expect(200);
    expect(response.body).toEqual({ access_token: expect.any(String), token_type: "bearer" });
    expect(response.get("Set-Cookie")).toEqual([
      expect.stringMatching(/^refresh_token=[\w-]{43}; Max-Age=604800; Path=\/auth; HttpOnly; SameSite=Strict$/),
    ]);
    expect(response.get("Cache-Control")).toBe("no-store");
  });

  it("marks the cookie Secure in production", async () => {
    await using app = await openApp({ nodeEnv: "production" });
    await app.register();
    const response = await logIn(app, alice).expect(200);
    expect(response.get("Set-Cookie")?.[0]).toContain("; Secure;");
  });

  it("responds to a wrong password and to an unknown name in the same way", async () => {
    await using app = await openApp();
    await app.register();
    for (const username of ["alice", "nobody"]) {
      const response = await logIn(app, { username, password: "wrong horse" }).expect(401, INCORRECT);
      expect(response.get("WWW-Authenticate")).toBe("Bearer");
    }
  });

  it("rejects an invalid form with 422, and does not repeat the password", async () => {
    await using app = await openApp();
    for (const form of [{}, { username: "alice" }, { password: PASSWORD }, { ...alice, grant_type: "other" }]) {
      const response = await logIn(app, form).expect(422);
      expect(response.text).not.toContain(PASSWORD);
    }
  });

  it("rejects the form of another site's page", async () => {
    await using app = await openApp();
    await app.register();
    for (const headers of [{ "Sec-Fetch-Site": "cross-site" }, { Origin: "https://evil.example" }]) {
      await logIn(app, alice, headers).expect(403);
    }
    expect(await app.db.session.count()).toBe(0);
  });

  it("returns a token to a disabled user that no route accepts", async () => {
    await using app = await openApp();
    await app.register();
    await app.db.user.update({ where: { username: "alice" }, data: { disabled: true } });
    const { token } = await app.login();
    await app.request.get("/users/me").auth(token, { type: "bearer" }).expect(401);
  });

  it("responds with 429 after twenty wrong passwords, even to the right one", async () => {
    await using app = await openApp();
    await app.register();
    for (let guess = 0; guess < 20; guess += 1) {
      await logIn(app, { username: "alice", password: "wrong horse" }).expect(401);
    }
    const response = await logIn(app, alice).expect(429);
    expect(Number(response.get("Retry-After"))).toBeGreaterThan(0);
  });
});

describe("the current user", () => {
  it("needs a valid token in one Authorization header", async () => {
    await using app = await openApp();
    await app.register();
    const { token } = await app.login();
    const me = () => app.request.get("/users/me");
    await me().auth(token, { type: "bearer" }).expect(200);
    await me().expect(401);
    await me().query({ access_token: token }).expect(401);
    for (const header of ["", "Bearer ", `Basic ${token}`, `Bearer ${token} x`, `Bearer x${token}`]) {
      const response = await me().set("Authorization", header).expect(401);
      expect(response.get("WWW-Authenticate")).toBe("Bearer");
    }
  });
});
