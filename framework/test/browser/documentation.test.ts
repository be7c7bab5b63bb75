import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { App } from "../../core/src/app/app.js";
import { consoleLogger } from "../../core/src/common/logger.js";
import { t } from "../../core/src/schema/schema.js";
import { TestClient } from "../../core/src/platforms/testing/index.js";
import { createKitchenSink } from "../../core/test/openapi/_kitchen-sink.js";
import { CACHE, Chromium, WITHOUT_BROWSER } from "./_chromium.js";

const withBrowser = WITHOUT_BROWSER === null ? describe : describe.skip;

/** Addresses of other hosts. */
const elsewhere = (requests: readonly string[], origin: string) =>
  requests.filter((url) => !url.startsWith(origin) && !/^(?:blob|data):/.test(url));

/** Scalar writes its version and how long it took, and remarks on schemas that have no `type`. */
const REMARKS = /^@scalar\/|^\w+: \d+ ms$|^document validation errors|^\[Object/;

withBrowser(`the pages in Chromium${WITHOUT_BROWSER === null ? "" : ` (${WITHOUT_BROWSER})`}`, () => {
  let chromium: Chromium;
  let client: TestClient;

  beforeAll(async () => {
    const outer = new App({ title: "Outer" });
    outer.get("/items/{item_id}", { params: { item_id: t.Integer() } }, async ({ item_id }) => ({
      doubled: 2 * item_id,
    }));
    outer.mount("/kitchen", createKitchenSink());
    for (const version of ["3.0", "3.1", "3.2"] as const) outer.mount(`/${version}`, createKitchenSink(version));
    client = await TestClient.open(outer);
    chromium = await Chromium.launch();
  });

  afterAll(async () => {
    await chromium?.close();
    await client?.close();
  });

  it("Swagger UI lists every route, without a message and without another host", async () => {
    const { tab, requests, messages } = await chromium.visit(`${client.url}/kitchen/docs`);
    expect(messages).toEqual([]);
    expect(elsewhere(requests, client.url)).toEqual([]);
    expect(await tab.title()).toBe("Kitchen sink - Swagger UI");
    const operations = createKitchenSink().openapi().paths;
    const paths = await tab.locator(".opblock-summary [data-path]").allInnerTexts();
    expect(new Set(paths.map((text) => text.replaceAll("\u200b", "")))).toEqual(new Set(Object.keys(operations)));
    expect(paths).toHaveLength(Object.values(operations).flatMap((item) => Object.keys(item)).length);
    await tab.screenshot({ path: path.join(CACHE, "docs.png"), fullPage: true });
  });

  it("Swagger UI tries a route out", async () => {
    const { tab, messages } = await chromium.visit(`${client.url}/docs`);
    await tab.locator(".opblock-summary-control").first().click();
    await tab.locator(".try-out__btn").click();
    await tab.locator("tr[data-param-name=item_id] input").fill("21");
    await tab.locator("button.execute").click();
    const answer = tab.locator(".live-responses-table .response .microlight").first();
    await answer.waitFor();
    expect(await answer.innerText()).toMatch(/"doubled": 42/);
    expect(messages).toEqual([]);
  });

  it("ReDoc lists every operation, without a message and without another host", async () => {
    const { tab, requests, messages } = await chromium.visit(`${client.url}/kitchen/redoc`);
    expect(messages).toEqual([]);
    expect(elsewhere(requests, client.url)).toEqual([]);
    expect(await tab.title()).toBe("Kitchen sink - ReDoc");
    // ReDoc knows no TRACE. A deprecated operation and a webhook have that word in their headings.
    const { paths, "x-webhooks": webhooks } = createKitchenSink().openapi();
    const shown = Object.values({ ...paths, ...webhooks }).flatMap(({ trace: _trace, ...item }) => Object.values(item));
    const headings = (await tab.locator("h2").allInnerTexts()).map((text) =>
      text.replace(/Deprecated|Webhook/, "").trim(),
    );
    expect(headings).toEqual(expect.arrayContaining(shown.map(({ summary }) => summary)));
    expect(headings).toHaveLength(shown.length + ["users", "pets", "security", "zod", "valibot", "arktype"].length);
    await tab.screenshot({ path: path.join(CACHE, "redoc.png"), fullPage: true });
  });

  it.each(
    ["3.0", "3.1", "3.2"].flatMap((version) =>
      [
        ["docs", ".opblock-summary-description"],
        ["redoc", "h2"],
        ["scalar", "h2"],
      ].map(([page = "", selector = ""]) => ({ version, page, selector })),
    ),
  )(
    "/$page shows OpenAPI $version with its title and routes, without a message and without another host",
    async ({ version, page, selector }) => {
      const { tab, requests, messages } = await chromium.visit(`${client.url}/${version}/${page}`);
      await tab.locator(selector).first().waitFor();
      expect(messages.filter((message) => !REMARKS.test(message))).toEqual([]);
      expect(elsewhere(requests, client.url)).toEqual([]);
      const text = await tab.locator("body").innerText();
      expect(text).toMatch(/Kitchen sink/);
      expect(text).toMatch(/List users/);
      await tab.screenshot({ path: path.join(CACHE, `${page}-${version}.png`), fullPage: page !== "scalar" });
    },
  );

  it.each(["/docs", "/redoc", "/scalar"])("%s runs no script in a title or a description", async (page) => {
    const hostile = `</title><img src=x onerror="alert(1)"><script>alert(2)</script>`;
    const app = new App({
      scalarUrl: "/scalar",
      title: hostile,
      description: hostile,
      tags: [{ name: hostile, description: hostile }],
    });
    app.get("/", { summary: hostile, description: hostile, tags: [hostile] }, async () => null);
    await using hostileClient = await TestClient.open(app);
    const { tab } = await chromium.visit(`${hostileClient.url}${page}`);
    expect(await tab.title()).toMatch(/^<\/title><img src=x onerror="alert\(1\)"><script>alert\(2\)<\/script> - /);
  });

  it.each([
    ["/docs", ".opblock-summary-control"],
    ["/redoc", "h2"],
    ["/scalar", "h2"],
  ])("%s does not navigate because of a description", async (page, shown) => {
    const asked: string[] = [];
    const hostile = new App({ logger: { ...consoleLogger, error: () => {} } });
    hostile.addMiddleware((next) => (scope, ...rest) => {
      if (scope.type === "http") asked.push(scope.path);
      return next(scope, ...rest);
    });
    const markup = [
      `<meta http-equiv="refresh" content="0;url=/elsewhere">`,
      `<p><meta http-equiv=refresh content="0;url=/elsewhere"></p>`,
      `<iframe src="/elsewhere"></iframe><object data="/elsewhere"></object><embed src="/elsewhere">`,
      `<base href="/elsewhere/"><link rel=stylesheet href="/elsewhere">`,
      `<svg><meta http-equiv="refresh" content="0;url=/elsewhere"></svg>`,
    ].join("\n\n");
    hostile.get("/shown", { summary: "Shown", description: markup }, async () => null);
    const app = new App({ scalarUrl: "/scalar", description: markup, tags: [{ name: "a", description: markup }] });
    app.get("/shown", { summary: "Shown", description: markup, tags: ["a"] }, async () => null);
    hostile.mount("/inner", app);
    await using hostileClient = await TestClient.open(hostile);
    const { tab } = await chromium.visit(`${hostileClient.url}/inner${page}`);
    await tab.locator(shown).first().waitFor();
    await tab.evaluate("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)))");
    expect(await tab.evaluate("location.href")).toBe(`${hostileClient.url}/inner${page}`);
    expect(asked).not.toContain("/elsewhere");
  });

  it.each(["/docs", "/redoc", "/scalar"])("%s explains why it lists no routes", async (page) => {
    await using closed = await TestClient.open(new App({ openapiUrl: null, scalarUrl: "/scalar" }));
    const { tab, messages } = await chromium.visit(`${closed.url}${page}`);
    expect(await tab.locator("body").innerText()).toMatch(/does not publish its OpenAPI document/);
    expect(messages).toEqual([]);
  });
});
