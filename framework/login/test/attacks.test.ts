/** Browsers, providers and networks that do what they should not: RFC 9700 §4, OpenID Connect Core §16. */
import { generateKeyPair } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { localPath } from "../src/pending.js";
import type { Browser } from "./_browser.js";
import { CLIENT, HostileProvider } from "./_hostile-provider.js";
import { BASE_URL, createShop, logIn } from "./_shop.js";

describe("a login under attack", () => {
  let provider: HostileProvider;
  let other: HostileProvider;
  beforeAll(async () => {
    [provider, other] = await Promise.all([HostileProvider.start(), HostileProvider.start()]);
  });
  afterAll(async () => {
    await Promise.all([provider.stop(), other.stop()]);
  });
  beforeEach(() => {
    Object.assign(provider, {
      sub: "ada",
      metadata: {},
      claims: {},
      callback: {},
      checksPKCE: true,
      otherKey: null,
      respond: undefined,
    });
  });

  /** The callback to which the provider sends the browser. */
  const callbackOf = async (browser: Browser, target = "/login") => {
    const page = await browser.open(await browser.begin(target));
    return new URL(page.headers.get("location") ?? "");
  };

  const isLoggedIn = async (browser: Browser) => (await browser.send("/me")).status === 200;

  const seconds = () => Math.floor(Date.now() / 1_000);

  it.each<[string, (of: HostileProvider) => object | Promise<object>]>([
    ["another nonce", () => ({ claims: { nonce: "other" } })],
    ["no nonce", () => ({ claims: { nonce: undefined } })],
    ["another issuer", () => ({ claims: { iss: "https://other.example" } })],
    ["another audience", () => ({ claims: { aud: "other" } })],
    ["further audiences, and none of them authorized", () => ({ claims: { aud: ["shop", "other"] } })],
    ["an expired token", () => ({ claims: { exp: seconds() - 31 } })],
    ["a token of the future", () => ({ claims: { nbf: seconds() + 60 } })],
    ["no subject", () => ({ claims: { sub: undefined } })],
    [
      "the signature of another key",
      async () => ({ otherKey: { key: (await generateKeyPair("ES256")).privateKey, alg: "ES256" } }),
    ],
    [
      "HS256 with the secret of the client",
      () => ({ otherKey: { key: new TextEncoder().encode(CLIENT.clientSecret), alg: "HS256" } }),
    ],
  ])("is refused with 502 if the provider sends %s", async (_, lie) => {
    const { browser, log } = createShop(provider.issuer);
    const callback = await callbackOf(browser);
    Object.assign(provider, await lie(provider));
    const page = await browser.send(callback);
    expect([page.status, page.text]).toEqual([502, '{"detail":"The identity provider sent an invalid response."}']);
    expect(log.lines).toEqual([expect.stringMatching(/^warn A login failed with 502: /)]);
    expect(await isLoggedIn(browser)).toBe(false);
  });

  it.each(["exp", "nbf"])("bears that the clocks differ by 30 s: %s", async (claim) => {
    provider.claims = claim === "exp" ? { exp: seconds() - 25 } : { nbf: seconds() + 25 };
    const { browser } = createShop(provider.issuer);
    await logIn(browser);
    expect(await isLoggedIn(browser)).toBe(true);
  });

  it("is refused with 502 if the response of the provider has no ID token, is not JSON, or is too large", async () => {
    provider.metadata = { padding: "x".repeat(1_100_000) };
    expect((await createShop(provider.issuer).browser.send("/login")).status).toBe(502);
    provider.metadata = {};
    for (const body of ['{"access_token":"a","token_type":"Bearer"}', "<html>"]) {
      provider.respond = (_, response) => {
        response.writeHead(200, { "content-type": "application/json" }).end(body);
        return true;
      };
      const { browser } = createShop(provider.issuer);
      expect((await browser.send(await callbackOf(browser))).status).toBe(502);
    }
  });

  it("is refused with 502 if the metadata are of another issuer", async () => {
    provider.metadata = { issuer: other.issuer };
    const { browser } = createShop(provider.issuer);
    expect((await browser.send("/login")).status).toBe(502);
    provider.metadata = {};
    expect((await browser.send("/login")).status).toBe(303);
  });

  it.each<[string, (url: URL, browser: Browser) => unknown]>([
    ["another state", (url) => url.searchParams.set("state", "A".repeat(43))],
    ["no state", (url) => url.searchParams.delete("state")],
    ["the name of a cookie as its state", (url) => url.searchParams.set("state", "__proto__")],
    ["no cookie, as in another browser", (_, { cookies }) => cookies.clear()],
  ])("is refused with 400 and no line in the log if the callback has %s", async (_, change) => {
    const { browser, log } = createShop(provider.issuer);
    const callback = await callbackOf(browser);
    change(callback, browser);
    const page = await browser.send(callback);
    expect([page.status, page.text]).toEqual([400, '{"detail":"The login failed. Please try again."}']);
    expect(log.lines).toEqual([]);
    expect(await isLoggedIn(browser)).toBe(false);
  });

  it.each<[string, (url: URL) => unknown]>([
    ["a repeated state", (url) => url.searchParams.append("state", "other")],
    [
      "a repeated code, of which the last is right",
      ({ searchParams }) => {
        const code = searchParams.get("code") ?? "";
        searchParams.set("code", "other");
        searchParams.append("code", code);
      },
    ],
    ["no code", (url) => url.searchParams.delete("code")],
    ["a code that was never issued", (url) => url.searchParams.set("code", "forged")],
    ["an error of the provider", (url) => url.searchParams.set("error", "<script>access_denied")],
    ["the issuer of another provider (RFC 9207)", (url) => url.searchParams.set("iss", "https://other.example")],
  ])("is refused with 400 if the callback has %s", async (_, change) => {
    const { browser, log } = createShop(provider.issuer);
    const callback = await callbackOf(browser);
    change(callback);
    const page = await browser.open(callback);
    expect([page.status, page.headers.get("content-type")]).toEqual([400, "text/html; charset=utf-8"]);
    expect(page.text).toContain(`<a href="${BASE_URL}/login">`);
    expect(page.text).not.toMatch(/script|secret/);
    expect(log.lines).toEqual([expect.stringMatching(/^warn A login failed with 400: /)]);
    expect(await isLoggedIn(browser)).toBe(false);
  });

  it("is refused with 400 if a provider that announces `iss` omits it (RFC 9207)", async () => {
    provider.metadata = { authorization_response_iss_parameter_supported: true };
    const { browser } = createShop(provider.issuer);
    expect((await browser.send(await callbackOf(browser))).status).toBe(400);
    provider.callback = { iss: provider.issuer };
    expect((await browser.send(await callbackOf(browser))).status).toBe(303);
  });

  it("is completed once: the callback is refused when it is replayed, with or without its cookie", async () => {
    const { browser } = createShop(provider.issuer);
    const callback = await callbackOf(browser);
    const earlier = browser.copy();
    expect((await browser.send(callback)).status).toBe(303);
    expect((await browser.send(callback)).status).toBe(400);
    expect((await earlier.send(callback)).status).toBe(400);
    expect(await isLoggedIn(earlier)).toBe(false);
  });

  it.each([
    [400, true],
    [502, false],
  ])("refuses the code of another browser with %i if the provider checks PKCE: %p", async (status, checksPKCE) => {
    provider.checksPKCE = checksPKCE;
    const shop = createShop(provider.issuer);
    const stolen = (await callbackOf(shop.browser)).searchParams.get("code") ?? "";
    const attacker = new (shop.browser.constructor as typeof Browser)(BASE_URL, shop.app);
    const own = await callbackOf(attacker);
    own.searchParams.set("code", stolen);
    expect((await attacker.send(own)).status).toBe(status);
    expect(await isLoggedIn(attacker)).toBe(false);
  });

  it("keeps the tabs of a browser apart, and each goes to its own page", async () => {
    const { browser } = createShop(provider.issuer);
    const first = await callbackOf(browser, "/login?returnTo=/first");
    const second = await callbackOf(browser, "/login?returnTo=/second");
    expect((await browser.send(second)).headers.get("location")).toBe("/second");
    expect((await browser.send(first)).headers.get("location")).toBe("/first");
    expect([...browser.cookies.keys()]).toEqual(["__Host-session"]);
  });

  it("removes the oldest of many logins that have begun, so that requests stay small", async () => {
    const { browser } = createShop(provider.issuer);
    const path = `/${"x".repeat(900)}`;
    const urls: URL[] = [];
    for (let count = 0; count < 8; count++) urls.push(await browser.begin(`/login?returnTo=${path}`));
    const size = Array.from(browser.cookies, (pair) => pair.join("=")).join("; ").length;
    expect(size).toBeLessThan(6_000);
    const last = await browser.open(urls.at(-1) ?? "");
    expect((await browser.send(last.headers.get("location") ?? "")).headers.get("location")).toBe(path);
    const first = await browser.open(urls[0] ?? "");
    expect((await browser.send(first.headers.get("location") ?? "")).status).toBe(400);
  });

  it.each([
    ["/items?a=1&b=/#end", "/items?a=1&b=/#end"],
    ["/a/../b", "/b"],
    ["/é", "/%C3%A9"],
    ["//evil.test", "/"],
    ["/\\evil.test", "/"],
    ["/\t/evil.test", "/"],
    ["/\n/evil.test", "/"],
    ["\\\\evil.test", "/"],
    ["/..//evil.test", "/"],
    ["/./\\evil.test", "/"],
    ["/.//evil.test/..", "/"],
    ["https://evil.test/", "/"],
    ["javascript:alert(1)", "/"],
    [" /items", "/"],
    ["", "/"],
  ])("goes after the login from %j to %j", async (returnTo, expected) => {
    const { browser } = createShop(provider.issuer);
    const callback = await callbackOf(browser, `/login?returnTo=${encodeURIComponent(returnTo)}`);
    expect((await browser.send(callback)).headers.get("location")).toBe(expected);
  });

  it.each(["/..//evil.test", "/.//evil.test", "//evil.test", "/\\evil.test"])("never takes %j for a path", (text) => {
    expect(localPath(text, BASE_URL)).toBe("/");
  });

  it("goes after the login to / if the path is longer than any page needs", async () => {
    const { browser } = createShop(provider.issuer);
    const callback = await callbackOf(browser, `/login?returnTo=/${"x".repeat(1_100)}`);
    expect((await browser.send(callback)).headers.get("location")).toBe("/");
  });

  it("goes to / if an attacker has changed the path in the cookie", async () => {
    const { browser } = createShop(provider.issuer);
    const callback = await callbackOf(browser);
    for (const [name, value] of browser.cookies) {
      if (name.startsWith("__Host-login")) browser.cookies.set(name, value.replace(/%2F$|\/$/, "%2F%2Fevil.test"));
    }
    expect((await browser.send(callback)).headers.get("location")).toBe("/");
  });

  it("renews the id of the session, and keeps its data (fixation)", async () => {
    const { browser } = createShop(provider.issuer);
    await browser.send("/visit", { method: "POST" });
    const planted = browser.copy();
    await logIn(browser);
    expect(await isLoggedIn(browser)).toBe(true);
    expect(await isLoggedIn(planted)).toBe(false);
    expect(JSON.parse((await browser.send("/session")).text)).toMatchObject({ visits: 1 });
    expect((await planted.send("/session")).text).toBe("{}");
  });

  it("sends the secret as the metadata tell, and by HTTP Basic without the list", async () => {
    for (const [methods, isBasic] of [
      [["client_secret_post"], false],
      [["client_secret_post", "client_secret_basic"], true],
      [undefined, true],
    ] as const) {
      provider.metadata = { token_endpoint_auth_methods_supported: methods };
      const { browser } = createShop(provider.issuer);
      await logIn(browser);
      const { form, authorization } = provider.tokenRequests.at(-1) ?? { form: new URLSearchParams() };
      expect([authorization?.startsWith("Basic ") ?? false, form.has("client_secret")]).toEqual([isBasic, !isBasic]);
    }
  });

  it("is refused with 503 while the provider is away, and works when it is back", async () => {
    const { browser, log } = createShop(provider.issuer, { login: { timeoutMs: 200 } });
    const callback = await callbackOf(browser);
    provider.respond = async () => new Promise<boolean>(() => {}); // never responds
    const late = await browser.send(callback);
    expect([late.status, late.text]).toEqual([503, '{"detail":"The identity provider is unavailable."}']);
    provider.respond = (_, response) => {
      response.writeHead(500).end();
      return true;
    };
    expect((await browser.open(await callbackOf(browser))).status).toBe(503);
    expect(log.lines).toHaveLength(2);
    provider.respond = undefined;
    await logIn(browser);
    expect(await isLoggedIn(browser)).toBe(true);
    const gone = await HostileProvider.start();
    const alone = createShop(gone.issuer);
    await gone.stop();
    const page = await alone.browser.open("/login");
    expect([page.status, page.headers.get("content-type")]).toEqual([503, "text/html; charset=utf-8"]);
  });

  it("writes no code, token or claim to the log", async () => {
    provider.claims = { aud: "other", name: "Countess" };
    const { browser, log } = createShop(provider.issuer);
    const callback = await callbackOf(browser);
    await browser.send(callback);
    const text = log.lines.join("\n");
    expect(text).toMatch(/audience|aud|claim/);
    expect(text).not.toContain("Countess");
    expect(text).not.toContain(callback.searchParams.get("code"));
  });
});
