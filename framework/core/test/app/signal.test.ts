/** The parameter `AbortSignal`, on every driver. @module */
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import {
  App,
  compileHandler,
  ConfigurationError,
  Depends,
  ParamKind,
  Request,
  Router,
  withParams,
} from "../../src/index.js";
import { Deferred, nextTurn } from "../../src/common/promises.js";
import type { ReceiveMessage, WebSocketScope } from "../../src/protocol/asgi.js";
import { serve } from "../../src/node.js";
import { TestClient } from "../../src/platforms/testing/index.js";
import { call } from "../../../test/support/call.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import type { Driver, Endpoint } from "../protocol/_driver.js";
import { drivers } from "../protocol/_drivers.js";
import { HTTP1Client, PROBE } from "../protocol/_http1-client.js";
import { HTTP2Client } from "../protocol/_http2-client.js";
import { readWhole } from "../protocol/_stage.js";
import { opened } from "../protocol/_websocket-calls.js";

const LEFT = { name: "AbortError", message: "The client disconnected, or the server stopped" };
const LATE = { name: "TimeoutError", message: "The time of the handler is up" };

const nameAndMessage = ({ name, message }: Error) => ({ name, message });

/** Rejects with the reason of a signal once it aborts, as work does that accepts one. */
async function untilAborted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, "abort");
  throw signal.reason;
}

/** A body without an end. */
async function* endless(): AsyncGenerator<Uint8Array, void, undefined> {
  yield new TextEncoder().encode("half");
  await new Promise(() => {});
}

/** An App whose routes wait for their signal, each in another place. */
function create() {
  const log = new KeptLog();
  const app = new App({ logger: log });
  const waits = new Deferred<void>();
  const ended = new Deferred<unknown>();
  const work = async (signal: AbortSignal): Promise<never> => {
    waits.resolve();
    try {
      return await untilAborted(signal);
    } catch (error) {
      ended.resolve(nameAndMessage(error as Error));
      throw error;
    }
  };
  const working = withParams({ signal: AbortSignal }, async ({ signal }) => work(signal));
  const params = { signal: AbortSignal };
  app.get("/handler", { params }, async ({ signal }) => work(signal));
  app.get("/dependency", { params: { work: Depends(working) } }, async () => null);
  app.get("/late", { params, limits: { handlerMs: 5 } }, async ({ signal }) => work(signal));
  app.get("/stream", { params }, async function* ({ signal }) {
    yield "first";
    yield work(signal);
  });
  app.post("/unread", { params }, async ({ signal }) => work(signal));
  app.post("/read", { params: { request: Request, ...params } }, async ({ request, signal }) => {
    signal.addEventListener("abort", () => ended.resolve(nameAndMessage(signal.reason as Error)));
    for await (const _ of request.stream()) waits.resolve();
  });
  app.get(PROBE, { statusCode: 204 }, async () => undefined);
  app.websocket("/socket", { params }, async ({ ws, signal }) => {
    await ws.accept();
    await work(signal);
  });
  return { app, log, waits: waits.promise, ended: ended.promise };
}

async function serving<Result>(
  driver: Driver,
  { app, log }: { readonly app: App; readonly log: KeptLog },
  use: (endpoint: Endpoint) => Promise<Result>,
): Promise<Result> {
  const endpoint = await driver.start(app, { logger: log, state: {} });
  try {
    return await use(endpoint);
  } finally {
    endpoint.cut();
    await endpoint.stop();
  }
}

