import path from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";

import { freePort } from "../support/free-port.js";
import { type IdentityProvider, startIdentityProvider } from "../support/identity-provider.js";
import { type RunningSample, startSample } from "../support/sample.js";
import { CACHE, Chromium, type Tab, WITHOUT_BROWSER } from "./_chromium.js";

const withBrowser = WITHOUT_BROWSER === null ? describe : describe.skip;

/** A client on loopback, for which the provider accepts any port (RFC 8252 §7.3). */
const CLIENT = {
  client_id: "sample-auth-app",
  application_type: "native",
  redirect_uris: ["http://127.0.0.1/login/callback", "http://127.0.0.1/docs/oauth2-redirect.html"],
} as const;

/** Fills in the pages of the provider: login, and consent. */
async function logIn(tab: Tab, user: string): Promise<void> {
  await tab.locator("input[name=login]").fill(user);
  await tab.locator("input[name=password]").fill("any");
  await tab.locator("button[type=submit]").click();
  await tab.locator("input[name=prompt][value=consent]").waitFor({ state: "attached" });
  await tab.locator("button[type=submit]").click();
}

withBrowser(`a login at an identity provider${WITHOUT_BROWSER === null ? "" : ` (${WITHOUT_BROWSER})`}`, () => {
  let chromium: Chromium;
  let provider: IdentityProvider;
  let sample: RunningSample;

  beforeAll(async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const client = { ...CLIENT, post_logout_redirect_uris: [`${url}/`] };
    provider = await startIdentityProvider({ clients: [client], defaultResource: url });
    sample = await startSample({ OIDC_ISSUER: provider.issuer, OIDC_AUDIENCE: url, PORT: String(port) });
    chromium = await Chromium.launch();
  });

  afterAll(async () => {
    await chromium?.close();
    await sample?.[Symbol.asyncDispose]();
    await provider?.stop();
  });

  it("opens the page of the sample application with the user's items, keeps the login after a reload, and ends it", async () => {
    const { tab, messages } = await chromium.visit(sample.url);
    await tab.locator("#provider-login").click();
    await logIn(tab, "ada");
    await tab.locator("#home").waitFor();
    expect(await tab.locator("#name").innerText()).toBe("ada");
    await tab.locator("#item").fill("Notebook");
    await tab.locator("#add [type=submit]").click();
    await tab.locator("#items li").first().waitFor();
    expect(await tab.evaluate("location.href")).toBe(`${sample.url}/`);
    await tab.screenshot({ path: path.join(CACHE, "provider-page.png"), fullPage: true });
    await tab.reload();
    await tab.locator("#items li").first().waitFor();
    expect(await tab.evaluate("document.cookie")).toBe("");
    await tab.locator("#logout").click();
    await tab.locator("button[name=logout]").first().click();
    await tab.locator("#provider-login").waitFor();
    expect(await tab.evaluate("location.href")).toBe(`${sample.url}/`);
    // The pages of the provider load a font from the internet.
    expect(messages.filter((text) => !/^(?:\[DOM\]|Failed to load resource)/.test(text))).toEqual([]);
  });

  it("authorizes Swagger UI with the authorization code flow and PKCE", async () => {
    const { tab } = await chromium.visit(`${sample.url}/docs`);
    await tab.locator(".btn.authorize").click();
    const form = ".auth-container:has([id^=client_id_authorization])";
    await tab.locator(`${form} [id^=client_id_authorization]`).fill(CLIENT.client_id);
    await tab.locator(`${form} label[for^='items:read']`).first().click();
    const opened = tab.waitForEvent("popup");
    await tab.locator(`${form} .authorize`).click();
    const popup = await opened;
    expect(await popup.evaluate("location.origin")).toBe(provider.issuer);
    await logIn(popup, "grace");
    await tab.locator(".auth-container h6").first().waitFor();
    await tab.screenshot({ path: path.join(CACHE, "provider-docs.png"), fullPage: true });
    await tab.locator(".auth-btn-wrapper .btn-done").first().click();
    const operation = "[id$=getUsersMe]";
    await tab.locator(`${operation} .opblock-summary-control`).click();
    await tab.locator(`${operation} .try-out__btn`).click();
    await tab.locator(`${operation} button.execute`).click();
    const body = tab.locator(`${operation} .live-responses-table .microlight`).first();
    await body.waitFor();
    expect(await body.innerText()).toContain('"username": "grace"');
  });
});
