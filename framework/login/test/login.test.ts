/** The login: its dependencies, its lifetime, and its place in the application. */
import { afterAll, beforeAll, describe, expect, it, jest } from "@jest/globals";
import { App, Depends, HTTPException, Router } from "tsgi";
import { memoryStore, sessions } from "tsgi/middleware";
import { TestClient, WebSocketRefusedError } from "tsgi/testing";
import { KeptLog } from "../../test/support/kept-log.js";
import { type OIDCLogin, oidcLogin } from "../src/index.js";
import { Browser } from "./_browser.js";
import { CLIENT, HostileProvider } from "./_hostile-provider.js";
import { BASE_URL, createShop, logIn } from "./_shop.js";

describe("a login", () => {
  let provider: HostileProvider;
  beforeAll(async () => {
    provider = await HostileProvider.start();
  });
  afterAll(() => provider.stop());

  it("sends the browser to the provider with PKCE, state and nonce, and back to the page", async () => {
    const { browser } = createShop(provider.issuer, {
      login: { scopes: ["email", "offline_access"], parameters: { audience: "api" } },
    });
    const refused = await browser.open("/me?tab=orders");
    expect([refused.status, refused.headers.get("cache-control")]).toEqual([303, "no-store"]);
    const url = await browser.begin(refused.headers.get("location") ?? "");
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: "shop",
      response_type: "code",
      scope: "openid email offline_access",
      prompt: "consent",
      audience: "api",
      redirect_uri: `${BASE_URL}/login/callback`,
      code_challenge_method: "S256",
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    const callback = await browser.open(url);
    const done = await browser.open(callback.headers.get("location") ?? "");
    expect([done.status, done.headers.get("location")]).toEqual([303, "/me?tab=orders"]);
    expect(JSON.parse((await browser.send("/me")).text)).toMatchObject({ sub: "ada", name: "Ada" });
  });

  it("keeps the cookie of a login that has begun for 10 minutes, from scripts and from other sites", async () => {
    const { browser } = createShop(provider.issuer);
    const [line = ""] = (await browser.open("/login")).headers.getSetCookie();
    expect(line).toMatch(
      /^__Host-login!login!callback![\w-]{43}=\S+; Max-Age=600; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
    );
  });

  it("keeps the claims that the option selects", async () => {
    const { browser } = createShop(provider.issuer, { login: { claims: (all) => ({ ...all, name: "kept" }) } });
    await logIn(browser);
    expect(JSON.parse((await browser.send("/me")).text)).toMatchObject({ sub: "ada", name: "kept" });
  });

  it.each<[string, Record<string, string>, number]>([
    ["a page that a browser opens", { "sec-fetch-mode": "navigate" }, 303],
    ["a page that an old browser opens", { accept: "text/html,*/*" }, 303],
    ["a script of a page", { "sec-fetch-mode": "cors", accept: "text/html" }, 401],
    ["a program", { accept: "application/json" }, 401],
    ["a program that does not tell", {}, 401],
  ])("is required of %s %j with %i", async (_, headers, status) => {
    const { browser } = createShop(provider.issuer);
    const page = await browser.send("/me", { headers });
    expect(page.status).toBe(status);
    expect(page.headers.get("www-authenticate")).toBe(status === 401 ? "APIKey" : null);
  });

  it("is required of a POST with 401, because a browser would lose its form", async () => {
    const { app, browser, login } = createShop(provider.issuer);
    app.post("/order", { params: { user: Depends(login.user) } }, async ({ user }) => user.sub);
    expect((await browser.open("/order", { method: "POST" })).status).toBe(401);
  });

  it("is optional for a dependency with `optional: true`, even if there is a session", async () => {
    const { browser } = createShop(provider.issuer);
    expect((await browser.open("/maybe")).text).toBe("null");
    await browser.send("/visit", { method: "POST" });
    expect((await browser.open("/maybe")).text).toBe("null");
    await logIn(browser);
    expect((await browser.open("/maybe")).text).toBe('"ada"');
  });

  it("ends `maxAge` after it has begun, however often the session changes", async () => {
    const { browser } = createShop(provider.issuer, {
      sessions: { secret: "s".repeat(32), store: undefined, maxAge: 100 },
    });
    await logIn(browser);
    const now = Date.now();
    const clock = jest.spyOn(Date, "now");
    try {
      for (const [ms, status] of [
        [60_000, 200],
        [98_000, 200],
        [101_000, 401],
      ] as const) {
        clock.mockReturnValue(now + ms);
        await browser.send("/visit", { method: "POST" });
        expect([ms, (await browser.send("/me")).status]).toEqual([ms, status]);
      }
    } finally {
      clock.mockRestore();
    }
  });

  it("is apart from another login of the App, each at its own provider", async () => {
    await using second = await HostileProvider.start();
    second.sub = "grace";
    const log = new KeptLog();
    const [left, right] = ["/left", "/right"].map((prefix, index) =>
      oidcLogin({ issuer: [provider, second][index]?.issuer ?? "", ...CLIENT, baseURL: BASE_URL, prefix }),
    ) as [OIDCLogin, OIDCLogin];
    const app = new App({ logger: log, middleware: [sessions({ store: memoryStore() })] });
    for (const [path, login] of [
      ["/a", left],
      ["/b", right],
    ] as const) {
      app.includeRouter(login.router);
      app.get(path, { params: { user: Depends(login.user) } }, async ({ user }) => user.sub);
    }
    const browser = new Browser(BASE_URL, app);
    const read = async () => [(await browser.send("/a")).text, (await browser.send("/b")).status];
    await browser.follow(await browser.open("/left"), ({ pathname }) => pathname === "/");
    expect(await read()).toEqual(['"ada"', 401]);
    // Mix-up: the other provider sends the browser to this callback.
    const foreign = await browser.open(await browser.begin("/right"));
    const url = new URL(foreign.headers.get("location") ?? "");
    url.pathname = "/left/callback";
    expect((await browser.send(url)).status).toBe(400);
    await browser.follow(await browser.open("/right"), ({ pathname }) => pathname === "/");
    expect([(await browser.send("/a")).text, (await browser.send("/b")).text]).toEqual(['"ada"', '"grace"']);
  });

  it("sends errors in the format of the App", async () => {
    const { browser } = createShop(provider.issuer, { app: { problemDetails: true } });
    const page = await browser.send("/login/callback?state=other&code=c");
    expect(page.headers.get("content-type")).toBe("application/problem+json");
    const custom = createShop(provider.issuer);
    custom.app.exceptionHandler(HTTPException, ({ statusCode }) => ({ code: statusCode }));
    expect((await custom.browser.send("/login/callback")).text).toBe('{"code":400}');
  });

  it("is read in the handshake of a WebSocket, which is refused with 401 without one", async () => {
    const { app, browser, login } = createShop(provider.issuer, { app: { entry: import.meta.url } });
    app.websocket(
      "/live",
      { params: { user: Depends(login.user), token: Depends(login.accessToken) } },
      async (args) => {
        await args.ws.accept();
        await args.ws.sendJson([args.user.sub, args.token.slice(0, 7)]);
      },
    );
    await logIn(browser);
    const cookie = `__Host-session=${browser.cookies.get("__Host-session")}`;
    await using client = await TestClient.open(app);
    const ws = await client.websocket("/live", { headers: { cookie } });
    expect(await ws.receiveJson()).toEqual(["ada", "access-"]);
    const refused = await client.websocket("/live").catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(WebSocketRefusedError);
    expect(String(refused)).toContain("status 401");
  });

  it("is listed in the document by its cookie, and by the provider where a person gets it", () => {
    const { app } = createShop(provider.issuer);
    const { paths, components } = app.openapi();
    expect(Object.keys(paths)).toEqual(["/me", "/maybe", "/session", "/visit", "/token"]);
    expect(paths["/me"]?.get?.security).toEqual([{ LoginCookie: [] }]);
    expect(paths["/token"]?.get?.security).toEqual([{ LoginCookie: [] }]);
    expect(paths["/maybe"]?.get?.security).toEqual([{}, { LoginCookie: [] }]);
    expect(Object.keys(paths["/me"]?.get?.responses ?? {})).toEqual(["200", "401"]);
    expect(components?.securitySchemes).toEqual({
      LoginCookie: { type: "apiKey", in: "cookie", name: "__Host-session" },
      OpenIdConnect: {
        type: "openIdConnect",
        openIdConnectUrl: `${provider.issuer}/.well-known/openid-configuration`,
      },
    });
  });
});

