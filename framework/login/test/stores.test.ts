/** Logins of several servers that share a store. */
import { afterAll, beforeAll, beforeEach, expect, it } from "@jest/globals";
import { describeStores } from "../../core/test/middleware/_stores.js";
import { HostileProvider } from "./_hostile-provider.js";
import { createShop, logIn } from "./_shop.js";

let provider: HostileProvider;
beforeAll(async () => {
  provider = await HostileProvider.start();
});
afterAll(() => provider.stop());
beforeEach(() => {
  Object.assign(provider, { expiresIn: 3_600 });
  provider.tokenRequests.length = 0;
});

describeStores((_, open) => {
  /** Two servers with one store, and browsers with the cookies of one login. */
  const openServers = async () => {
    const { store, secondsLeft, keys } = open();
    const options = { login: { backchannelLogout: true }, sessions: { store, maxAge: 600 } };
    const [first, second] = [createShop(provider.issuer, options), createShop(provider.issuer, options)];
    await logIn(first.browser);
    for (const [name, value] of first.browser.cookies) second.browser.cookies.set(name, value);
    return { first: first.browser, second: second.browser, secondsLeft, keys };
  };

  it("refresh an access token once, even if requests reach both", async () => {
    provider.expiresIn = 0;
    const { first, second } = await openServers();
    provider.expiresIn = 3_600;
    const browsers = Array.from({ length: 8 }, (__, index) => (index % 2 === 0 ? first : second).copy());
    const pages = await Promise.all(browsers.map((browser) => browser.send("/token")));
    expect(pages.map(({ status }) => status)).toEqual(browsers.map(() => 200));
    expect(new Set(pages.map(({ text }) => text)).size).toBe(1);
    const grants = provider.tokenRequests.map(({ form }) => form.get("grant_type"));
    expect(grants).toEqual(["authorization_code", "refresh_token"]);
  });

  it("end on all servers, and keep the tokens and the marker of the end as long as the session", async () => {
    const { first, second, secondsLeft, keys } = await openServers();
    const [tokens = ""] = (await keys()).filter((key) => key.startsWith("login:tokens:"));
    expect(await secondsLeft(tokens)).toBeGreaterThan(590);
    expect((await second.send("/me")).status).toBe(200);
    const body = new URLSearchParams({ logout_token: await provider.signLogout({ sid: "sid-of-ada" }) });
    expect((await first.copy().send("/login/backchannel-logout", { method: "POST", body })).status).toBe(200);
    expect([(await first.send("/me")).status, (await second.send("/me")).status]).toEqual([401, 401]);
    const [marker = ""] = (await keys()).filter((key) => key.startsWith("login:ended:"));
    expect(await secondsLeft(marker)).toBeGreaterThan(590);
    expect(await secondsLeft(marker)).toBeLessThanOrEqual(600);
  });

  it("leave no token in the store after the logout", async () => {
    const { first, second, keys } = await openServers();
    expect((await first.send("/login/logout", { method: "POST" })).status).toBe(303);
    expect((await second.send("/token")).status).toBe(401);
    expect((await keys()).filter((key) => key.startsWith("login:tokens:"))).toEqual([]);
  });
});
