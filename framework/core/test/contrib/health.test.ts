import { describe, expect, it, jest } from "@jest/globals";
import { health } from "../../src/contrib/health.js";
import { App, Depends, Router, withParams } from "../../src/index.js";
import { DRAINING } from "../../src/protocol/server-context.js";
import { TestClient } from "../../src/platforms/testing/index.js";
import { Wire, served } from "../platforms/node/_http.js";
import { call } from "../../../test/support/call.js";
import { KeptLog } from "../../../test/support/kept-log.js";

function create(options: Parameters<typeof health>[0] = {}) {
  const logger = new KeptLog();
  const app = new App({ logger });
  app.includeRouter(health(options));
  return { app, logger };
}

describe("health", () => {
  it("reports that the process lives, regardless of its checks", async () => {
    const { app } = create({ checks: { database: () => false } });
    const { status, json, headers } = await call(app, "GET", "/live");
    expect({ status, json }).toEqual({ status: 200, json: { status: "ok" } });
    expect(headers["cache-control"]).toBe("no-store");
  });

  it("is ready without a check, hides its routes from the document, and prevents caching", async () => {
    const { app } = create();
    const { status, json, headers } = await call(app, "GET", "/ready");
    expect({ status, json }).toEqual({ status: 200, json: { status: "ok", checks: {} } });
    expect(headers["cache-control"]).toBe("no-store");
    expect(app.openapi().paths).toEqual({});
  });

  it.each<[what: string, check: () => unknown, result: "ok" | "failed"]>([
    ["gives nothing", () => undefined, "ok"],
    ["gives true", async () => true, "ok"],
    ["gives 0", () => 0, "ok"],
    ["gives false", () => false, "failed"],
    ["resolves to false", async () => false, "failed"],
    [
      "throws",
      () => {
        throw new Error("hunter2");
      },
      "failed",
    ],
    ["rejects", () => Promise.reject(new Error("hunter2")), "failed"],
    ["takes longer than it may", () => new Promise(() => {}), "failed"],
  ])("calls a check that %s", async (_, database, result) => {
    const { app, logger } = create({ checks: { database, queue: () => true }, timeoutMs: 20 });
    const { status, json, text } = await call(app, "GET", "/ready");
    const isReady = result === "ok";
    expect(status).toBe(isReady ? 200 : 503);
    expect(json).toEqual({ status: isReady ? "ok" : "unavailable", checks: { database: result, queue: "ok" } });
    expect(text).not.toContain("hunter2");
    expect(logger.lines.filter((line) => line.includes("The check database failed"))).toHaveLength(isReady ? 0 : 1);
  });

  it("does not call a hanging check again", async () => {
    let calls = 0;
    let settle: (() => void) | undefined;
    const check = () => {
      calls++;
      return new Promise<void>((resolve) => (settle = resolve));
    };
    const { app } = create({ checks: { check }, timeoutMs: 1 });
    for (let probe = 0; probe < 3; probe++) expect((await call(app, "GET", "/ready")).status).toBe(503);
    expect(calls).toBe(1);
    settle?.();
    await new Promise(setImmediate);
    const later = call(app, "GET", "/ready");
    await new Promise(setImmediate);
    settle?.();
    await later;
    expect(calls).toBe(2);
  });

  it("does not wait again for a check that has been late, as each wait would stay in memory", async () => {
    jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask", "setImmediate"] });
    try {
      const { app } = create({ checks: { check: () => new Promise(() => {}) } });
      const first = call(app, "GET", "/ready");
      await jest.advanceTimersByTimeAsync(2_000);
      expect((await first).status).toBe(503);
      expect(await call(app, "GET", "/ready")).toMatchObject({ status: 503, json: { checks: { check: "failed" } } });
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });

  it('calls the checks of dependencies of scope "app" once each, including those of mounted Apps', async () => {
    const { app } = create({ checks: { openQueue: () => true } });
    const asked: string[] = [];
    let isUp = true;
    async function openDatabase() {
      return { name: "shop" };
    }
    const database = Depends(openDatabase, {
      scope: "app",
      check: ({ name }) => {
        asked.push(name);
        return isUp;
      },
    });
    function openQueue() {
      return "queue";
    }
    app.get("/", { params: { db: database } }, async ({ db }) => db);
    app.get("/again", { params: { other: database } }, async ({ other }) => other);
    const mounted = new App();
    const check = (queue: string) => asked.push(queue);
    mounted.get("/", { params: { queue: Depends(openQueue, { scope: "app", check }) } }, async ({ queue }) => queue);
    mounted.includeRouter(health());
    app.mount("/mounted", mounted);
    await using client = await TestClient.open(app);
    const checks = { openQueue: "ok", openDatabase: "ok", "openQueue 2": "ok" };
    await client.get("/ready").expect(200, { status: "ok", checks });
    expect(asked).toEqual(["shop", "queue"]);
    isUp = false;
    await client.get("/ready").expect(503, { status: "unavailable", checks: { ...checks, openDatabase: "failed" } });
    await client.get("/mounted/ready").expect(503);
  });

  it("shows the check of an anonymous dependency under the name of its parameter, as its log line does", async () => {
    const { app, logger } = create();
    const settings = Depends(async () => ({ url: "" }), { scope: "app", check: () => true });
    const openDatabase = withParams({ settings }, async (given) => given.settings.url);
    const database = Depends(openDatabase, { scope: "app", check: () => false });
    app.get("/", { params: { database } }, async () => "");
    const { json } = await call(app, "GET", "/ready");
    expect(json).toEqual({ status: "unavailable", checks: { settings: "ok", database: "failed" } });
    expect(logger.lines).toEqual([expect.stringContaining("The check database failed")]);
  });

  it("starts a dependency that no lifespan has started, and reports if it cannot", async () => {
    const { app } = create();
    let isUp = false;
    async function openDatabase() {
      if (!isUp) throw new Error("no database");
      return "db";
    }
    app.get("/", { params: { db: Depends(openDatabase, { scope: "app", check: () => true }) } }, async ({ db }) => db);
    expect((await call(app, "GET", "/ready")).json).toMatchObject({ checks: { openDatabase: "failed" } });
    isUp = true;
    expect((await call(app, "GET", "/ready")).json).toMatchObject({ checks: { openDatabase: "ok" } });
  });

  it("is not ready while the server drains, and lives", async () => {
    const { app } = create();
    await using server = await served(app);
    await using wire = new Wire(server.port);
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
    await wire.write(get("/ready")).until(/200 OK[^]*\{\}\}$/);
    await using other = new Wire(server.port);
    await other.write(get("/live")).until(/"ok"\}$/);
    const closed = server.close();
    expect(await wire.write(get("/ready")).closed).toMatch(/200 OK[^]*503 [^]*"unavailable","checks":\{\}\}$/);
    expect(await other.write(get("/live")).closed).toMatch(/200 OK[^]*200 OK[^]*"ok"\}$/);
    await closed;
  });

  it("supports any server that reports its state", async () => {
    const { app } = create();
    const seen: number[] = [];
    await app(
      { type: "http", method: "GET", path: "/ready", headers: [], state: { [DRAINING]: true } } as never,
      async () => ({ type: "http.request" }),
      async (message) => void ("status" in message && seen.push(message.status)),
    );
    expect(seen).toEqual([503]);
  });

  it("works below a prefix, in a router", async () => {
    const app = new App();
    const internal = new Router({ prefix: "/internal" });
    internal.includeRouter(health(), { prefix: "/health" });
    app.includeRouter(internal);
    expect((await call(app, "GET", "/internal/health/ready")).status).toBe(200);
  });

  it.each([
    [{ checks: { database: "select 1" } }, "database"],
    [{ timeoutMs: 0 }, "timeoutMs"],
    [{ timeout: 5 }, "timeout"],
  ])("rejects %j", (options, named) => {
    expect(() => health(options as never)).toThrow(new RegExp(named));
  });
});
