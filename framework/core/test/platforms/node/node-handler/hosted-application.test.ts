import { AsyncLocalStorage } from "node:async_hooks";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "@jest/globals";
import { WebSocket } from "ws";
import { App } from "../../../../src/app/app.js";
import { Deferred } from "../../../../src/common/promises.js";
import { Request } from "../../../../src/http/request.js";
import {
  type NodeHandler,
  type NodeHandlerOptions,
  ShutdownTimeoutError,
  toNodeHandler,
} from "../../../../src/node.js";
import { WebSocket as AppWebSocket } from "../../../../src/http/websocket.js";
import type { ASGIApp } from "../../../../src/protocol/asgi.js";
import { httpApp, MemoryLogger, respond } from "../_http.js";

interface Hosted extends AsyncDisposable {
  readonly handler: NodeHandler;
  readonly server: Server;
  readonly url: string;
  readonly logger: MemoryLogger;
}

async function hosted(app: ASGIApp, options: NodeHandlerOptions = {}): Promise<Hosted> {
  const logger = new MemoryLogger();
  const handler = toNodeHandler(app, { logger, ...options });
  const server = createServer(handler).on("upgrade", handler.upgrade).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async () => {
    server.closeAllConnections();
    await server[Symbol.asyncDispose]();
  };
  return { handler, server, url, logger, [Symbol.asyncDispose]: close };
}

/** The status of the response to a handshake, or the code with which the WebSocket is closed. */
function connected(url: string): Promise<number> {
  const client = new WebSocket(url.replace("http", "ws"));
  return new Promise((resolve) => {
    client.on("error", () => {});
    client.on("unexpected-response", (sent, response) => {
      sent.destroy();
      resolve(response.statusCode ?? 0);
    });
    client.on("close", resolve);
  });
}

const statusOf = async (url: string) => (await fetch(url)).status;

function createApp(events: string[] = []): App {
  const app = new App({ logger: new MemoryLogger() });
  app.onStartup(() => {
    events.push("start");
    return () => void events.push("stop");
  });
  app.get("/", { params: { request: Request } }, async ({ request }) => request.state);
  return app;
}

describe("the lifespan of an application in another server", () => {
  it("starts once, before the first request, and ends with close", async () => {
    const events: string[] = [];
    const app = createApp(events);
    app.mount("/inner", createApp(events));
    await using host = await hosted(app);
    expect(events).toEqual([]);
    await Promise.all([1, 2, 3].map(() => statusOf(host.url)));
    expect(events).toEqual(["start", "start"]);
    await host.handler.close();
    await host.handler.close();
    expect(events).toEqual(["start", "start", "stop", "stop"]);
  });

  it("starts with start(), once", async () => {
    const events: string[] = [];
    const { start } = toNodeHandler(createApp(events));
    await Promise.all([start(), start()]);
    await start();
    expect(events).toEqual(["start"]);
  });

  it("has the state of the options, and adds its own", async () => {
    const app = new App({
      logger: new MemoryLogger(),
      lifespan: async function* () {
        yield { pool: "ready" };
      },
    });
    app.get("/", { params: { request: Request } }, async ({ request }) => request.state);
    const state = { region: "eu" };
    await using host = await hosted(app, { state });
    expect(await (await fetch(host.url)).json()).toEqual({ region: "eu", pool: "ready" });
    expect(state).toEqual({ region: "eu" });
  });

  it("is not run with lifespan: off, whose state other code may fill later", async () => {
    const events: string[] = [];
    const state: Record<string, unknown> = {};
    await using host = await hosted(createApp(events), { lifespan: "off", state });
    await host.handler.start();
    state["pool"] = "ready";
    expect(await (await fetch(host.url)).json()).toEqual({ pool: "ready" });
    await host.handler.close();
    expect(events).toEqual([]);
    expect(await statusOf(host.url)).toBe(503);
  });

  it("may be missing", async () => {
    await using host = await hosted(httpApp((_scope, _receive, send) => respond(send, 200, "served")));
    await host.handler.start();
    expect(await statusOf(host.url)).toBe(200);
    await host.handler.close();
  });

  it("runs outside of the request that starts it", async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const app = new App({ logger: new MemoryLogger() });
    app.onStartup(() => void seen.push(storage.getStore()));
    app.get("/", async () => storage.getStore());
    const handler = toNodeHandler(app);
    await using server = createServer((req, res) => storage.run("request", handler, req, res)).listen(0, "127.0.0.1");
    await once(server, "listening");
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    expect([await response.json(), seen]).toEqual(["request", [undefined]]);
  });
});

