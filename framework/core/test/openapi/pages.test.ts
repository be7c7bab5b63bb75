import { describe, expect, it } from "@jest/globals";
import type { AppOptions } from "../../src/app/application.js";
import { App } from "../../src/app/app.js";
import { ConfigurationError } from "../../src/common/exceptions.js";
import { Depends } from "../../src/parameters/depends.js";
import { Request } from "../../src/http/request.js";
import { OAuth2PasswordBearer } from "../../src/parameters/security/oauth2.js";
import { TestClient } from "../../src/platforms/testing/index.js";

function createApp(options: AppOptions = {}): App {
  const app = new App({ scalarUrl: "/scalar", ...options });
  app.get("/items", async () => []);
  return app;
}

function linksOf(html: string): string[] {
  return [...html.matchAll(/(?:src|href|data-url)="([^"]+)"/g)].map((match) => match[1] as string);
}

describe("the document's address", () => {
  it("responds with the document as JSON", async () => {
    const app = createApp({ title: "Shop", version: "2.0.0" });
    await using client = await TestClient.open(app);
    const response = await client.get("/openapi.json").expect(200).expect("content-type", "application/json");
    expect(response.body).toEqual(app.openapi());
    expect(response.body.info).toEqual({ title: "Shop", version: "2.0.0" });
  });

  it("does not send the document again to a client that has it", async () => {
    await using client = await TestClient.open(createApp());
    const { headers } = await client.get("/openapi.json").expect(200).expect("cache-control", "no-cache");
    const etag = String(headers["etag"]);
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    for (const tag of [etag, `W/${etag}`, `"another", ${etag}`, "*"]) {
      const answer = await client.get("/openapi.json").set("if-none-match", tag).expect(304).expect("etag", etag);
      expect([answer.text, answer.headers["content-type"]]).toEqual(["", undefined]);
    }
    await client.get("/openapi.json").set("if-none-match", '"another"').expect(200).expect("etag", etag);
    await client.head("/openapi.json").set("if-none-match", etag).expect(304);
  });

  it("has a different ETag for another document, and for one below another root_path", async () => {
    const tags = new Set<unknown>();
    const inner = createApp();
    const outer = createApp({ title: "Another" });
    outer.mount("/v1", inner);
    outer.mount("/v2", inner);
    await using client = await TestClient.open(outer);
    for (const path of ["/openapi.json", "/v1/openapi.json", "/v2/openapi.json", "/v1/openapi.json"]) {
      tags.add((await client.get(path).expect(200)).headers["etag"]);
    }
    expect(tags.size).toBe(3);
  });

  it("is configurable with openapiUrl", async () => {
    await using client = await TestClient.open(createApp({ openapiUrl: "/v1/schema.json" }));
    await client.get("/v1/schema.json").expect(200);
    await client.get("/openapi.json").expect(404);
    const page = await client.get("/docs").expect(200);
    expect(page.text).toContain('data-url="./v1/schema.json"');
  });

  it("responds with 404 if openapiUrl is null, and the pages explain why they list no routes", async () => {
    await using client = await TestClient.open(createApp({ openapiUrl: null }));
    await client.get("/openapi.json").expect(404);
    const page = await client.get("/docs").expect(200);
    expect(page.text).toContain("openapiUrl is null");
    expect(page.text).not.toContain("<script");
  });
});

