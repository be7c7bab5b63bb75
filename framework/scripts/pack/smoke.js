/**
 * A program for each package, as a user would begin with it: it prints `ok`, or ends with an error. `packages` are
 * installed next to it: the packages that it asks its users to install.
 */
export const SMOKE = {
  tsgi: {
    program: `
      import { App, t } from "tsgi";
      import { serve } from "tsgi/node";
      const app = new App();
      app.get("/items/{id}", { params: { id: t.Integer() } }, async ({ id }) => ({ id }));
      const server = await serve(app, { port: 0, logger: { debug() {}, info() {}, warn: console.error, error: console.error } });
      const [item, page, file] = await Promise.all(["/items/1", "/docs", "/docs/swagger-ui.css"].map((path) => fetch(server.url + path)));
      if ((await item.json()).id !== 1 || !page.ok || !file.ok) throw new Error("unexpected responses");
      await server.close();`,
  },
  "@tsgi/api-keys": {
    program: `
      import { App, Depends } from "tsgi";
      import { ApiKeys, memoryKeys } from "@tsgi/api-keys";
      const keys = new ApiKeys({ store: memoryKeys() });
      const app = new App();
      app.get("/me", { params: { key: Depends(keys.scheme) } }, async ({ key }) => key.owner);
      const { key } = await keys.create({ owner: "ada" });
      const headers = { authorization: "Bearer " + key };
      const response = await app.fetch(new Request("http://localhost/me", { headers }));
      if ((await response.json()) !== "ada") throw new Error("unexpected owner");`,
  },
  "@tsgi/cli": {
    program: `
      import { execFileSync } from "node:child_process";
      import { writeFileSync } from "node:fs";
      writeFileSync("app.js", 'import { App } from "tsgi"; export const app = new App(); app.get("/", async () => 1);');
      const bin = process.platform === "win32" ? "node_modules/.bin/tsgi.cmd" : "node_modules/.bin/tsgi";
      if (!execFileSync(bin, ["routes", "app.js"]).toString().includes("GET")) throw new Error("no route is listed");`,
  },
  "@tsgi/client": {
    program: `
      import { App } from "tsgi";
      import { createClient } from "@tsgi/client";
      const app = new App();
      app.get("/hello", async () => "world");
      const { data } = await createClient({ fetch: app.fetch }).GET("/hello");
      if (data !== "world") throw new Error("unexpected data");`,
  },
  "@tsgi/conformance": {
    program: `
      import { App } from "tsgi";
      import { checkApplication } from "@tsgi/conformance";
      const app = new App();
      app.get("/", async () => 1);
      await checkApplication(app);`,
  },
  "@tsgi/openapi-tools": {
    program: `
      import { App } from "tsgi";
      import { buildAsyncAPI, compareDocuments } from "@tsgi/openapi-tools";
      const app = new App();
      if (compareDocuments(app.openapi(), app.openapi()).length > 0) throw new Error("a document differs from itself");
      if (buildAsyncAPI(app).asyncapi !== "3.0.0") throw new Error("no document");`,
  },
  "@tsgi/docs-ui": {
    program: `
      import { existsSync } from "node:fs";
      import { createRequire } from "node:module";
      const manifest = createRequire(import.meta.url).resolve("@tsgi/docs-ui/package.json");
      if (!existsSync(new URL("dist/redoc/redoc.standalone.js", "file://" + manifest))) throw new Error("a file is missing");`,
  },
  "@tsgi/lambda": {
    program: `
      import { App } from "tsgi";
      import { toLambda } from "@tsgi/lambda";
      const app = new App();
      app.get("/hello", async () => "world");
      const event = { version: "2.0", rawPath: "/hello", requestContext: { http: { method: "GET" } } };
      const { statusCode, body } = await toLambda(app)(event);
      if (statusCode !== 200 || body !== '"world"') throw new Error("unexpected result");`,
  },
  "@tsgi/login": {
    packages: ["openid-client", "jose"],
    program: `
      import { App, Depends } from "tsgi";
      import { memoryStore, sessions } from "tsgi/middleware";
      import { oidcLogin } from "@tsgi/login";
      const issuer = "https://login.example.com";
      const login = oidcLogin({ issuer, clientId: "shop", baseURL: "https://shop.example.com" });
      const app = new App({ middleware: [sessions({ store: memoryStore() })] });
      app.includeRouter(login.router);
      app.get("/me", { params: { user: Depends(login.user) } }, async ({ user }) => user.sub);
      if ((await app.fetch(new Request("http://localhost/me"))).status !== 401) throw new Error("no login is required");`,
  },
  "@tsgi/metrics": {
    packages: ["prom-client"],
    program: `
      import { App } from "tsgi";
      import { prometheus } from "@tsgi/metrics";
      const metrics = prometheus();
      const app = new App({ instrumentation: metrics });
      app.includeRouter(metrics.router("/metrics"));
      if (!(await (await app.fetch(new Request("http://localhost/metrics"))).text()).includes("http_")) throw new Error("no figures");`,
  },
  "@tsgi/otel": {
    packages: ["@opentelemetry/api"],
    program: `
      import { App } from "tsgi";
      import { openTelemetry } from "@tsgi/otel";
      const app = new App({ instrumentation: openTelemetry() });
      if ((await app.fetch(new Request("http://localhost/"))).status !== 404) throw new Error("unexpected response");`,
  },
  "@tsgi/mcp": {
    packages: ["@modelcontextprotocol/server"],
    program: `
      import { App } from "tsgi";
      import { mcp } from "@tsgi/mcp";
      const app = new App();
      app.includeRouter(mcp(app));
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
      const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
      const response = await app.fetch(new Request("http://localhost/mcp", { method: "POST", body, headers }));
      if (response.status >= 500) throw new Error(await response.text());`,
  },
  "@tsgi/oauth": {
    packages: ["jose"],
    program: `
      import { AccessTokens } from "@tsgi/oauth";
      const tokens = new AccessTokens({ secret: "x".repeat(32), expiresInSeconds: 60 });
      const claims = await tokens.verify(await tokens.sign({ sub: "ada" }));
      if (claims?.sub !== "ada") throw new Error("no claims");`,
  },
  "@tsgi/prisma": {
    program: `
      import { isUniqueViolation } from "@tsgi/prisma";
      if (isUniqueViolation(new Error("x"))) throw new Error("unexpected");`,
  },
  "@tsgi/redis": {
    packages: ["ioredis"],
    program: `
      import { redisStore } from "@tsgi/redis";
      if (typeof redisStore !== "function") throw new Error("unexpected");`,
  },
  "@tsgi/jobs": {
    packages: ["pg-boss"],
    program: `
      import { Jobs } from "@tsgi/jobs";
      const jobs = new Jobs({ inline: true });
      let done = false;
      await jobs.define("job", {}, async () => (done = true)).enqueue();
      await jobs.drain();
      if (!done) throw new Error("the job has not run");`,
  },
  "@tsgi/transactions": {
    program: `
      import { Depends } from "tsgi";
      import { createTransactionOf } from "@tsgi/transactions";
      createTransactionOf(async () => {})(Depends(async () => ({ connect: async () => null })), { role: "tenant" });`,
  },
  "@tsgi/webhooks": {
    packages: ["@tsgi/jobs"],
    program: `
      import { verifyWebhook } from "@tsgi/webhooks";
      try { verifyWebhook({ secret: "" }); throw new Error("it needs no secret"); }
      catch (error) { if (error.code !== "TSGI_INVALID_WEBHOOK_SECRET") throw error; }`,
  },
  "@tsgi/passwords": {
    program: `
      import { Passwords } from "@tsgi/passwords";
      if (typeof Passwords !== "function") throw new Error("unexpected");`,
  },
  "@tsgi/uwebsockets": {
    program: `
      import { createServer } from "@tsgi/uwebsockets";
      try { createServer(); throw new Error("it needs no library"); }
      catch (error) { if (error.code !== "TSGI_MISSING_UWEBSOCKETS") throw error; }`,
  },
};
