import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { TestClient } from "../../core/src/platforms/testing/index.js";
import { CACHE, Chromium, WITHOUT_BROWSER } from "./_chromium.js";
import { serveShop, visitShop } from "./_inspected-shop.js";

const withBrowser = WITHOUT_BROWSER === null ? describe : describe.skip;

withBrowser(`the inspector in Chromium${WITHOUT_BROWSER === null ? "" : ` (${WITHOUT_BROWSER})`}`, () => {
  let chromium: Chromium;
  let client: TestClient;

  beforeAll(async () => {
    client = await serveShop();
    chromium = await Chromium.launch();
  });

  afterAll(async () => {
    await chromium?.close();
    await client?.close();
  });

  it("shows requests as they arrive, with steps, validation errors and errors as text, and the routes as trees", async () => {
    const { tab, requests, messages } = await chromium.visit(`${client.url}/__tsgi`, undefined, "load");
    await tab.locator("#connection.live").waitFor();
    await visitShop(client.url);
    await tab.locator("summary.refused >> nth=1").waitFor();
    const rows = await tab.locator("#requests summary").allInnerTexts();
    expect(rows.map((text) => /(?:GET|POST)\s+\S+\s+\d{3}/.exec(text)?.[0].replaceAll(/\s+/g, " "))).toEqual([
      "POST /items 422",
      "GET /items/99 404",
      "GET /report 500",
      "POST /items 201",
      "GET /items/1 200",
    ]);
    await tab.locator("#requests summary.refused").first().click();
    expect(await tab.locator(".faults").first().innerText()).toMatch(/body\.name .*\n?.*body\.price/);
    await tab.locator("#requests summary.failed").click();
    expect(await tab.locator("details[open] p.error").innerText()).toBe("Error: <b>No report</b> was written.");
    await tab.locator("#routes summary").first().click();
    expect(await tab.locator("#routes details[open] ul").first().innerText()).toMatch(/getCurrentUser\s+getSession/);
    await tab.screenshot({ path: path.join(CACHE, "inspector.png"), fullPage: true });
    await tab.locator("input[value=failed]").click();
    const shown = await tab.evaluate(`[...document.querySelectorAll("#requests > details:not([hidden])")].length`);
    expect(shown).toBe(1);
    expect(messages).toEqual([]);
    expect(requests.filter((url) => !url.startsWith(client.url))).toEqual([]);
    await tab.close();
  });

  it("has no element wider than a phone of 390 pixels", async () => {
    await visitShop(client.url);
    const { tab } = await chromium.visit(`${client.url}/__tsgi`, { width: 390, height: 800 }, "load");
    await tab.locator("#requests summary").first().click();
    expect(await tab.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    await tab.screenshot({ path: path.join(CACHE, "inspector-phone.png"), fullPage: true });
    await tab.close();
  });
});
