import path from "node:path";

import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";

import { App } from "../../core/src/app/app.js";
import { Depends, Security } from "../../core/src/parameters/depends.js";
import { OAuth2PasswordBearer, OAuth2PasswordRequestForm } from "../../core/src/parameters/security/oauth2.js";
import { TestClient } from "../../core/src/platforms/testing/index.js";
import { type RunningSample, startSample } from "../support/sample.js";
import { CACHE, Chromium, type Tab, WITHOUT_BROWSER } from "./_chromium.js";

const withBrowser = WITHOUT_BROWSER === null ? describe : describe.skip;

/** Opens the dialog, and asks for a token. */
async function authorize(tab: Tab, username: string, password: string): Promise<void> {
  await tab.locator(".btn.authorize").click();
  await tab.locator("#oauth_username").fill(username);
  await tab.locator("#oauth_password").fill(password);
  await tab.locator(".auth-container .authorize").click();
}

/** Opens an operation, tries it out, and returns the status that Swagger UI shows. */
async function tryOut(tab: Tab, operationId: string): Promise<string> {
  const block = `[id$=${operationId}]`;
  await tab.locator(`${block} .opblock-summary-control`).click();
  await tab.locator(`${block} .try-out__btn`).click();
  await tab.locator(`${block} button.execute`).click();
  const status = tab.locator(`${block} .live-responses-table tbody .response-col_status`).first();
  await status.waitFor();
  return (await status.innerText()).trim();
}

withBrowser(`Authorize in Swagger UI${WITHOUT_BROWSER === null ? "" : ` (${WITHOUT_BROWSER})`}`, () => {
  let chromium: Chromium;
  let sample: RunningSample;

  beforeAll(async () => {
    sample = await startSample();
    chromium = await Chromium.launch();
  });

  afterAll(async () => {
    await chromium?.close();
    await sample?.[Symbol.asyncDispose]();
  });

  it("logs in to the sample application, and Try it out gets responses as that user", async () => {
    const { tab, messages } = await chromium.visit(`${sample.url}/docs`);
    await authorize(tab, sample.username, sample.password);
    await tab.locator(".auth-container h6").first().waitFor();
    await tab.screenshot({ path: path.join(CACHE, "authorized.png"), fullPage: false });
    await tab.locator(".auth-btn-wrapper .btn-done").click();
    expect(await tryOut(tab, "getUsersMe")).toBe("200");
    const body = await tab.locator("[id$=getUsersMe] .live-responses-table .microlight").first().innerText();
    expect(body).toContain(`"username": "${sample.username}"`);
    await tab.screenshot({ path: path.join(CACHE, "tried-out.png"), fullPage: true });
    // Chromium's advice on Swagger UI's markup is not a message of the page.
    expect(messages.filter((text) => !text.startsWith("[DOM]"))).toEqual([]);
  });

  it("finds the login of a mounted App", async () => {
    const inner = new App();
    inner.post("/token", { params: { form: Depends(OAuth2PasswordRequestForm) } }, async ({ form }) => ({
      access_token: form.username,
      token_type: "bearer",
    }));
    const scheme = new OAuth2PasswordBearer({ tokenUrl: "/token", scopes: { read: "Read everything." } });
    inner.get("/me", { params: { token: Security(scheme, { scopes: ["read"] }) } }, async ({ token }) => token);
    const outer = new App();
    outer.mount("/v1", inner);
    await using client = await TestClient.open(outer);
    const { tab } = await chromium.visit(`${client.url}/v1/docs`);
    await authorize(tab, "ada", "secret");
    await tab.locator(".auth-container h6").first().waitFor();
    await tab.locator(".auth-btn-wrapper .btn-done").click();
    expect(await tryOut(tab, "getMe")).toBe("200");
  });

  it("is rejected with a wrong password, and Try it out stays 401", async () => {
    const { tab } = await chromium.visit(`${sample.url}/docs`);
    await authorize(tab, sample.username, "wrong");
    const error = tab.locator(".auth-container .errors").first();
    await error.waitFor();
    expect(await error.innerText()).toMatch(/401|Unauthorized/);
    await tab.locator(".modal-ux .close-modal").click();
    expect(await tryOut(tab, "getUsersMe")).toBe("401");
  });
});