describe.each(drivers)("an AbortSignal on $name", (driver) => {
  beforeAll(async () => driver.open?.());
  afterAll(async () => driver.close?.());

  it.each([
    ["a handler waits", "GET", "/handler"],
    ["a dependency waits", "GET", "/dependency"],
    ["a stream is sent", "GET", "/stream"],
    ["a body is not read", "POST", "/unread"],
    ["a body is read", "POST", "/read"],
  ])("aborts if the client disconnects while %s, without an error in the log", async (_when, method, target) => {
    const { app, log, waits, ended } = create();
    await serving(driver, { app, log }, async (endpoint) => {
      const client = new AbortController();
      const request = { method, target, signal: client.signal, ...(method === "POST" && { body: endless() }) };
      const response = readWhole(endpoint.request(request));
      await waits;
      client.abort();
      expect(await ended).toEqual(LEFT);
      await response;
    });
    expect(log.lines.filter((line) => !/^(debug|info) /.test(line))).toEqual([]);
  });

  it("aborts if the handler takes longer than limits.handlerMs, which is 504", async () => {
    const { app, log, ended } = create();
    await serving(driver, { app, log }, async (endpoint) => {
      expect(await readWhole(endpoint.request({ target: "/late" }))).toMatchObject({ status: 504, end: "whole" });
      expect(await ended).toEqual(LATE);
    });
  });

  it("does not abort once the whole response has been sent", async () => {
    const log = new KeptLog();
    const app = new App({ logger: log });
    const signals: AbortSignal[] = [];
    app.get(PROBE, { statusCode: 204 }, async () => undefined);
    app.get("/", { params: { signal: AbortSignal } }, async ({ signal }) => void signals.push(signal));
    app.get("/stream", { params: { signal: AbortSignal } }, async function* ({ signal }) {
      signals.push(signal);
      yield 1;
    });
    await serving(driver, { app, log }, async (endpoint) => {
      for (const target of ["/", "/stream"]) {
        const client = new AbortController();
        expect(await readWhole(endpoint.request({ target, signal: client.signal }))).toMatchObject({ end: "whole" });
        client.abort();
        await readWhole(endpoint.request({ target: PROBE }));
      }
    });
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  });

  if (driver.lacks.websocket === undefined) describeWebSockets(driver);
});

function describeWebSockets(driver: Driver): void {
  it.each(["close", "terminate"] as const)("aborts in a WebSocket handler if the client calls %s()", async (end) => {
    const { app, log, waits, ended } = create();
    await serving(driver, { app, log }, async (endpoint) => {
      const webSocket = opened(await endpoint.websocket!({ target: "/socket" }));
      await waits;
      await webSocket[end]();
      expect(await ended).toEqual(LEFT);
    });
    expect(log.lines.filter((line) => !/^(debug|info) /.test(line))).toEqual([]);
  });

  // uWebSockets.js has sent its own close frame before it reports the client's.
  const answers = driver.name === "uWebSockets.js" ? it.skip : it;
  answers("lets a WebSocket handler process the messages before a close", async () => {
    const log = new KeptLog();
    const app = new App({ logger: log });
    const ended = new Deferred<boolean>();
    app.websocket("/", { params: { signal: AbortSignal } }, async ({ ws, signal }) => {
      await ws.accept();
      for await (const message of ws) {
        await nextTurn();
        await ws.send(message);
      }
      ended.resolve(signal.aborted);
    });
    await serving(driver, { app, log }, async (endpoint) => {
      const webSocket = opened(await endpoint.websocket!({}));
      for (const word of ["one", "two", "three"]) await webSocket.send(word);
      await webSocket.close(1000);
      expect([await webSocket.receive(), await webSocket.receive(), await webSocket.receive()]).toEqual([
        "one",
        "two",
        "three",
      ]);
      expect(await ended.promise).toBe(true);
    });
  });

  const stops = driver.lacks.drain === undefined ? it : it.skip;
  stops("aborts in a WebSocket handler if the server stops", async () => {
    const { app, log, waits, ended } = create();
    const endpoint = await driver.start(app, { logger: log, state: {} });
    opened(await endpoint.websocket!({ target: "/socket" }));
    await waits;
    await Promise.all([expect(ended).resolves.toEqual(LEFT), endpoint.stop()]);
  });

  it("does not abort if the handler closes the WebSocket", async () => {
    const log = new KeptLog();
    const app = new App({ logger: log });
    const closed = new Deferred<void>();
    const aborted = new Deferred<boolean>();
    app.websocket("/", { params: { signal: AbortSignal } }, async ({ ws, signal }) => {
      await ws.accept();
      await ws.close(1000);
      await closed.promise;
      aborted.resolve(signal.aborted);
    });
    await serving(driver, { app, log }, async (endpoint) => {
      const webSocket = opened(await endpoint.websocket!({}));
      await webSocket.closed;
      closed.resolve();
      expect(await aborted.promise).toBe(false);
    });
  });
}