describe.each([
  ["Swagger UI", "/docs", "docsUrl", "swagger-ui-bundle.js"],
  ["ReDoc", "/redoc", "redocUrl", "redoc.standalone.js"],
  ["Scalar", "/scalar", "scalarUrl", "standalone.js"],
] as const)("%s", (name, path, option, script) => {
  it("is a page whose files are all served by the application itself", async () => {
    await using client = await TestClient.open(createApp());
    const page = await client.get(path).expect(200).expect("content-type", "text/html; charset=utf-8");
    const links = linksOf(page.text).filter((link) => !link.startsWith("data:"));
    expect(links).toContain(`.${path}/${script}`);
    for (const link of links) await client.get(new URL(link, `http://localhost${path}`).pathname).expect(200);
    expect(page.text).not.toMatch(/https?:/);
  });

  it(`is 404 when ${option} is null`, async () => {
    await using client = await TestClient.open(createApp({ [option]: null }));
    await client.get(path).expect(404);
    await client.get(`${path}/${script}`).expect(404);
    await client.get("/openapi.json").expect(200);
  });

  it("moves, with its files, to the path of its option", async () => {
    await using client = await TestClient.open(createApp({ [option]: "/a/b c/" }));
    const page = await client.get("/a/b%20c").expect(200);
    expect(linksOf(page.text)).toContain(`../a/b%20c/${script}`);
    await client.get(`/a/b%20c/${script}`).expect(200);
    await client.get(path).expect(404);
  });

  it("escapes the title", async () => {
    await using client = await TestClient.open(createApp({ title: `</title><script>alert("1")</script>'&` }));
    const page = await client.get(path).expect(200);
    expect(page.text).toContain(
      `<title>&lt;/title&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp; - ${name}</title>`,
    );
  });

  it("allows no script and no other host", async () => {
    await using client = await TestClient.open(createApp());
    const { headers, text } = await client.get(path).expect(200);
    expect(headers["content-security-policy"]).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    const policy = String(headers["content-security-policy"]);
    expect(policy.replace("style-src 'self' 'unsafe-inline'", name === "Scalar" ? "" : "$&")).not.toMatch(
      /unsafe|https?:/,
    );
    expect(text).not.toMatch(/<script(?![^>]* src=)|<style| style=| on[a-z]+=/);
  });

  it("may reach the servers that the application names", async () => {
    const region = { default: "eu", enum: ["eu", "us"] };
    const servers = [
      { url: "https://api.example.com/v1" },
      { url: "/v2" },
      { url: "https://{region}.example.com", variables: { region } },
      { url: "https://{unknown}.example.com" },
    ];
    await using client = await TestClient.open(createApp({ servers }));
    const { headers } = await client.get(path).expect(200);
    expect(headers["content-security-policy"]).toContain(
      "connect-src 'self' https://api.example.com https://eu.example.com https://us.example.com;",
    );
  });
});

describe("Scalar", () => {
  it("is not served by default", async () => {
    await using client = await TestClient.open(new App());
    await client.get("/scalar").expect(404);
  });
});

