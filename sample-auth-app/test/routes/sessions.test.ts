import { describe, expect, it } from "@jest/globals";

import { setDisabled } from "../../src/accounts.js";
import { openApp, refreshCookieOf } from "../support.js";

type OpenApp = Awaited<ReturnType<typeof openApp>>;

const refresh = ({ request }: OpenApp, cookie: string) => request.post("/auth/refresh").set("Cookie", cookie);

describe("POST /auth/refresh", () => {
  it("exchanges the cookie once, for a token and the next cookie", async () => {
    await using app = await openApp();
    await app.register();
    const { cookie } = await app.login();
    const response = await refresh(app, cookie).expect(200);
    const token = String(response.body.access_token);
    await app.request.get("/users/me").auth(token, { type: "bearer" }).expect(200);
    const next = refreshCookieOf(response);
    expect(next).not.toBe(cookie);
    await refresh(app, next).expect(200);
    await refresh(app, cookie).expect(401);
  });

  it("rejects an unknown, an expired and a missing cookie", async () => {
    await using app = await openApp();
    await app.register();
    const { cookie } = await app.login();
    await app.db.session.updateMany({ data: { idleUntil: new Date(0) } });
    for (const value of [cookie, "refresh_token=", `refresh_token=${"A".repeat(43)}`, "other=1"]) {
      await refresh(app, value).expect(401, { detail: "Could not validate credentials" });
    }
  });

  it("stores only the hash of a token", async () => {
    await using app = await openApp();
    await app.register();
    const { cookie } = await app.login();
    expect(JSON.stringify(await app.db.session.findMany())).not.toContain(cookie.slice(-27));
  });

  it("is refused after the account was disabled, even if it is enabled again", async () => {
    await using app = await openApp();
    await app.register();
    const { token, cookie } = await app.login();
    await setDisabled(app.db, "alice", true);
    await setDisabled(app.db, "alice", false);
    await refresh(app, cookie).expect(401);
    await app.request.get("/users/me").auth(token, { type: "bearer" }).expect(401);
  });
});

describe("POST /auth/logout", () => {
  it("ends the session and the cookie", async () => {
    await using app = await openApp();
    await app.register();
    const { cookie } = await app.login();
    const response = await app.request.post("/auth/logout").set("Cookie", cookie).expect(204);
    expect(response.get("Set-Cookie")?.[0]).toMatch(/^refresh_token=; Max-Age=0;/);
    await refresh(app, cookie).expect(401);
    await app.request.post("/auth/logout").expect(204);
  });
});

describe.each(["/auth/refresh", "/auth/logout"])("%s", (path) => {
  it("accepts only POST, and only from pages of this site", async () => {
    await using app = await openApp();
    await app.register();
    const { cookie } = await app.login();
    await app.request.get(path).expect(405);
    for (const headers of [{ "Sec-Fetch-Site": "cross-site" }, { Origin: "https://evil.example" }]) {
      await app.request
        .post(path)
        .set({ Cookie: cookie, ...headers })
        .expect(403);
    }
    await refresh(app, cookie).expect(200);
  });
});