describe("oidcLogin()", () => {
  const RIGHT = { issuer: "https://login.test", clientId: "shop", baseURL: BASE_URL };

  it.each<[object, string]>([
    [{ issuer: "http://login.test" }, "issuer"],
    [{ issuer: undefined }, "issuer"],
    [{ clientId: "" }, "clientId"],
    [{ clientSecret: "" }, "clientSecret"],
    [{ baseURL: "https://shop.test/" }, "baseURL"],
    [{ baseURL: "http://shop.test" }, "baseURL"],
    [{ baseURL: "https://shop.test?a" }, "baseURL"],
    [{ baseURL: "https://user@shop.test" }, "baseURL"],
    [{ baseURL: undefined }, "baseURL"],
    [{ prefix: "login" }, "prefix"],
    [{ prefix: "/" }, "prefix"],
    [{ scopes: "openid" }, "scopes"],
    [{ scopes: ["openid email"] }, "scopes"],
    [{ parameters: { state: "fixed" } }, "parameters"],
    [{ parameters: { audience: 1 } }, "parameters"],
    [{ timeoutMs: 0 }, "timeoutMs"],
    [{ claims: {} }, "claims"],
    [{ isuer: "x" }, "isuer"],
  ])("throws a ConfigurationError for %j", (wrong, option) => {
    expect(() => oidcLogin({ ...RIGHT, ...wrong })).toThrow(
      expect.objectContaining({ name: "ConfigurationError", message: expect.stringContaining(option) }),
    );
  });

  it.each(["http://localhost:8000", "http://127.0.0.1:8000/shop", "https://shop.test:8443/a/b"])(
    "accepts the address %s",
    (baseURL) => {
      expect(oidcLogin({ ...RIGHT, baseURL }).router).toBeInstanceOf(Router);
    },
  );

  const start = async (app: App) => {
    await using client = await TestClient.open(app);
    return client;
  };

  it.each<[string, object, object, string]>([
    ["sessions whose cookie is strict", { store: memoryStore(), sameSite: "strict" }, {}, "TSGI_LOGIN_STRICT_COOKIE"],
    [
      "back-channel logout without a store",
      { secret: "s".repeat(32) },
      { backchannelLogout: true },
      "TSGI_LOGIN_WITHOUT_STORE",
    ],
  ])("does not start with %s", async (_, options, more, code) => {
    const login = oidcLogin({ ...RIGHT, ...more });
    const app = new App({ logger: new KeptLog(), middleware: [sessions(options as never)] });
    app.includeRouter(login.router);
    await expect(start(app)).rejects.toThrow(`[${code}]`);
  });

  it("does not start without sessions, and with a route for an access token without a store", async () => {
    const login = oidcLogin(RIGHT);
    const app = new App({ logger: new KeptLog() });
    app.includeRouter(login.router);
    await expect(start(app)).rejects.toThrow("[TSGI_LOGIN_WITHOUT_SESSIONS]");
    const other = new App({ logger: new KeptLog(), middleware: [sessions({ secret: "s".repeat(32) })] });
    other.includeRouter(login.router);
    other.get("/token", { params: { token: Depends(login.accessToken) } }, async ({ token }) => token);
    await expect(start(other)).rejects.toThrow(/GET \/token: login\.accessToken needs a store/);
  });

  it("does not start if the App requires a login for each route, the login included", async () => {
    const login = oidcLogin(RIGHT);
    const dependencies = [Depends(login.user)];
    const app = new App({ logger: new KeptLog(), middleware: [sessions({ store: memoryStore() })], dependencies });
    app.includeRouter(login.router);
    await expect(start(app)).rejects.toThrow("[TSGI_LOGIN_REQUIRES_ITSELF]");
  });

  it("starts with sessions of its router, and takes the name of their cookie into the document", async () => {
    const login = oidcLogin(RIGHT);
    const router = new Router({ middleware: [sessions({ store: memoryStore(), cookie: "__Host-shop" })] });
    router.includeRouter(login.router);
    router.get("/me", { params: { user: Depends(login.user) } }, async ({ user }) => user.sub);
    const app = new App({ logger: new KeptLog() });
    app.includeRouter(router);
    await start(app);
    expect(app.openapi().components?.securitySchemes?.["LoginCookie"]).toMatchObject({ name: "__Host-shop" });
  });
});