describe("an AbortSignal of a server that stops", () => {
  const uws = drivers.find(({ name }) => name === "uWebSockets.js");
  beforeAll(async () => uws?.open?.());
  afterAll(async () => uws?.close?.());

  const servers = [
    { name: "HTTP/1.1", options: { loop: "libuv" }, Client: HTTP1Client },
    { name: "HTTP/2", options: { http2: true }, Client: HTTP2Client },
    ...(uws ? [{ name: "uWebSockets.js", options: { loop: "uwebsockets" }, Client: HTTP1Client } as const] : []),
  ] as const;

  it.each(servers.flatMap((server) => ["/handler", "/stream"].map((target) => ({ ...server, target }))))(
    "aborts when the shutdown timeout has passed, on $name at $target",
    async ({ options, Client, target }) => {
      const { app, log, waits, ended } = create();
      let cleaned = false;
      app.onShutdown(() => void (cleaned = true));
      const server = await serve(app, { ...options, port: 0, signals: false, logger: log, shutdownTimeoutMs: 200 });
      const client = new Client(server.url);
      const response = readWhole(client.request({ target }));
      await waits;
      const closing = server.close();
      await expect(closing).rejects.toMatchObject({ name: "ShutdownTimeoutError" });
      expect(await ended).toEqual(LEFT);
      await response;
      expect(cleaned).toBe(true);
      client.cut();
    },
  );

  it("allows the aborted work a moment before the server ends", async () => {
    const app = new App({ logger: new KeptLog() });
    const waits = new Deferred<void>();
    let isCancelled = false;
    app.get("/", { params: { signal: AbortSignal } }, async ({ signal }) => {
      waits.resolve();
      await untilAborted(signal).catch(async () => {
        await nextTurn();
        isCancelled = true;
      });
    });
    const server = await serve(app, { port: 0, signals: false, logger: new KeptLog(), shutdownTimeoutMs: 200 });
    const client = new HTTP1Client(server.url);
    const response = readWhole(client.request({}));
    await waits.promise;
    await expect(server.close()).rejects.toMatchObject({ name: "ShutdownTimeoutError" });
    expect(isCancelled).toBe(true);
    await response;
    client.cut();
  });
});

