import { performance } from "node:perf_hooks";
import { afterEach, describe, expect, it, jest } from "@jest/globals";
import { App, type ShedOptions } from "../../src/index.js";
import { TestClient, WebSocketRefusedError } from "../../src/platforms/testing/index.js";
import { Wire, served } from "../platforms/node/_http.js";
import { call } from "../../../test/support/call.js";
import { KeptLog } from "../../../test/support/kept-log.js";

const LIMIT_MS = 40;

/** Keeps the event loop of this process busy for three times the limit. */
function block(): void {
  const until = performance.now() + 3 * LIMIT_MS;
  while (performance.now() < until);
}

function create(shed: Partial<ShedOptions> = {}) {
  const logger = new KeptLog();
  const app = new App({ logger, docsUrl: null, redocUrl: null, shed: { eventLoopDelayMs: LIMIT_MS, ...shed } });
  app.get("/", async () => "ok");
  app.get("/live", async () => "live");
  app.get("/block", async () => {
    block();
    return "blocked";
  });
  app.websocket("/ws", async ({ ws }) => ws.accept());
  return { app, logger };
}

/** A request in memory: no turn of the event loop, and so no timer, is between it and the code before it. */
const get = (app: App, path = "/") => app.fetch(new Request(`http://localhost${path}`));

/** Starts an App, until its event loop is not late. */
async function start(app: App): Promise<AsyncDisposable> {
  await recover(app);
  return { [Symbol.asyncDispose]: () => app.fetch.close() };
}

async function recover(app: App): Promise<void> {
  while ((await get(app)).status !== 200) await new Promise(setImmediate);
}

describe("new App({ shed })", () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it("responds with 503 and Retry-After while the event loop is late, and serves again when it has caught up", async () => {
    const { app } = create();
    await using _ = await start(app);
    block();
    const response = await get(app);
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await response.json()).toEqual({ detail: "The server is overloaded" });
    await recover(app);
  });

  it("serves every request while the event loop is late by less than the limit", async () => {
    const { app, logger } = create({ eventLoopDelayMs: 600_000 });
    await using _ = await start(app);
    block();
    expect((await get(app)).status).toBe(200);
    expect(logger.lines).toEqual([]);
  });

  it("sends the Retry-After of its option, and serves the paths that are exempt", async () => {
    const { app } = create({ retryAfterSeconds: 30, exempt: ["/live"] });
    await using _ = await start(app);
    block();
    expect((await get(app, "/live")).status).toBe(200);
    expect((await get(app)).headers.get("retry-after")).toBe("30");
  });

  it.each([
    ["in another spelling", "/live", ["/live/"], ""],
    ["below the prefix of its mount", "/sub/live", ["/live"], "/sub"],
  ])("serves an exempt path %s", async (_where, path, exempt, prefix) => {
    const { app } = create({ exempt });
    const outer = new App({ logger: new KeptLog() });
    outer.get("/", async () => "ok");
    outer.mount("/sub", app);
    const serving = prefix === "" ? app : outer;
    await using _ = await start(serving);
    block();
    expect((await get(serving, path)).status).toBe(200);
    expect((await get(serving, `${prefix}/block`)).status).toBe(503);
  });

  it("rejects before the middleware of the App, and under its instrumentation", async () => {
    const statuses: number[] = [];
    const seen: string[] = [];
    const app = new App({
      logger: new KeptLog(),
      shed: { eventLoopDelayMs: LIMIT_MS },
      instrumentation: { start: () => ({ response: (status) => void statuses.push(status) }) },
    });
    app.get("/", async () => "ok");
    app.addMiddleware((inner) => (scope, receive, send) => {
      if (scope.type === "http") seen.push(scope.path);
      return inner(scope, receive, send);
    });
    await using _ = await start(app);
    seen.length = 0;
    block();
    expect((await get(app)).status).toBe(503);
    expect([statuses.at(-1), seen]).toEqual([503, []]);
  });

  it("rejects handshakes of WebSockets with 503", async () => {
    const { app } = create();
    await using client = await TestClient.open(app);
    block();
    const refused = (await client.websocket("/ws").catch((error: unknown) => error)) as WebSocketRefusedError;
    expect(refused).toBeInstanceOf(WebSocketRefusedError);
    expect(refused.statusCode).toBe(503);
  });

  it("warns once, however many requests it rejects", async () => {
    const { app, logger } = create();
    await using _ = await start(app);
    block();
    for (let count = 0; count < 3; count++) expect((await get(app)).status).toBe(503);
    expect(logger.lines).toEqual([
      expect.stringMatching(/^warn Requests get 503: the event loop is \d+ ms late, and `shed` allows 40\./),
    ]);
  });

  it("rejects the requests that have waited for the event loop, on every connection", async () => {
    const { app } = create({ exempt: ["/live"] });
    await using server = await served(app);
    const wires = Array.from({ length: 4 }, () => new Wire(server.port));
    try {
      for (const wire of wires) {
        wire.write("GET /live HTTP/1.1\r\nHost: a\r\n\r\n");
        await wire.until(/(?:live"|overloaded"})$/); // either, on a busy machine: now the server has the connection
        wire.received = "";
      }
      for (const wire of wires) wire.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
      block();
      for (const wire of wires) expect(await wire.until(/overloaded"}$/)).toMatch(/^HTTP\/1\.1 503 /);
    } finally {
      for (const wire of wires) await wire[Symbol.asyncDispose]();
    }
  });

  it("measures from startup until shutdown, even if two servers start the App", async () => {
    const { app } = create();
    await using first = await served(app);
    await using _ = await start(app);
    await first.close();
    block();
    expect((await get(app)).status).toBe(503);
    await app.fetch.close();
    block();
    expect(await call(app, "GET", "/")).toMatchObject({ status: 200 });
  });

  it("rejects an option that cannot work", () => {
    const code = (shed: object) => {
      try {
        return new App({ shed: shed as ShedOptions });
      } catch (error) {
        return (error as { code?: string }).code;
      }
    };
    expect(code({})).toBe("TSGI_INVALID_OPTION");
    expect(code({ eventLoopDelayMs: 0 })).toBe("TSGI_INVALID_OPTION");
    expect(code({ eventLoopDelayMs: 50, retryAfterSeconds: -1 })).toBe("TSGI_INVALID_OPTION");
    expect(code({ eventLoopDelayMs: 50, exempt: "/live" })).toBe("TSGI_INVALID_OPTION");
    expect(code({ eventLoopDelay: 50 })).toBe("TSGI_UNKNOWN_OPTION");
  });

  it("is an error on a platform that cannot measure the event loop", () => {
    jest.spyOn(process, "getBuiltinModule").mockReturnValue(undefined);
    expect(() => create()).toThrow(
      expect.objectContaining({ code: "TSGI_MISSING_PLATFORM_MODULE", message: expect.stringContaining("shed") }),
    );
  });
});
