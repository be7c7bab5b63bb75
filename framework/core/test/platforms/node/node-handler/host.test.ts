import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "@jest/globals";
import request from "supertest";
import { WebSocket } from "ws";
import { App } from "../../../../src/app/app.js";
import { ConfigurationError, HTTPException } from "../../../../src/common/exceptions.js";
import { Deferred } from "../../../../src/common/promises.js";
import { HTTPConnection, Request } from "../../../../src/http/request.js";
import { StreamingResponse } from "../../../../src/http/response/streaming.js";
import { WebSocket as AppWebSocket } from "../../../../src/http/websocket.js";
import { httpMiddleware } from "../../../../src/middleware/index.js";
import { nodeRequest, type NodeHandlerOptions, toNodeHandler } from "../../../../src/node.js";
import type { ASGIApp } from "../../../../src/protocol/asgi.js";
import { httpApp, MemoryLogger, Wire } from "../_http.js";

/** The events of a host: `next` for a request that was passed on, and the message of an error. */
class Host {
  readonly events: string[] = [];
  readonly logger = new MemoryLogger();
  readonly listener: (req: IncomingMessage, res: ServerResponse) => void;

  constructor(app: ASGIApp, options: NodeHandlerOptions = {}) {
    const handler = toNodeHandler(app, { logger: this.logger, ...options });
    this.listener = (req, res) =>
      handler(req, res, (error) => {
        this.events.push(error === undefined ? "next" : (error as Error).message);
        const { readableDidRead } = req;
        res
          .writeHead(error === undefined ? 404 : 500)
          .end(JSON.stringify({ headers: res.getHeaderNames(), readableDidRead }));
      });
  }
}

function createApp(logger = new MemoryLogger()): App {
  const app = new App({ logger });
  app.addMiddleware(
    httpMiddleware(async (_request, next) => {
      const response = await next();
      response.headers.set("x-app", "1");
    }),
  );
  app.get("/items/{id}", async ({ id }) => id);
  app.get("/missing", () => Promise.reject(new HTTPException(404)));
  app.websocket("/ws", { params: { ws: AppWebSocket } }, async ({ ws }) => ws.accept());
  const inner = new App({ logger });
  inner.get("/here", async () => "here");
  app.mount("/inner", inner);
  return app;
}

it("has three parameters, so that Express takes it for a middleware", () => {
  expect(toNodeHandler(createApp())).toHaveLength(3);
});