describe("an AbortSignal", () => {
  it("is request.signal, in handlers, guards and dependencies", async () => {
    const log = new KeptLog();
    const app = new App({ logger: log });
    const signals = new Set<AbortSignal>();
    const get = withParams({ signal: AbortSignal }, async ({ signal }) => void signals.add(signal));
    const router = new Router({ dependencies: [Depends(get, { useCache: false })] });
    router.get(
      "/",
      { params: { signal: AbortSignal, request: Request, other: Depends(get) } },
      async ({ signal, request }) => {
        signals.add(signal).add(request.signal);
      },
    );
    app.includeRouter(router);
    expect((await call(app, "GET", "/")).status).toBe(200);
    expect([...signals]).toEqual([expect.any(AbortSignal)]);
  });

  it("is compiled as the kind SIGNAL, 12", () => {
    const [specs] = compileHandler(async () => null, "/", { signal: AbortSignal });
    expect(specs).toEqual([{ name: "signal", kind: 12, annotation: AbortSignal, default: undefined, marker: null }]);
    expect(ParamKind.SIGNAL).toBe(12);
  });

  it("is a ConfigurationError in a handler that is not async", () => {
    const app = new App();
    const register = () => app.get("/report", { params: { signal: AbortSignal } }, ({ signal }) => signal.aborted);
    expect(register).toThrow(ConfigurationError);
    expect(register).toThrow(/^GET \/report: The parameter "signal" is an AbortSignal, which stays on the event loop/);
    expect(() => app.get("/loop", { params: { signal: AbortSignal }, pool: false }, () => null)).not.toThrow();
  });

  it("is not a parameter of the request in the OpenAPI document", () => {
    const app = new App();
    app.get("/", { params: { signal: AbortSignal } }, async () => null);
    expect(app.openapi().paths["/"]?.get).not.toHaveProperty("parameters");
  });

  it.each<[string, ReceiveMessage[]]>([
    ["before it is accepted", [{ type: "websocket.connect" }, { type: "websocket.disconnect", code: 1006 }]],
    [
      "after messages that the handler has not received",
      [
        { type: "websocket.connect" },
        { type: "websocket.receive", text: "one" },
        { type: "websocket.receive", text: "two" },
        { type: "websocket.disconnect", code: 1000 },
      ],
    ],
  ])("aborts on another ASGI server if the client of a WebSocket disconnects %s", async (_when, messages) => {
    const app = new App({ logger: new KeptLog() });
    const taken: string[] = [];
    let reason: unknown;
    app.websocket("/", { params: { signal: AbortSignal } }, async ({ ws, signal }) => {
      await untilAborted(signal).catch((error: unknown) => void (reason = error));
      await ws.accept();
      for await (const message of ws) taken.push(String(message));
    });
    const scope = { type: "websocket", path: "/", headers: [] } as unknown as WebSocketScope;
    const waiting = [...messages];
    const receive = () => {
      const message = waiting.shift();
      return message ? Promise.resolve(message) : new Promise<never>(() => {});
    };
    await app(scope, receive, async () => {});
    expect(nameAndMessage(reason as Error)).toEqual(LEFT);
    expect(taken).toEqual(messages.flatMap((message) => ("text" in message ? [message.text] : [])));
  });

  it("receives at most 16 messages ahead on another ASGI server", async () => {
    const app = new App({ logger: new KeptLog() });
    let received = 0;
    const filled = new Deferred<number>();
    app.websocket("/", { params: { signal: AbortSignal } }, async ({ ws }) => {
      await ws.accept();
      for (let turn = 0; turn < 3; turn++) await nextTurn();
      filled.resolve(received);
      await ws.close();
    });
    const scope = { type: "websocket", path: "/", headers: [] } as unknown as WebSocketScope;
    const receive = async (): Promise<ReceiveMessage> =>
      received++ === 0 ? { type: "websocket.connect" } : { type: "websocket.receive", text: "more" };
    await app(scope, receive, async () => {});
    expect(await filled.promise).toBe(17);
  });
});

describe('an AbortSignal in a dependency of scope "app"', () => {
  const scope = "app";

  it("aborts when the application stops, before the cleanup of every dependency", async () => {
    const app = new App({ logger: new KeptLog() });
    const steps: string[] = [];
    const pool = withParams({ signal: AbortSignal }, async function* ({ signal }) {
      signal.addEventListener("abort", () => steps.push(`pool: ${(signal.reason as Error).name}`));
      yield signal;
      steps.push("pool closed");
    });
    const polling = withParams({ signal: AbortSignal, pool: Depends(pool, { scope }) }, async function* ({ signal }) {
      signal.addEventListener("abort", () => steps.push("poller"));
      yield signal;
      steps.push("poller closed");
    });
    const signals: AbortSignal[] = [];
    app.get(
      "/",
      { params: { poller: Depends(polling, { scope }), signal: AbortSignal } },
      async ({ poller, signal }) => void signals.push(poller, signal),
    );
    await using client = await TestClient.open(app);
    await client.get("/").expect(200);
    expect(new Set(signals).size).toBe(2);
    expect(steps).toEqual([]);
    await client.close();
    expect(steps).toEqual(["pool: AbortError", "poller", "poller closed", "pool closed"]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  });

  it("aborts if a later dependency fails to start", async () => {
    const app = new App({ logger: new KeptLog() });
    let signal: AbortSignal | undefined;
    const first = withParams({ signal: AbortSignal }, async (given) => void (signal = given.signal));
    const failing = async () => {
      throw new Error("unavailable");
    };
    app.get("/", { params: { a: Depends(first, { scope }), b: Depends(failing, { scope }) } }, async () => null);
    await expect(TestClient.open(app)).rejects.toThrow("unavailable");
    expect(signal?.aborted).toBe(true);
  });

  it("still rejects everything of a request", () => {
    const app = new App();
    const reads = withParams({ request: Request, signal: AbortSignal }, async () => null);
    const register = () => app.get("/", { params: { it: Depends(reads, { scope }) } }, async () => null);
    expect(register).toThrow(/its parameter "request" is of a request/);
  });
});