describe("ReDoc's bundle", () => {
  it("names no image of another host", async () => {
    await using client = await TestClient.open(createApp());
    const { text } = await client.get("/redoc/redoc.standalone.js").expect(200);
    expect(text).toContain("redocly logo");
    expect(text).not.toMatch(/src:"https?:/);
  });
});

describe("the files of the pages", () => {
  it("are kept by the browser for a day, and not sent again to one that has them", async () => {
    await using client = await TestClient.open(createApp());
    const { headers } = await client
      .get("/docs/swagger-ui.css")
      .expect(200)
      .expect("content-type", /^text\/css/);
    expect(headers["cache-control"]).toBe("public, max-age=86400");
    await client.get("/docs/swagger-ui.css").set("if-none-match", `W/${headers["etag"]}`).expect(304);
    await client.get("/docs/swagger-ui.css").set("if-none-match", '"another"').expect(200);
  });

  it("respond to HEAD with the same headers, and to other methods with 405", async () => {
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
    ["redocUrl", "/a?b"],
    ["docsUrl", "/redoc/"],
    ["scalarUrl", "/docs"],
    ["scalarUrl", "scalar"],
  ])("reject %s: %j", (option, value) => {
    expect(() => new App({ [option]: value })).toThrow(ConfigurationError);
  });
});

describe("below a prefix", () => {
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

  it("the document of a mounted App contains its mount path", async () => {
    const app = createApp();
    app.mount("/v1", createApp());
    await using client = await TestClient.open(app);
    const inner = await client.get("/v1/openapi.json").expect(200);
    expect(inner.body.servers).toEqual([{ url: "/v1" }]);
    const outer = await client.get("/openapi.json").expect(200);
    expect(outer.body.servers).toEqual([{ url: "/" }]);
  });

  it("the document of an App that is mounted twice contains the path each time", async () => {
    const inner = createApp();
    const app = new App();
    app.mount("/v1", inner);
    app.mount("/v2", inner);
    await using client = await TestClient.open(app);
    for (const prefix of ["/v1", "/v2", "/v1"]) {
      const { body } = await client.get(`${prefix}/openapi.json`).expect(200);
      expect(body.servers).toEqual([{ url: prefix }]);
    }
  });

  it("the document contains the root_path of a proxy, before the application's servers", async () => {
    const servers = [{ url: "https://api.example.com" }];
    const app = createApp({ servers });
    const outer = new App();
    outer.mount("/a b", app);
    await using client = await TestClient.open(outer);
    const response = await client.get("/a%20b/openapi.json").expect(200);
    expect(response.body.servers).toEqual([{ url: "/a%20b" }, ...servers]);
    expect(app.openapi().servers).toEqual(servers);
  });

  it.each([
    ["/auth/token", "/v1/auth/token"],
    ["auth/token", "/v1/auth/token"],
    ["https://login.example.com/token", "https://login.example.com/token"],
    ["//login.example.com/token", "//login.example.com/token"],
  ])("a tokenUrl of %s is %s, so that Authorize finds it", async (tokenUrl, placed) => {
    const app = createApp({ dependencies: [Depends(new OAuth2PasswordBearer({ tokenUrl, refreshUrl: tokenUrl }))] });
    app.get("/guarded", async () => null);
    const outer = new App();
    outer.mount("/v1", app);
    await using client = await TestClient.open(outer);
    const { body } = await client.get("/v1/openapi.json").expect(200);
    const flows = (url: string) => ({
      OAuth2PasswordBearer: { type: "oauth2", flows: { password: { tokenUrl: url, refreshUrl: url, scopes: {} } } },
    });
    expect(body.components.securitySchemes).toEqual(flows(placed));
    expect(app.openapi().components?.securitySchemes).toEqual(flows(tokenUrl));
  });

  it("a proxy that removes a prefix sets root_path, and all routes are found", async () => {
    const app = createApp();
    app.get(
      "/me",
      { dependencies: [Depends(new OAuth2PasswordBearer({ tokenUrl: "/auth/token" }))] },
      async () => null,
    );
    await using client = await TestClient.open((scope, receive, send) =>
      app(scope.type === "lifespan" ? scope : { ...scope, root_path: "/api" }, receive, send),
    );
    const { body } = await client.get("/openapi.json").expect(200);
    expect(body.servers).toEqual([{ url: "/api" }]);
    expect(body.components.securitySchemes.OAuth2PasswordBearer.flows.password.tokenUrl).toBe("/api/auth/token");
    const page = await client.get("/docs").expect(200);
    // The browser is at /api/docs, and requests the paths that the proxy forwards without /api.
    const asked = linksOf(page.text).map((link) => new URL(link, "http://localhost/api/docs").pathname);
    for (const path of asked) {
      expect(path).toMatch(/^\/api\//);
      await client.get(path.replace("/api", "")).expect(200);
    }
  });

  it("the policy lets Authorize reach a tokenUrl elsewhere", async () => {
    const scheme = new OAuth2PasswordBearer({ tokenUrl: "https://login.example.com/token" });
    await using client = await TestClient.open(createApp({ dependencies: [Depends(scheme)] }));
    const { headers } = await client.get("/docs").expect(200);
    expect(headers["content-security-policy"]).toMatch(/connect-src 'self' https:\/\/login\.example\.com;/);
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