describe("fallthrough", () => {
  it.each(["/", "/none", "/items", "/items/1/2", "/doc", "/%ff", "/items/%zz"])(
    "calls next for %s, without a header, a byte of the body read, or a middleware run",
    async (target) => {
      const host = new Host(createApp(), { fallthrough: true });
      const response = await request(host.listener).post(target).send("body").type("text/plain");
      expect([response.status, host.events]).toEqual([404, ["next"]]);
      expect(JSON.parse(response.text)).toEqual({ headers: [], readableDidRead: false });
      expect(response.headers["x-app"]).toBeUndefined();
    },
  );

  it.each([
    ["GET", "/items/1", 200],
    ["GET", "/items//1/", 200],
    ["OPTIONS", "/items/1", 405],
    ["DELETE", "/items/1", 405],
    ["GET", "/missing", 404],
    ["GET", "/inner/none", 404],
    ["GET", "/docs", 200],
    ["GET", "/openapi.json", 200],
    ["GET", "/docs/swagger-ui.css", 200],
  ])("keeps %s %s", async (method, target, status) => {
    const host = new Host(createApp(), { fallthrough: true });
    await using server = createServer(host.listener).listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${target}`;
    const response = await fetch(url, { method, headers: { connection: "close" } });
    await response.arrayBuffer();
    expect([response.status, host.events]).toEqual([status, []]);
  });

  it.each([
    ["GET", "/items/1", 200],
    ["HEAD", "/items/1", 200],
    ["POST", "/items/1", "next"],
    ["OPTIONS", "/items/1", "next"],
    ["GET", "/none", "next"],
    ["DELETE", "/docs", 405],
    ["POST", "/inner/none", 404],
  ])("can keep only the methods of the App: %s %s", async (method, target, expected) => {
    const host = new Host(createApp(), { fallthrough: "methods" });
    const sending = request(host.listener)[method.toLowerCase() as "get"](target);
    const { status } = await sending;
    expect(host.events[0] ?? status).toBe(expected);
  });

  it.each([
    ["GET", []],
    ["DELETE", ["next"]],
  ])("passes the preflight request for a method where it passes the method: %s", async (method, events) => {
    const host = new Host(createApp(), { fallthrough: "methods" });
    await request(host.listener)
      .options("/items/1")
      .set("origin", "https://a.test")
      .set("access-control-request-method", method);
    expect(host.events).toEqual(events);
  });

  it("is the 404 of the App without a next", async () => {
    const handler = toNodeHandler(createApp(), { fallthrough: true });
    const response = await request((req: IncomingMessage, res: ServerResponse) => handler(req, res)).get("/none");
    expect([response.status, response.headers["x-app"]]).toEqual([404, "1"]);
  });

  it("passes other paths to the host while the start fails, and keeps its own", async () => {
    const app = createApp();
    app.onStartup(() => Promise.reject(new Error("no database")));
    const host = new Host(app, { fallthrough: true });
    expect((await request(host.listener).get("/none")).status).toBe(404);
    expect((await request(host.listener).get("/items/1")).status).toBe(503);
    expect(host.events).toEqual(["next"]);
  });

  it("does not close the registration of routes", async () => {
    const app = createApp();
    const host = new Host(app, { fallthrough: true });
    await request(host.listener).get("/late");
    app.get("/late", async () => "late");
    expect((await request(host.listener).get("/late")).body).toBe("late");
    expect(host.events).toEqual(["next"]);
  });

  it("does not touch the socket of an upgrade if no WebSocket route or mount has the path", async () => {
    const { upgrade, close } = toNodeHandler(createApp(), { fallthrough: true, logger: new MemoryLogger() });
    const taken: boolean[] = [];
    await using server = createServer().listen(0, "127.0.0.1");
    server.on("upgrade", (req, socket, head) => {
      const listeners = socket.listenerCount("error");
      taken.push(upgrade(req, socket, head));
      if (!taken.at(-1)) {
        expect(socket.listenerCount("error")).toBe(listeners);
        socket.end("HTTP/1.1 418 Other\r\n\r\n");
      }
    });
    await once(server, "listening");
    const open = async (target: string) => {
      const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}${target}`);
      const [, { statusCode }] = (await Promise.race([
        once(client, "unexpected-response"),
        once(client, "open").then(() => [null, { statusCode: 101 }]),
        once(client, "close").then(() => [null, { statusCode: 0 }]),
      ])) as [unknown, { statusCode: number }];
      client.on("error", () => {}).terminate();
      return statusCode;
    };
    expect(await open("/ws")).toBe(101);
    expect(await open("/ws/")).toBe(418);
    expect(await open("/items/1")).toBe(418);
    expect(await open("/inner/ws")).toBe(101);
    expect(taken).toEqual([true, false, false, true]);
    await close();
  });

  it("is a mistake with an application that is not an App", () => {
    const app: ASGIApp = async () => {};
    expect(() => toNodeHandler(app, { fallthrough: true })).toThrow(ConfigurationError);
    expect(() => toNodeHandler(app, { fallthrough: true })).toThrow(/fallthrough should be false .* only an App knows/);
    expect(() => toNodeHandler(app, { fallthrough: false })).not.toThrow();
  });
});