describe("a start that fails", () => {
  function failing(times: number, { problemDetails = false, gate = Promise.resolve() } = {}): App {
    let tries = 0;
    const app = new App({ logger: new MemoryLogger(), problemDetails });
    app.onStartup(async () => {
      await gate;
      if (++tries <= times) throw new Error(`no database ${tries}`);
    });
    app.get("/", async () => tries);
    app.websocket("/ws", { params: { ws: AppWebSocket } }, async ({ ws }) => ws.accept());
    return app;
  }

  it("is a 503 for all waiting requests and handshakes, one line of log, and is tried again by the next request", async () => {
    const [gate, arrived] = [new Deferred<void>(), new Deferred<void>()];
    await using host = await hosted(failing(1, { gate: gate.promise }));
    let arrivals = 0;
    const count = () => void (++arrivals === 3 && arrived.resolve());
    host.server.on("request", count).on("upgrade", count);
    const waiting = [statusOf(host.url), statusOf(host.url), connected(`${host.url}/ws`)];
    await arrived.promise;
    gate.resolve();
    expect(await Promise.all(waiting)).toEqual([503, 503, 503]);
    expect(host.logger.at("error")).toHaveLength(1);
    expect(host.logger.at("error")[0]?.fields["err"]).toMatchObject({ cause: new Error("no database 1") });
    expect(await statusOf(host.url)).toBe(200);
  });

  it("is in the error format of the App", async () => {
    await using host = await hosted(failing(2, { problemDetails: true }));
    const response = await fetch(host.url);
    expect([response.status, response.headers.get("content-type")]).toEqual([503, "application/problem+json"]);
    expect(await statusOf(`${host.url}/none`)).toBe(503);
  });

  it("rejects start() with the error as its cause, and the next call tries it again", async () => {
    const { start } = toNodeHandler(failing(1));
    await expect(start()).rejects.toMatchObject({ code: "ELIFESPAN", cause: new Error("no database 1") });
    await expect(start()).resolves.toBeUndefined();
  });
});

describe("close of a handler", () => {
  it("waits for running requests, and responds to later ones with 503", async () => {
    const [started, gate] = [new Deferred<void>(), new Deferred<void>()];
    const app = createApp();
    app.get("/slow", async () => {
      started.resolve();
      await gate.promise;
      return "done";
    });
    await using host = await hosted(app);
    const slow = fetch(`${host.url}/slow`);
    await started.promise;
    const closed = host.handler.close();
    expect(await statusOf(host.url)).toBe(503);
    expect(await connected(`${host.url}/ws`)).toBe(503);
    gate.resolve();
    expect(await (await slow).json()).toBe("done");
    await closed;
    expect(await statusOf(host.url)).toBe(503);
    await expect(host.handler.start()).rejects.toThrow("The handler is closed");
  });

  it("closes WebSockets with 1012", async () => {
    const app = new App({ logger: new MemoryLogger() });
    const opened = new Deferred<void>();
    app.websocket("/ws", { params: { ws: AppWebSocket } }, async ({ ws }) => {
      await ws.accept();
      opened.resolve();
      await ws.receiveText();
    });
    await using host = await hosted(app);
    const code = connected(`${host.url}/ws`);
    await opened.promise;
    await host.handler.close();
    expect(await code).toBe(1012);
  });

  it("cuts what still runs after timeoutMs, and rejects", async () => {
    const [started, never] = [new Deferred<void>(), new Deferred<void>()];
    const events: string[] = [];
    const app = createApp(events);
    app.get("/slow", async () => {
      started.resolve();
      await never.promise;
    });
    await using host = await hosted(app);
    const slow = statusOf(`${host.url}/slow`);
    await started.promise;
    const error = await host.handler.close({ timeoutMs: 20 }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ShutdownTimeoutError);
    expect((error as ShutdownTimeoutError).running).toEqual(["GET /slow"]);
    expect([await slow, events]).toEqual([503, ["start", "stop"]]);
  });

  it("destroys the sockets of WebSockets that do not end in time", async () => {
    const opened = new Deferred<void>();
    const app = new App({ logger: new MemoryLogger() });
    app.websocket("/ws", { params: { ws: AppWebSocket } }, async ({ ws }) => {
      await ws.accept();
      opened.resolve();
      await new Promise(() => {});
    });
    await using host = await hosted(app);
    const code = connected(`${host.url}/ws`);
    await opened.promise;
    await expect(host.handler.close({ timeoutMs: 20 })).rejects.toBeInstanceOf(ShutdownTimeoutError);
    expect([1006, 1012]).toContain(await code);
  });

  it("rejects with the error of the shutdown", async () => {
    const app = createApp();
    app.onShutdown(() => Promise.reject(new Error("still connected")));
    await using host = await hosted(app);
    await host.handler.start();
    await expect(host.handler.close()).rejects.toThrow("still connected");
  });

  it("does not wait for a start that hangs, whose requests get 503", async () => {
    const starting = new Deferred<void>();
    const app = createApp();
    app.onStartup(() => {
      starting.resolve();
      return new Promise(() => {});
    });
    await using host = await hosted(app);
    const waiting = statusOf(host.url);
    const started = host.handler.start();
    await starting.promise;
    const closed = host.handler.close({ timeoutMs: 50 });
    await expect(started).rejects.toThrow("The handler is closed");
    expect(await waiting).toBe(503);
    await closed;
  });

  it("needs milliseconds", async () => {
    const { close } = toNodeHandler(createApp());
    await expect(close({ timeoutMs: -1 })).rejects.toThrow("timeoutMs should be milliseconds from 0 on");
  });
});
