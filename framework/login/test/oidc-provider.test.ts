/** The login against a certified provider, both on loopback. */
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { App, Depends, Request } from "tsgi";
import { memoryStore, sessionOf, sessions } from "tsgi/middleware";
import { serve } from "tsgi/node";
import { freePort } from "../../test/support/free-port.js";
import { type IdentityProvider, startIdentityProvider } from "../../test/support/identity-provider.js";
import { KeptLog } from "../../test/support/kept-log.js";
import { oidcLogin } from "../src/index.js";
import { Browser, type Page } from "./_browser.js";

const SECRET = "a-secret-of-the-tests-with-32-bytes";

describe("a login at oidc-provider", () => {
  let provider: IdentityProvider;
  let baseURL: string;
  let server: Awaited<ReturnType<typeof serve>>;
  const log = new KeptLog();
  const store = memoryStore();

  beforeAll(async () => {
    const port = await freePort();
    baseURL = `http://127.0.0.1:${port}`;
    const metadata = {
      client_secret: SECRET,
      post_logout_redirect_uris: [`${baseURL}/`],
      backchannel_logout_uri: `${baseURL}/login/backchannel-logout`,
      backchannel_logout_session_required: true,
      grant_types: ["authorization_code", "refresh_token"],
    };
    provider = await startIdentityProvider({
      clients: [{ client_id: "shop", redirect_uris: [`${baseURL}/login/callback`], ...metadata }],
    });
    const login = oidcLogin({
      issuer: provider.issuer,
      clientId: "shop",
      clientSecret: SECRET,
      baseURL,
      scopes: ["offline_access"],
      backchannelLogout: true,
    });
    const app = new App({ logger: log, middleware: [sessions({ store, secure: false })] });
    app.includeRouter(login.router);
    app.get("/", async () => "start");
    app.get("/session", { params: { request: Request } }, async ({ request }) => sessionOf(request));
    app.get("/me", { params: { user: Depends(login.user) } }, async ({ user }) => user.sub);
    app.get("/token", { params: { token: Depends(login.accessToken) } }, async ({ token }) => token);
    server = await serve(app, { port, signals: false, logger: log });
  });
  afterAll(async () => {
    await server?.close();
    await provider?.stop();
  });

  /** Opens a page of the application, and fills in the pages of the provider until the browser is back. */
  const logIn = async (browser: Browser, user: string): Promise<Page> => {
    let page = await browser.follow(await browser.open("/me"));
    for (let step = 0; step < 3 && page.url.origin === provider.issuer; step++) {
      const [, prompt = ""] = /name="prompt" value="(\w+)"/.exec(page.text) ?? [];
      page = await browser.follow(await browser.submit(page, { prompt, login: user, password: "any" }));
    }
    return page;
  };

  it("ends on the page that asked for it, and refreshes no token that is still valid", async () => {
    const browser = new Browser(baseURL);
    const page = await logIn(browser, "ada");
    expect([page.url.href, page.text]).toEqual([`${baseURL}/me`, '"ada"']);
    const { status, text } = await browser.send("/token");
    expect([status, JSON.parse(text)]).toEqual([200, expect.stringMatching(/^\S{20,}$/)]);
  });

  it("refreshes an access token with each refresh token of the provider", async () => {
    const browser = new Browser(baseURL);
    await logIn(browser, "ada");
    const session = JSON.parse((await browser.send("/session")).text) as Record<string, { id: string }>;
    const key = `login:tokens:${Object.values(session)[0]?.id}`;
    const tokens = new Set([(await browser.send("/token")).text]);
    for (let count = 0; count < 2; count++) {
      const entry = JSON.parse((await store.get(key)) ?? "") as object;
      await store.set(key, JSON.stringify({ ...entry, refreshAt: 0, expiresAt: 0 }), 60);
      const page = await browser.send("/token");
      expect(page.status).toBe(200);
      tokens.add(page.text);
    }
    expect(tokens.size).toBe(3);
  });

  it("has a code that the provider accepts once, and only with the right verifier", async () => {
    const browser = new Browser(baseURL);
    await logIn(browser, "ada");
    // The user is logged in at the provider, which asks for consent again.
    const pages = [];
    for (const tab of [1, 2]) {
      const page = await browser.follow(await browser.open(`/login?returnTo=/me?tab=${tab}`));
      const answer = await browser.submit(page, { prompt: "consent" });
      pages.push(await browser.follow(answer, ({ pathname }) => pathname === "/login/callback"));
    }
    const [first, second] = pages.map(({ url }) => url) as [URL, URL];
    const injected = new URL(first);
    injected.searchParams.set("code", second.searchParams.get("code") ?? "");
    expect(first.searchParams.get("iss")).toBe(provider.issuer);
    const thief = browser.copy();
    expect((await thief.send(injected)).status).toBe(400);
    const replaying = browser.copy();
    expect((await browser.send(first)).headers.get("location")).toBe("/me?tab=1");
    expect((await replaying.send(first)).status).toBe(400);
  });

  it("ends at the provider when it ends here, and here when it ends at the provider", async () => {
    const browser = new Browser(baseURL);
    await logIn(browser, "ada");
    const other = browser.copy();
    const ask = await browser.follow(await browser.send("/login/logout", { method: "POST" }));
    expect(ask.url.origin).toBe(provider.issuer);
    expect((await other.send("/me")).status).toBe(401);
    const done = await browser.follow(await browser.submit(ask, { logout: "yes" }));
    expect([done.url.href, done.text]).toEqual([`${baseURL}/`, '"start"']);

    const phone = new Browser(baseURL);
    await logIn(phone, "grace");
    const confirm = await phone.open(`${provider.issuer}/session/end`);
    await phone.follow(await phone.submit(confirm, { logout: "yes" }));
    expect((await phone.send("/me")).status).toBe(401);
    expect(log.lines.filter((line) => !line.startsWith("info") && !line.includes("failed with 400"))).toEqual([]);
  });
});