describe("onError", () => {
  function failingApp(gate = Promise.resolve()): App {
    const app = createApp();
    app.get("/throws", () => Promise.reject(new Error("broken")));
    app.get("/handled", () => Promise.reject(new RangeError("handled")));
    app.exceptionHandler(RangeError, () => ({ handled: true }));
    app.get("/http", () => Promise.reject(new HTTPException(500, "expected")));
    app.get("/streams", async () => {
      async function* parts() {
        yield "first";
        await gate;
        throw new Error("late");
      }
      return new StreamingResponse(parts());
    });
    return app;
  }

  it("passes an unexpected error to next, in place of the 500, and it is logged", async () => {
    const logger = new MemoryLogger();
    const app = createApp(logger);
    app.get("/throws", () => Promise.reject(new Error("broken")));
    const inner = new App({ logger });
    inner.get("/throws", () => Promise.reject(new Error("broken inside")));
    app.mount("/deep", inner);
    const host = new Host(app, { onError: "next", logger });
    const response = await request(host.listener).get("/throws");
    expect([response.status, response.headers["x-app"]]).toEqual([500, undefined]);
    await request(host.listener).get("/deep/throws");
    expect(host.events).toEqual(["broken", "broken inside"]);
    expect(logger.at("error")).toHaveLength(2);
  });

  it("passes the error of a middleware, and of an application that is not an App", async () => {
    const app = createApp();
    app.addMiddleware(() => async () => Promise.reject(new Error("in a middleware")));
    const host = new Host(app, { onError: "next" });
    await request(host.listener).get("/items/1");
    expect(host.events).toEqual(["in a middleware"]);
    const plain = new Host(
      httpApp(() => Promise.reject(new Error("plain"))),
      { onError: "next" },
    );
    await request(plain.listener).get("/");
    const silent = new Host(
      httpApp(async () => {}),
      { onError: "next" },
    );
    await request(silent.listener).get("/");
    expect([plain.events, silent.events]).toEqual([["plain"], ["The application returned without a response."]]);
    expect(plain.logger.at("error")).toHaveLength(1);
  });

  it("keeps the responses to other errors", async () => {
    const host = new Host(failingApp(), { onError: "next" });
    expect((await request(host.listener).get("/handled")).body).toEqual({ handled: true });
    expect((await request(host.listener).get("/http")).body).toEqual({ detail: "expected" });
    expect((await request(host.listener).get("/missing")).status).toBe(404);
    expect(host.events).toEqual([]);
  });

  it("is the 500 without a next, and by default", async () => {
    const handler = toNodeHandler(failingApp(), { onError: "next", logger: new MemoryLogger() });
    const alone = await request((req: IncomingMessage, res: ServerResponse) => handler(req, res)).get("/throws");
    const host = new Host(failingApp());
    const byDefault = await request(host.listener).get("/throws");
    expect([alone.body, byDefault.body, host.events]).toEqual([
      { detail: "Internal Server Error" },
      { detail: "Internal Server Error" },
      [],
    ]);
  });

  it("cuts the response after its head", async () => {
    const gate = new Deferred<void>();
    const host = new Host(failingApp(gate.promise), { onError: "next" });
    await using server = createServer(host.listener).listen(0, "127.0.0.1");
    await once(server, "listening");
    await using wire = new Wire((server.address() as AddressInfo).port);
    await wire.write("GET /streams HTTP/1.1\r\nHost: a\r\n\r\n").until(/first/);
    gate.resolve();
    const received = await wire.closed;
    expect(received).not.toMatch(/\r\n0\r\n\r\n$/);
    expect(host.events).toEqual([]);
  });
});

describe("nodeRequest", () => {
  it("returns the request of the host to handlers, dependencies and mounted Apps", async () => {
    const app = new App({ logger: new MemoryLogger() });
    const user = (connection: HTTPConnection) => nodeRequest<{ user?: string }>(connection)?.user;
    app.get(
      "/",
      { params: { request: Request, connection: HTTPConnection } },
      async ({ request: call, connection }) => [user(call), user(connection), nodeRequest(call)?.url],
    );
    const inner = new App({ logger: new MemoryLogger() });
    inner.get("/", { params: { request: Request } }, async ({ request: call }) => user(call));
    app.mount("/inner", inner);
    const handler = toNodeHandler(app);
    const host = (req: IncomingMessage, res: ServerResponse) => handler(Object.assign(req, { user: "ada" }), res);
    expect((await request(host).get("/")).body).toEqual(["ada", "ada", "/"]);
    expect((await request(host).get("/inner")).body).toBe("ada");
  });

  it("is null on another server", async () => {
    const app = new App();
    app.get("/", { params: { request: Request } }, async ({ request: call }) => nodeRequest(call));
    const response = await app.fetch(new globalThis.Request("http://localhost/"));
    expect(await response.json()).toBeNull();
  });
});

describe("the option prefix", () => {
  const app = new App({ logger: new MemoryLogger() });
  app.get("/where", { params: { request: Request } }, async ({ request: { scope } }) => [scope.path, scope.root_path]);

  it("becomes root_path, and another path is a 404, or goes to next", async () => {
    const strict = new Host(app, { prefix: "/api/" });
    expect((await request(strict.listener).get("/api/where")).body).toEqual(["/api/where", "/api"]);
    expect((await request(strict.listener).get("/where")).body).toEqual({ detail: "Not Found" });
    expect(strict.events).toEqual([]);
    const open = new Host(app, { prefix: "/api", fallthrough: true });
    await request(open.listener).get("/where");
    expect(open.events).toEqual(["next"]);
  });

  it.each(["api", "", "/a?b", "/%ff", 7])("is a path: not %j", (prefix) => {
    expect(() => toNodeHandler(app, { prefix } as NodeHandlerOptions)).toThrow(/prefix should be a path/);
  });
});
