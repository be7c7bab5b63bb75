import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";

import { App } from "../../src/app.js";
import { StaticFiles } from "../../src/static-files.js";
import { TestClient } from "../../src/testing.js";
import { CACHE, Chromium, WITHOUT_BROWSER } from "./_chromium.js";

const FRAMEWORK = path.resolve(import.meta.dirname, "../..");
const SITE = path.resolve(FRAMEWORK, "../.cache/site/dist");

/** The pages of the site, without those of the reference. */
const pagesOf = () => readdirSync(SITE).filter((name) => name.endsWith(".html") && name !== "404.html");

/** Links of a page that lead to no page of the site, or to no heading. */
function brokenLinks(page: string): string[] {
  const html = readFileSync(path.join(SITE, page), "utf8");
  const links = [...html.matchAll(/<a [^>]*href="([^":]*)"/g)].map(([, link]) => link as string);
  return links.filter((link) => {
    const [name = "", heading = ""] = decodeURIComponent(link).split("#");
    const file = name === "" ? page : name.endsWith("/") ? `${name}index.html` : name;
    try {
      const target = readFileSync(path.join(SITE, path.extname(file) === "" ? `${file}.html` : file), "utf8");
      return heading !== "" && !target.includes(` id="${heading}"`);
    } catch {
      return true;
    }
  });
}

const withBrowser = WITHOUT_BROWSER === null ? describe : describe.skip;

withBrowser(`the documentation's site in Chromium${WITHOUT_BROWSER === null ? "" : ` (${WITHOUT_BROWSER})`}`, () => {
  let chromium: Chromium;
  let client: TestClient;

  beforeAll(async () => {
    await promisify(execFile)(process.execPath, [path.join(FRAMEWORK, "scripts/site.js")]);
    const app = new App({ docsUrl: null, redocUrl: null, openapiUrl: null });
    app.mount("/", new StaticFiles(SITE, { html: true }));
    client = await TestClient.open(app);
    chromium = await Chromium.launch();
  }, 480_000);

  afterAll(async () => {
    await chromium?.close();
    await client?.close();
  });

  it("has every page, each named in the sidebar", async () => {
    const { tab } = await chromium.visit(`${client.url}/index.html`);
    const links = await tab.locator(".VPSidebar a").allInnerTexts();
    const pages = readdirSync(path.join(FRAMEWORK, "docs")).filter((name) => name.endsWith(".md"));
    expect(links).toHaveLength(pages.length + 1); // the reference, which is made
  }, 60_000);

  it("has no link that leads nowhere", () => {
    const broken = pagesOf().flatMap((page) => brokenLinks(page).map((link) => `${page}: ${link}`));
    expect(broken).toEqual([]);
    expect(pagesOf().length).toBeGreaterThan(25);
  });

  it.each([
    ["a desktop", 1280],
    ["a phone", 375],
  ])(
    "shows every page on %s without a message, a missing picture, or a line that is wider than the window",
    async (_name, width) => {
      const { tab, messages } = await chromium.visit("about:blank", { width, height: 800 });
      const faults: string[] = [];
      for (const page of pagesOf()) {
        for (const colorScheme of ["light", "dark"] as const) {
          await tab.emulateMedia({ colorScheme });
          await tab.goto(`${client.url}/${page}`, { waitUntil: "networkidle" });
          const wider = await tab.evaluate("document.documentElement.scrollWidth - innerWidth");
          const missing = await tab.evaluate("[...document.images].filter((image) => image.naturalWidth === 0).length");
          if (wider !== 0 || missing !== 0)
            faults.push(`${page}, ${colorScheme}: ${String(wider)} px, ${String(missing)} pictures`);
        }
      }
      expect(faults).toEqual([]);
      expect(messages).toEqual([]);
    },
    240_000,
  );

  it("has a reference of what the package exports, by its doc comments", async () => {
    const { tab, messages } = await chromium.visit(`${client.url}/reference/index/classes/HTTPException.html`);
    expect(await tab.locator("main").innerText()).toContain("Ends the request with a status");
    expect(messages).toEqual([]);
    await tab.screenshot({ path: path.join(CACHE, "site-reference.png"), fullPage: false });
  }, 60_000);

  it("shows the tutorial without a message, and loads nothing from another host", async () => {
    const { tab, requests, messages } = await chromium.visit(`${client.url}/tutorial.html`);
    expect(messages).toEqual([]);
    expect(requests.filter((url) => !url.startsWith(client.url) && !/^(?:blob|data):/.test(url))).toEqual([]);
    expect(await tab.title()).toBe("Tutorial | tsgi");
    expect(await tab.locator("main pre").allInnerTexts()).not.toContain(expect.stringContaining("```"));
    await tab.screenshot({ path: path.join(CACHE, "site-tutorial.png"), fullPage: false });
  }, 60_000);

  it("finds a word", async () => {
    const { tab, messages } = await chromium.visit(`${client.url}/index.html`);
    await tab.locator(".DocSearch-Button").first().click();
    await tab.locator(".VPLocalSearchBox input").fill("trustedProxies");
    await tab.locator(".VPLocalSearchBox .result").first().waitFor();
    const results = await tab.locator(".VPLocalSearchBox .result").allInnerTexts();
    expect(results.join("\n")).toContain("Who the client is");
    expect(messages).toEqual([]);
    await tab.screenshot({ path: path.join(CACHE, "site-search.png"), fullPage: false });
  }, 60_000);
});
