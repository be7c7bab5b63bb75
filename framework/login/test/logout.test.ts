/** The end of a login: at the application, and at the provider. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { memoryStore } from "tsgi/middleware";
import { HostileProvider } from "./_hostile-provider.js";
import { BASE_URL, createShop, logIn } from "./_shop.js";

describe("a logout", () => {
  let provider: HostileProvider;
  beforeAll(async () => {
    provider = await HostileProvider.start();
  });
  afterAll(() => provider.stop());
  beforeEach(() => {
    Object.assign(provider, { sub: "ada", metadata: {}, claims: {}, otherKey: null });
  });

  const shopOf = (options: Parameters<typeof createShop>[1] = {}) =>
    createShop(provider.issuer, { ...options, login: { backchannelLogout: true, ...options.login } });

  type Shop = ReturnType<typeof shopOf>;

  const post = ({ browser }: Shop, form: Record<string, string> | string) =>
    browser.copy().send("/login/backchannel-logout", { method: "POST", body: new URLSearchParams(form) });

  const statusOf = async ({ browser }: Shop) => (await browser.send("/me")).status;

  describe("at the application", () => {
    it("ends the session, removes the tokens, and sends the browser to the provider with the ID token", async () => {
      const { browser } = createShop(provider.issuer);
      await logIn(browser);
      const stolen = browser.copy();
      const page = await browser.send("/login/logout", { method: "POST" });
      const url = new URL(page.headers.get("location") ?? "");
      expect([page.status, url.origin + url.pathname]).toEqual([303, `${provider.issuer}/logout`]);
      expect(Object.fromEntries(url.searchParams)).toEqual({
        client_id: "shop",
        post_logout_redirect_uri: `${BASE_URL}/`,
        id_token_hint: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      });
      expect(browser.cookies.size).toBe(0);
      expect((await stolen.send("/me")).status).toBe(401);
    });

    it("goes to the start page if the provider has no logout, or is away", async () => {
      provider.metadata = { end_session_endpoint: undefined };
      const { browser } = createShop(provider.issuer);
      await logIn(browser);
      const page = await browser.send("/login/logout", { method: "POST" });
      expect(page.headers.get("location")).toBe(`${BASE_URL}/`);
      expect((await browser.send("/me")).status).toBe(401);
      const gone = await HostileProvider.start();
      const alone = createShop(gone.issuer);
      await gone.stop();
      const left = await alone.browser.send("/login/logout", { method: "POST" });
      expect([left.status, left.headers.get("location")]).toEqual([303, `${BASE_URL}/`]);
    });

    it("works without a store, where the provider gets no ID token", async () => {
      const { browser } = createShop(provider.issuer, { sessions: { secret: "s".repeat(32), store: undefined } });
      await logIn(browser);
      const session = Object.values(JSON.parse((await browser.send("/session")).text) as object)[0] as object;
      expect(Object.keys(session)).toEqual(["sub", "claims", "at"]);
      const page = await browser.send("/login/logout", { method: "POST" });
      expect(page.headers.get("location")).not.toContain("id_token_hint");
      expect((await browser.send("/me")).status).toBe(401);
    });

    it("is a POST, so that a link or an image of another site cannot log a user out", async () => {
      const { browser } = createShop(provider.issuer);
      await logIn(browser);
      expect((await browser.open("/login/logout")).status).toBe(405);
      expect((await browser.send("/me")).status).toBe(200);
    });
  });

  describe("at the provider", () => {
    it("ends the logins of one session at the provider on every server, and no later one", async () => {
      const store = memoryStore();
      const [shop, other] = [shopOf({ sessions: { store } }), shopOf({ sessions: { store } })];
      await logIn(shop.browser);
      provider.claims = { sid: "another" };
      await logIn(other.browser);
      provider.claims = {};
      const page = await post(other, { logout_token: await provider.signLogout({ sid: "sid-of-ada", sub: "ada" }) });
      expect([page.status, page.headers.get("cache-control"), page.text]).toEqual([200, "no-store", ""]);
      expect([await statusOf(shop), await statusOf(other)]).toEqual([401, 200]);
      expect((await shop.browser.send("/maybe")).text).toBe("null");
      expect((await shop.browser.send("/token")).status).toBe(401);
      await logIn(shop.browser);
      expect(await statusOf(shop)).toBe(200);
    });

    it("ends all logins of a user", async () => {
      const shop = shopOf();
      await logIn(shop.browser);
      const phone = { ...shop, browser: shop.browser.copy() };
      phone.browser.cookies.clear();
      provider.claims = { sid: "phone" };
      await logIn(phone.browser);
      provider.sub = "eve";
      const eve = { ...shop, browser: shop.browser.copy() };
      eve.browser.cookies.clear();
      await logIn(eve.browser);
      expect((await post(shop, { logout_token: await provider.signLogout({ sub: "ada" }) })).status).toBe(200);
      expect([await statusOf(shop), await statusOf(phone), await statusOf(eve)]).toEqual([401, 401, 200]);
    });

    it.each<[string, () => Promise<Record<string, string> | string>]>([
      ["no token", async () => ({})],
      ["an empty token", async () => ({ logout_token: "" })],
      ["text", async () => ({ logout_token: "nonsense" })],
      ["a large text", async () => ({ logout_token: "x".repeat(100_000) })],
      ["an ID token", async () => ({ logout_token: await provider.sign({ sub: "ada", nonce: "n" }) })],
      ["a nonce", async () => ({ logout_token: await provider.signLogout({ sub: "ada", nonce: "n" }) })],
      ["no event", async () => ({ logout_token: await provider.signLogout({ sub: "ada", events: {} }) })],
      ["neither sid nor sub", async () => ({ logout_token: await provider.signLogout({}) })],
      ["a number as its sid", async () => ({ logout_token: await provider.signLogout({ sid: 7, sub: "ada" }) })],
      [
        "another issuer",
        async () => ({ logout_token: await provider.signLogout({ sub: "ada", iss: "https://e.test" }) }),
      ],
      ["another audience", async () => ({ logout_token: await provider.signLogout({ sub: "ada", aud: "other" }) })],
      ["an expired token", async () => ({ logout_token: await provider.signLogout({ sub: "ada", exp: 1 }) })],
      ["no expiry", async () => ({ logout_token: await provider.signLogout({ sub: "ada", exp: undefined }) })],
      [
        "two tokens",
        async () => {
          const token = await provider.signLogout({ sub: "ada" });
          return `logout_token=${token}&logout_token=${token}`;
        },
      ],
      [
        "a signature with the secret of the client",
        async () => {
          provider.otherKey = { key: new TextEncoder().encode("a-secret-of-the-tests-with-32-bytes"), alg: "HS256" };
          return { logout_token: await provider.signLogout({ sub: "ada" }) };
        },
      ],
    ])("is refused with 400 and one line in the log for %s", async (_, formOf) => {
      const shop = shopOf();
      await logIn(shop.browser);
      const page = await post(shop, await formOf());
      expect([page.status, page.text]).toEqual([400, '{"detail":"The login failed. Please try again."}']);
      expect(shop.log.lines).toEqual([expect.stringMatching(/^warn A login failed with 400: /)]);
      expect(await statusOf(shop)).toBe(200);
    });

    it("is refused with 400 if the body is not a form, and with 503 while the keys cannot be fetched", async () => {
      const shop = shopOf();
      const json = await shop.browser.send("/login/backchannel-logout", { method: "POST", body: "{}" });
      expect(json.status).toBe(400);
      const gone = await HostileProvider.start();
      const alone = createShop(gone.issuer, { login: { backchannelLogout: true } });
      const token = await gone.signLogout({ sub: "ada" });
      await gone.stop();
      expect((await post(alone, { logout_token: token })).status).toBe(503);
    });
  });
});
