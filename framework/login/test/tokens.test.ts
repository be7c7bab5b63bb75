/** Access tokens: kept in the store, and refreshed once. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { type App, Request } from "tsgi";
import { memoryStore, sessionOf, type Store } from "tsgi/middleware";
import { Deferred } from "../../core/src/common/promises.js";
import { HostileProvider } from "./_hostile-provider.js";
import { createShop, logIn } from "./_shop.js";

/** A store with the required methods only. */
function only(store: Store): Store {
  return {
    get: (key) => store.get(key),
    set: (...args) => store.set(...args),
    delete: (key) => store.delete(key),
    increment: (...args) => store.increment(...args),
  };
}

describe("an access token", () => {
  let provider: HostileProvider;
  beforeAll(async () => {
    provider = await HostileProvider.start();
  });
  afterAll(() => provider.stop());
  beforeEach(() => {
    Object.assign(provider, { expiresIn: 3_600, refreshes: true, claims: {}, respond: undefined });
    provider.tokenRequests.length = 0;
  });

  const refreshCount = () =>
    provider.tokenRequests.filter(({ form }) => form.get("grant_type") === "refresh_token").length;

  /** A shop with a user whose access token has expired already. */
  const withExpired = async (options: Parameters<typeof createShop>[1] = {}) => {
    provider.expiresIn = 0;
    const shop = createShop(provider.issuer, options);
    await logIn(shop.browser);
    provider.expiresIn = 3_600;
    return shop;
  };

  it("is the provider's, until shortly before it expires", async () => {
    const { browser } = createShop(provider.issuer);
    await logIn(browser);
    const first = await browser.send("/token");
    expect([first.status, (await browser.send("/token")).text]).toEqual([200, first.text]);
    expect(JSON.parse(first.text)).toMatch(/^access-/);
    expect(refreshCount()).toBe(0);
  });

  it("is refreshed when it has expired, by each refresh token once", async () => {
    const { browser } = await withExpired();
    const first = await browser.send("/token");
    expect([first.status, refreshCount()]).toEqual([200, 1]);
    expect((await browser.send("/token")).text).toBe(first.text);
    expect(refreshCount()).toBe(1);
  });

  it("is not refreshed if the provider does not tell when it expires", async () => {
    provider.expiresIn = undefined;
    const { browser } = createShop(provider.issuer);
    await logIn(browser);
    expect((await browser.send("/token")).status).toBe(200);
    expect(refreshCount()).toBe(0);
  });

  it("is refreshed by one of many requests on several servers", async () => {
    const store = memoryStore();
    const { browser } = await withExpired({ sessions: { store } });
    const second = createShop(provider.issuer, { sessions: { store } });
    for (const [name, value] of browser.cookies) second.browser.cookies.set(name, value);
    const browsers = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? browser : second.browser).copy());
    const pages = await Promise.all(browsers.map((one) => one.send("/token")));
    expect(new Set(pages.map(({ text }) => text)).size).toBe(1);
    expect(pages.map(({ status }) => status)).toEqual(browsers.map(() => 200));
    expect(refreshCount()).toBe(1);
  });

  it("is not refreshed again by a request that was waiting for the store meanwhile", async () => {
    const inner = memoryStore();
    const [waits, mayGoOn] = [new Deferred<void>(), new Deferred<void>()];
    let isFirst = true;
    const add: Store["add"] = async (...args) => {
      if (isFirst) {
        isFirst = false;
        waits.resolve();
        await mayGoOn.promise;
      }
      return inner.add(...args);
    };
    const { browser } = await withExpired({ sessions: { store: { ...only(inner), add } } });
    const late = browser.copy().send("/token");
    await waits.promise;
    const first = await browser.send("/token");
    mayGoOn.resolve();
    expect((await late).text).toBe(first.text);
    expect(refreshCount()).toBe(1);
  });

  it("works with a store that has only the required methods", async () => {
    const store = only(memoryStore());
    const { browser } = await withExpired({ sessions: { store } });
    const pages = await Promise.all([1, 2, 3].map(() => browser.copy().send("/token")));
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(refreshCount()).toBe(1);
  });

  it("is in no cookie and in no data of a session", async () => {
    const { browser } = createShop(provider.issuer);
    await logIn(browser);
    const token = JSON.parse((await browser.send("/token")).text) as string;
    const session = (await browser.send("/session")).text;
    expect(session).toContain("ada");
    expect(session + [...browser.cookies.values()].join()).not.toContain(token);
    expect(session).not.toContain("ey");
  });

  it("is refused with 401 if the provider refuses, which ends the login", async () => {
    const { browser, log } = await withExpired();
    const stale = browser.copy();
    provider.forget();
    expect((await browser.send("/token")).status).toBe(401);
    expect(log.lines).toEqual([expect.stringMatching(/^warn A login failed with 401: /)]);
    expect((await browser.send("/me")).status).toBe(401);
    expect((await stale.send("/me")).status).toBe(401);
  });

  it("does not come back with a slow request that has read the session before the login has ended", async () => {
    const [entered, mayEnd] = [new Deferred<void>(), new Deferred<void>()];
    const extend = (app: App) =>
      app.post("/slow", { params: { request: Request } }, async ({ request }) => {
        sessionOf<{ cart?: number }>(request).cart = 1;
        entered.resolve();
        await mayEnd.promise;
      });
    const { browser } = await withExpired({ extend });
    await browser.send("/visit", { method: "POST" });
    const late = browser.copy();
    const slow = late.send("/slow", { method: "POST" });
    await entered.promise;
    provider.forget();
    expect((await browser.send("/token")).status).toBe(401);
    mayEnd.resolve();
    expect((await slow).status).toBe(200);
    expect((await late.send("/me")).status).toBe(401);
    expect((await browser.send("/me")).status).toBe(401);
  });

  it("sends a browser that opens a page to the login if the provider refuses", async () => {
    const { browser } = await withExpired();
    provider.forget();
    const page = await browser.open("/token");
    expect([page.status, page.headers.get("location")]).toEqual([303, "https://shop.test/login?returnTo=%2Ftoken"]);
  });

  it("is refused with 401 if it has expired and cannot be refreshed; the login stays", async () => {
    provider.refreshes = false;
    const { browser } = await withExpired();
    expect((await browser.send("/token")).status).toBe(401);
    expect((await browser.send("/me")).status).toBe(200);
  });

  it("is refused, and the login ends, if the refreshed ID token is of another user (OpenID Connect Core §12.2)", async () => {
    const { browser } = await withExpired();
    provider.claims = { sub: "eve" };
    expect((await browser.send("/token")).status).toBe(401);
    expect((await browser.send("/me")).status).toBe(401);
  });

  it("is refused with 503 while the provider is away; the login stays", async () => {
    const { browser, log } = await withExpired();
    provider.respond = (_, response) => {
      response.writeHead(503).end();
      return true;
    };
    expect((await browser.send("/token")).status).toBe(503);
    expect(log.lines).toEqual([expect.stringMatching(/^warn A login failed with 503: /)]);
    expect((await browser.send("/me")).status).toBe(200);
    provider.respond = undefined;
    expect((await browser.send("/token")).status).toBe(200);
  });

  it("is the old one while the provider is away, if it has not expired yet", async () => {
    const { browser, store } = createShop(provider.issuer);
    await logIn(browser);
    const first = (await browser.send("/token")).text;
    const session = JSON.parse((await browser.send("/session")).text) as Record<string, { id: string }>;
    const key = `login:tokens:${Object.values(session)[0]?.id}`;
    const entry = JSON.parse((await store.get(key)) ?? "{}") as object;
    await store.set(key, JSON.stringify({ ...entry, refreshAt: 0 }), 60);
    provider.respond = (_, response) => {
      response.writeHead(503).end();
      return true;
    };
    expect(await browser.send("/token")).toMatchObject({ status: 200, text: first });
    expect(refreshCount()).toBe(1);
  });

  it("is refused with 502 if the provider sends an ID token that is not valid", async () => {
    const { browser } = await withExpired();
    provider.claims = { aud: "other" };
    expect((await browser.send("/token")).status).toBe(502);
    expect((await browser.send("/me")).status).toBe(200);
  });

  it("does not come back if the user logs out during the refresh", async () => {
    const { browser } = await withExpired();
    const [asked, mayRespond] = [new Deferred<void>(), new Deferred<void>()];
    provider.respond = async () => {
      asked.resolve();
      await mayRespond.promise;
      return false;
    };
    const during = browser.copy();
    const refreshed = during.send("/token");
    await asked.promise;
    const after = browser.copy();
    await browser.send("/login/logout", { method: "POST" });
    mayRespond.resolve();
    expect((await refreshed).status).toBe(401);
    expect((await after.send("/token")).status).toBe(401);
    expect((await during.send("/me")).status).toBe(401);
  });

  it("is refused with 503 while the store is away", async () => {
    const inner = memoryStore();
    let isAway = false;
    const get: Store["get"] = async (key) => {
      if (isAway && key.startsWith("login:")) throw new Error("away");
      return inner.get(key);
    };
    const store = { ...only(inner), get };
    const { browser, log } = createShop(provider.issuer, { sessions: { store } });
    await logIn(browser);
    isAway = true;
    expect((await browser.send("/token")).status).toBe(503);
    isAway = false;
    expect((await browser.send("/token")).status).toBe(200);
    expect(log.lines).toEqual([
      expect.stringContaining("The store of the logins is unavailable"),
      expect.stringContaining("The store of the logins is available again"),
    ]);
  });
});
