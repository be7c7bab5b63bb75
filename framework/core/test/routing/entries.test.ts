import { describe, expect, it } from "@jest/globals";
import { App, Depends, HTTPException, PlainTextResponse, Router, StaticFiles } from "../../src/index.js";
import type { ASGIApp } from "../../src/protocol/asgi.js";
import type { IncludeOptions } from "../../src/routing/options.js";
import { TestClient } from "../../src/platforms/testing/index.js";

const open: ASGIApp = async (_scope, _receive, send) => new PlainTextResponse("open").send(send);

const mounting = (mounted: ASGIApp): Router => {
  const router = new Router();
  router.mount("/x", mounted);
  return router;
};

/** Includes a router and returns what includes it. */
const including = <Outer extends App | Router>(outer: Outer, inner: Router, options: IncludeOptions = {}): Outer => {
  outer.includeRouter(inner, options);
  return outer;
};

describe("mounts", () => {
  const dependencies = [Depends(async () => 1)];

  it.each<[string, (mounted: ASGIApp) => void, string]>([
    ["of their router", (mounted) => new Router({ dependencies }).mount("/x", mounted), "/x"],
    ["of includeRouter", (mounted) => new App().includeRouter(mounting(mounted), { dependencies }), "/x"],
    [
      "of includeRouter, with a prefix",
      (mounted) => new App().includeRouter(mounting(mounted), { dependencies, prefix: "/p" }),
      "/p/x",
    ],
    ["of an outer router", (mounted) => new Router({ dependencies }).includeRouter(mounting(mounted)), "/x"],
    [
      "of an includeRouter further out",
      (mounted) => including(new Router(), including(new Router(), mounting(mounted)), { dependencies }),
      "/x",
    ],
    ["of the App", (mounted) => new App({ dependencies }).mount("/x", mounted), "/x"],
    ["of the App around a router", (mounted) => new App({ dependencies }).includeRouter(mounting(mounted)), "/x"],
    [
      "of a router that is included already",
      (mounted) => {
        const router = new Router({ prefix: "/late" });
        new App().includeRouter(router, { dependencies });
        router.mount("/x", mounted);
      },
      "/late/x",
    ],
  ])("are rejected below dependencies %s, which would not reach them", (_, register, path) => {
    for (const mounted of [open, new App(), new StaticFiles(import.meta.dirname)]) {
      expect(() => register(mounted)).toThrow(expect.objectContaining({ code: "TSGI_MOUNT_UNDER_DEPENDENCIES" }));
      expect(() => register(mounted)).toThrow(`mount ${path}: dependencies do not reach`);
    }
  });

  it("are accepted next to dependencies that are empty or belong to routes", async () => {
    const app = new App({ dependencies: [] });
    app.includeRouter(mounting(open), { dependencies: [] });
    app.includeRouter(new Router({ prefix: "/guarded", dependencies }));
    await using client = await TestClient.open(app);
    await client.get("/x").expect(200);
  });
});

describe("dependencies", () => {
  const refuse = () => Promise.reject(new HTTPException(401));
  const dependencies = [Depends(refuse)];

  it.each<[string, (inner: Router) => App]>([
    ["the App", (inner) => including(new App({ dependencies }), inner)],
    ["includeRouter", (inner) => including(new App(), inner, { dependencies })],
    ["an outer router", (inner) => including(new App(), including(new Router({ dependencies }), inner))],
    ["an includeRouter further out", (inner) => including(new App(), including(new Router(), inner), { dependencies })],
  ])("of %s guard routes of each method, WebSockets, and what is added later", async (_, build) => {
    const inner = new Router({ prefix: "/in" });
    inner.get("/item", async () => "open");
    inner.post("/item", async () => "open");
    const app = build(inner);
    inner.get("/late", async () => "open");
    inner.websocket("/socket", async ({ ws }) => ws.accept());
    await using client = await TestClient.open(app);
    for (const path of ["/in/item", "/in/late"]) await client.get(path).expect(401);
    await client.head("/in/item").expect(401);
    await client.post("/in/item").expect(401);
    await expect(client.websocket("/in/socket")).rejects.toThrow("401");
  });

  it("of the App do not guard the pages of its document, which show how to log in", async () => {
    await using client = await TestClient.open(new App({ dependencies }));
    for (const path of ["/docs", "/redoc", "/openapi.json"]) await client.get(path).expect(200);
  });
});
