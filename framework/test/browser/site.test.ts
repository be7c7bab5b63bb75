import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";

import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";

import { App } from "../../core/src/app/app.js";
import { StaticFiles } from "../../core/src/http/static-files.js";
import { TestClient } from "../../core/src/platforms/testing/index.js";
import { findBrokenLinks } from "../docs/_links.js";
import { REPOSITORY } from "../docs/_project.js";
import { CACHE, Chromium, WITHOUT_BROWSER } from "./_chromium.js";
import { QUERIES } from "./_site-queries.js";

const FRAMEWORK = path.resolve(import.meta.dirname, "../..");
const SITE = path.resolve(FRAMEWORK, "../.cache/site/dist");

/** Files of a folder and those below it, by the end of their names. */
const filesOf = (folder: string, end: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(end));

/** The pages of the site. */
const pagesOf = () => filesOf(SITE, ".html").filter((name) => name !== "404.html");

/** Without the links of the reference, except for one of each kind. */
const writtenPages = () =>
  pagesOf().filter((name) => !name.startsWith("reference/") || /\/(?:App|serve|Limits|index)\.html$/.test(name));

/** Links of a page that lead to no page of the site, or to no heading. */
function brokenLinks(page: string): string[] {
  const html = readFileSync(path.join(SITE, page), "utf8");
  const links = [...html.matchAll(/<a [^>]*href="([^":]*)"/g)].map(([, link]) => link as string);
  return links.filter((link) => {
    const [name = "", heading = ""] = decodeURIComponent(link).split("#");
    const file = name === "" ? `/${page}` : name.endsWith("/") ? `${name}index.html` : name;
    try {
      const target = readFileSync(path.join(SITE, new URL(file, `http://site/${page}`).pathname), "utf8");
      return heading !== "" && !target.includes(` id="${heading}"`);
    } catch {
      return true;
    }
  });
}

const SIDEBAR_LINKS = "[...document.querySelectorAll('.VPSidebar a')].map((link) => link.pathname)";

/** Pixels that the page is wider than the window, its pictures that are missing, and its samples that are cut off. */
const LAYOUT_FAULTS = `(() => {
  const wider = document.documentElement.scrollWidth - innerWidth;
  const pictures = [...document.images].filter((image) => image.complete && image.naturalWidth === 0).map(({ src }) => src);
  const cut = [...document.querySelectorAll("pre, pre code")].filter((pre) => pre.scrollWidth > pre.clientWidth);
  const samples = cut.map(({ textContent }) => textContent.slice(0, 60));
  return wider > 0 || pictures.length > 0 || samples.length > 0 ? { wider, pictures, samples } : null;
})()`;

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
    const links: unknown[] = [];
    for (const page of ["tutorial.html", "cookbook/index.html", "reference/index.html"]) {
      const { tab } = await chromium.visit(`${client.url}/${page}`);
      links.push(...((await tab.evaluate(SIDEBAR_LINKS)) as string[]));
      await tab.close();
    }
    const isOneOfMany = (name: string) =>
      /^reference\/.*(?:classes|functions|interfaces|type-aliases|variables)\//.test(name);
    const missing = pagesOf()
      .filter((name) => name !== "index.html" && !isOneOfMany(name))
      .filter((name) => !links.includes(`/${name.replace(/index\.html$/, "")}`));
    expect(missing).toEqual([]);
    expect(links).toContain("/reference/tsgi/middleware/");
  });

  it("has no broken links", () => {
    const broken = pagesOf().flatMap((page) => brokenLinks(page).map((link) => `${page}: ${link}`));
    expect(broken).toEqual([]);
    expect(pagesOf().length).toBeGreaterThan(250);
  });

  it("shows every page without a console message, a missing picture, a truncated sample, or a line that is wider than the window", async () => {
    const { tab, messages } = await chromium.visit("about:blank");
    const faults: unknown[] = [];
    for (const page of writtenPages()) {
      await tab.goto(`${client.url}/${page}`, { waitUntil: "networkidle" });
      for (const width of [1280, 390]) {
        await tab.setViewportSize({ width, height: 800 });
        for (const colorScheme of ["light", "dark"] as const) {
          await tab.emulateMedia({ colorScheme });
          const found = await tab.evaluate(LAYOUT_FAULTS);
          if (found !== null) faults.push({ page, width, colorScheme, found });
        }
      }
    }
    expect(faults).toEqual([]);
    expect(messages).toEqual([]);
  }, 480_000);

  it("has a reference of the exports of the package, from their doc comments", async () => {
    const { tab, messages } = await chromium.visit(`${client.url}/reference/tsgi/classes/HTTPException.html`);
    expect(await tab.locator("main").innerText()).toContain("Ends the request with a status");
    expect(messages).toEqual([]);
    await tab.screenshot({ path: path.join(CACHE, "site-reference.png"), fullPage: false });
  });

  it("shows the tutorial without a console message, and does not contact another host", async () => {
    const { tab, requests, messages } = await chromium.visit(`${client.url}/tutorial.html`);
    expect(messages).toEqual([]);
    expect(requests.filter((url) => !url.startsWith(client.url) && !/^(?:blob|data):/.test(url))).toEqual([]);
    expect(await tab.title()).toBe("Tutorial | tsgi");
    expect(await tab.locator("main pre").allInnerTexts()).not.toContain(expect.stringContaining("```"));
    await tab.screenshot({ path: path.join(CACHE, "site-tutorial.png"), fullPage: false });
  });

  it("finds what people look for among the first three results", async () => {
    const { tab, messages } = await chromium.visit(`${client.url}/tutorial.html`);
    await tab.locator(".DocSearch-Button").first().click();
    const input = tab.locator(".VPLocalSearchBox input");
    const results = "[...document.querySelectorAll('.VPLocalSearchBox a.result')].map((result) => result.pathname)";
    const missed: unknown[] = [];
    for (const [query, page] of QUERIES) {
      await input.fill("");
      await tab.locator(".VPLocalSearchBox:not(:has(.result))").waitFor();
      await input.fill(query);
      await tab.locator(".VPLocalSearchBox .result").first().waitFor();
      const found = ((await tab.evaluate(results)) as string[]).slice(0, 3);
      if (!found.includes(`/${page}.html`)) missed.push({ query, page, found });
    }
    expect(missed).toEqual([]);
    expect(messages).toEqual([]);
    await tab.screenshot({ path: path.join(CACHE, "site-search.png"), fullPage: false });
  });

  it("has each page as Markdown, and a list of all of them for programs", () => {
    const read = (name: string) => readFileSync(path.join(SITE, name), "utf8");
    const list = read("llms.txt");
    const written = pagesOf().filter((name) => !name.startsWith("reference/") && name !== "index.html");
    expect(written.filter((name) => !list.includes(`](${name.replace(/html$/, "md")})`))).toEqual([]);
    expect(pagesOf().filter((name) => !/^# /m.test(read(name.replace(/html$/, "md"))))).toEqual([]);
    expect(filesOf(SITE, ".md").filter((name) => read(name).includes("<!-- search"))).toEqual([]);
    expect(
      findBrokenLinks(
        filesOf(SITE, ".md")
          .filter((name) => !name.startsWith("reference/"))
          .map((name) => path.relative(REPOSITORY, path.join(SITE, name))),
      ).filter((link) => !/: (?:\.\.\/)*(?:site|load-tests|sample-auth-app)|README/.test(link)),
    ).toEqual([]);
  });
});
