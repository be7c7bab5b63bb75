import { describe, expect, it } from "@jest/globals";
import { App } from "../../src/app.js";
import type { AppOptions } from "../../src/app.js";
import { Request } from "../../src/request.js";
import { TestClient } from "../../src/testing.js";

function createApp(options: AppOptions = {}): App {
  const app = new App(options);
  app.get("/items", async () => []);
  return app;
}

describe("the document's address", () => {
  it("answers with the document as JSON", async () => {
    const app = createApp({ title: "Shop", version: "2.0.0" });
    await using client = await TestClient.open(app);
    const response = await client.get("/openapi.json").expect(200).expect("content-type", "application/json");
    expect(response.body).toEqual(app.openapi());
    expect(response.body.info).toEqual({ title: "Shop", version: "2.0.0" });
  });

  it("moves where openapiUrl says", async () => {
    await using client = await TestClient.open(createApp({ openapiUrl: "/v1/schema.json" }));
    await client.get("/v1/schema.json").expect(200);
    await client.get("/openapi.json").expect(404);
    const page = await client.get("/docs").expect(200);
    expect(page.text).toContain('data-url="./v1/schema.json"');
  });

  it("is 404 when openapiUrl is null, and the pages say why they list nothing", async () => {
    await using client = await TestClient.open(createApp({ openapiUrl: null }));
    await client.get("/openapi.json").expect(404);
    const page = await client.get("/docs").expect(200);
    expect(page.text).toContain("openapiUrl is null");
    expect(page.text).not.toContain("<script");
  });
});

describe("Swagger UI", () => {
  it("is a page whose files are all answered by the application itself", async () => {
    await using client = await TestClient.open(createApp());
    const page = await client.get("/docs").expect(200).expect("content-type", "text/html; charset=utf-8");
    const links = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] as string);
    expect(links).toHaveLength(4);
    for (const link of links) await client.get(new URL(link, "http://localhost/docs").pathname).expect(200);
    expect(page.text).not.toMatch(/https?:\/\//);
  });

  it("is 404 when docsUrl is null", async () => {
    await using client = await TestClient.open(createApp({ docsUrl: null }));
    await client.get("/docs").expect(404);
    await client.get("/docs/swagger-ui.css").expect(404);
    await client.get("/openapi.json").expect(200);
  });

  it("escapes the title", async () => {
    await using client = await TestClient.open(createApp({ title: `</title><script>alert("1")</script>'&` }));
    const page = await client.get("/docs").expect(200);
    expect(page.text).toContain(
      "&lt;/title&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp; - Swagger UI",
    );
  });

  it("allows no script that stands in the page", async () => {
    await using client = await TestClient.open(createApp());
    const { headers, text } = await client.get("/docs").expect(200);
    expect(headers["content-security-policy"]).toContain("default-src 'none'; script-src 'self';");
    expect(text).not.toMatch(/<script(?![^>]* src=)/);
  });

  it("lets the browser keep its files for a day, and says 304 to one that has them", async () => {
    await using client = await TestClient.open(createApp());
    const { headers } = await client
      .get("/docs/swagger-ui.css")
      .expect(200)
      .expect("content-type", /^text\/css/);
    expect(headers["cache-control"]).toBe("public, max-age=86400");
    await client.get("/docs/swagger-ui.css").set("if-none-match", `W/${headers["etag"]}`).expect(304);
    await client.get("/docs/swagger-ui.css").set("if-none-match", '"another"').expect(200);
  });

  it("answers HEAD with the same head, and other methods with 405", async () => {
    await using client = await TestClient.open(createApp());
    const got = await client.get("/docs").expect(200);
    const head = await client.head("/docs").expect(200);
    expect(head.headers["content-length"]).toBe(got.headers["content-length"]);
    await client.post("/docs").expect(405).expect("allow", "GET, HEAD");
  });
});

describe("the routes of the documentation", () => {
  it("are neither in app.routes nor in the document", async () => {
    const app = createApp();
    await using client = await TestClient.open(app);
    await client.get("/docs").expect(200);
    expect(app.routes.map(({ path }) => path)).toEqual(["/items"]);
    expect(Object.keys(app.openapi().paths)).toEqual(["/items"]);
  });

  it("give way to a route of the application at the same path", async () => {
    const app = createApp();
    app.get("/docs/", async () => "mine");
    await using client = await TestClient.open(app);
    await client.get("/docs").expect(200, '"mine"');
  });

  it("win over a parameter and over a mount, as any static route does", async () => {
    const app = createApp();
    app.get("/{page}", async ({ page }) => page);
    app.mount("/docs", new App());
    await using client = await TestClient.open(app);
    await client
      .get("/docs")
      .expect(200)
      .expect("content-type", /^text\/html/);
    await client.get("/about").expect(200, '"about"');
  });

  it("pass the application's middleware", async () => {
    const seen: string[] = [];
    const app = createApp({
      middleware: [
        (inner) => (scope, receive, send) => {
          if (scope.type === "http") seen.push(scope.path);
          return inner(scope, receive, send);
        },
      ],
    });
    await using client = await TestClient.open(app);
    await client.get("/openapi.json").expect(200);
    expect(seen).toEqual(["/openapi.json"]);
  });

  it.each([
    ["docsUrl", "docs"],
    ["openapiUrl", "/{name}"],
    ["docsUrl", "/"],
    ["openapiUrl", "/docs"],
  ])("refuse %s: %j", (option, value) => {
    expect(() => new App({ [option]: value })).toThrow(/openapiUrl|docsUrl/);
  });
});

describe("below a prefix", () => {
  const linksOf = (html: string) =>
    [...html.matchAll(/(?:src|href|data-url)="([^"]+)"/g)].map((match) => match[1] as string);

  it.each(["/docs", "/docs/", "//docs", "/docs//", "/v1/docs", "/v1/docs/", "/v1//docs"])(
    "the page at %s finds its files and the document",
    async (target) => {
      const app = createApp();
      app.mount("/v1", createApp());
      await using client = await TestClient.open(app);
      const page = await client.get(target).expect(200);
      const links = linksOf(page.text);
      expect(links).toHaveLength(5);
      for (const link of links) {
        await client.get(new URL(link, `http://localhost${target.replace(/^\/\//, "/.//")}`).pathname).expect(200);
      }
    },
  );

  it("the document of a mounted App says where it is mounted", async () => {
    const app = createApp();
    app.mount("/v1", createApp());
    await using client = await TestClient.open(app);
    const inner = await client.get("/v1/openapi.json").expect(200);
    expect(inner.body.servers).toEqual([{ url: "/v1" }]);
    const outer = await client.get("/openapi.json").expect(200);
    expect(outer.body.servers).toBeUndefined();
  });

  it("the document says the root_path of a proxy, before the servers that the application names", async () => {
    const servers = [{ url: "https://api.example.com" }];
    const app = createApp({ servers });
    const outer = new App();
    outer.mount("/a b", app);
    await using client = await TestClient.open(outer);
    const response = await client.get("/a%20b/openapi.json").expect(200);
    expect(response.body.servers).toEqual([{ url: "/a%20b" }, ...servers]);
    expect(app.openapi().servers).toEqual(servers);
  });
});

describe("app.openapi()", () => {
  it("is built once, and again after another route", () => {
    const app = createApp();
    const first = app.openapi();
    expect(app.openapi()).toBe(first);
    app.get("/more", { params: { request: Request } }, async () => null);
    expect(Object.keys(app.openapi().paths)).toEqual(["/items", "/more"]);
  });
});
