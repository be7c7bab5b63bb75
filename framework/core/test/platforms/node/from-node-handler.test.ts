import { AsyncLocalStorage } from "node:async_hooks";
import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  request as sendRequest,
  type ServerResponse,
} from "node:http";
import { connect as connectHTTP2 } from "node:http2";
import { describe, expect, it } from "@jest/globals";
import { WebSocket, WebSocketServer } from "ws";
import { App } from "../../../src/app/app.js";
import { ConfigurationError } from "../../../src/common/exceptions.js";
import { Deferred } from "../../../src/common/promises.js";
import { fromNodeHandler, type NodeListener } from "../../../src/node.js";
import { TestClient } from "../../../src/platforms/testing/index.js";
import { MemoryLogger, served, type Served, Wire } from "./_http.js";

function mounted(listener: NodeListener, path = "/legacy", logger = new MemoryLogger()): App {
  const app = new App({ logger });
  app.get("/own", async () => "own");
  app.mount(path, fromNodeHandler(listener));
  return app;
}

const json = (res: ServerResponse, value: unknown) =>
  void res.setHeader("content-type", "application/json").end(JSON.stringify(value));

/** A listener that reports the request. */
const report: RequestListener = (req: IncomingMessage & { originalUrl?: string; baseUrl?: string }, res) => {
  const chunks: Buffer[] = [];
  req.on("data", (chunk: Buffer) => chunks.push(chunk));
  req.on("end", () => {
    const { method, url, originalUrl, baseUrl, headers, rawHeaders, socket } = req;
    const { remoteAddress } = socket;
    const encrypted = "encrypted" in socket && socket.encrypted === true;
    const body = Buffer.concat(chunks).toString();
    json(res, { method, url, originalUrl, baseUrl, headers, rawHeaders, remoteAddress, encrypted, body });
  });
};

async function reported(server: Served, target: string, init: RequestInit = {}) {
  return (await (await fetch(server.url + target, init)).json()) as Record<string, unknown>;
}

describe("a listener of node:http in an App", () => {
  it.each([
    ["/legacy/a?b=1", "/a?b=1"],
    ["/legacy", "/"],
    ["/legacy?b", "/?b"],
    ["/legacy/", "/"],
    ["/legacy//a%2Fb/caf%C3%A9/", "//a%2Fb/caf%C3%A9/"],
    ["//legacy/a", "/a"],
    ["/%6Cegacy/a", "/a"],
  ])("gets the path below the mount, and the whole one: %s", async (target, url) => {
    await using server = await served(mounted(report));
    const { hostname, port } = new URL(server.url);
    const sending = sendRequest({ hostname, port, path: target, agent: false }).end();
    const [response] = (await once(sending, "response")) as [IncomingMessage];
    const got = JSON.parse(Buffer.concat(await response.toArray()).toString()) as object;
    expect(got).toMatchObject({
      url,
      originalUrl: target,
      baseUrl: "/legacy",
      remoteAddress: "127.0.0.1",
      encrypted: false,
    });
  });

  it("gets the header lines as received, and the body", async () => {
    await using server = await served(mounted(report));
    const headers = { "content-type": "text/plain", "X-Mixed": "1" };
    const { body, rawHeaders, method } = await reported(server, "/legacy", { method: "PATCH", headers, body: "hello" });
    expect([method, body]).toEqual(["PATCH", "hello"]);
    expect(rawHeaders).toEqual(
      expect.arrayContaining(["X-Mixed", "1", "content-length", "5", "content-type", "text/plain"]),
    );
  });

  it.each([
    ["POST", "Content-Length: 0\r\n\r\n", { "content-length": "0" }, ""],
    ["POST", "\r\n", { "content-length": "0" }, ""],
    [
      "POST",
      "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Trailer: 1\r\n\r\n",
      { "transfer-encoding": "chunked" },
      "hello",
    ],
    ["GET", "Content-Length: 5\r\n\r\nhello", { "content-length": "5" }, "hello"],
    ["GET", "\r\n", {}, ""],
  ])("gets the framing of %s %j", async (method, rest, framing, body) => {
    await using server = await served(mounted(report));
    await using wire = new Wire(server.port);
    wire.write(`${method} /legacy HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${rest}`);
    const text = (await wire.closed).split("\r\n\r\n")[1] ?? "";
    const got = JSON.parse(/\{[^]*\}/.exec(text)?.[0] ?? "") as { headers: object; body: string };
    expect(got).toMatchObject({ headers: framing, body });
    if (Object.keys(framing).length === 0) expect(got.headers).not.toHaveProperty("transfer-encoding");
  });

  it("gets a body of HTTP/2 without a length in chunks, never as a second request", async () => {
    const urls: string[] = [];
    const app = mounted((req, res) => {
      urls.push(req.url ?? "");
      report(req, res);
    });
    await using server = await served(app, { http2: true });
    const session = connectHTTP2(server.url);
    const stream = session.request({ ":method": "GET", ":path": "/legacy/a" }, { endStream: false });
    stream.end("GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n");
    const got = JSON.parse(Buffer.concat((await stream.toArray()) as Buffer[]).toString()) as {
      body: string;
      headers: object;
    };
    session.close();
    expect(got.body).toContain("smuggled");
    expect(got.headers).toMatchObject({ "transfer-encoding": "chunked" });
    expect(urls).toEqual(["/a"]);
  });

  it("never gets bytes after the announced length as a second request", async () => {
    const urls: string[] = [];
    const app = mounted((req, res) => {
      urls.push(req.url ?? "");
      report(req, res);
    });
    const request = new Request("http://a.test/legacy/a", {
      method: "POST",
      headers: { "content-length": "1" },
      body: "xGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n",
    });
    expect((await app.fetch(request)).status).toBe(500);
    await new Promise((resolve) => setImmediate(resolve));
    expect(urls.filter((url) => url !== "/a")).toEqual([]);
    await app.fetch.close();
  });

  it("sends status, repeated headers and body, without fields of its connection and trailers", async () => {
    const listener: RequestListener = (_req, res) => {
      res.writeHead(201, { "Set-Cookie": ["a=1", "b=2"], Connection: "close", Trailer: "X-T" });
      res.write("one,");
      res.addTrailers({ "X-T": "1" });
      res.end("two");
    };
    await using server = await served(mounted(listener));
    await using wire = new Wire(server.port);
    wire.write("GET /legacy HTTP/1.1\r\nHost: a\r\n\r\n");
    const received = await wire.until(/0\r\n\r\n$/);
    expect(received).toMatch(/^HTTP\/1\.1 201 Created\r\n/);
    expect(received.match(/set-cookie: \w=\d/gi)).toHaveLength(2);
    expect(received).not.toMatch(/connection: close|x-t: 1/i);
    wire.write("GET /own HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    expect(await wire.closed).toContain('"own"');
  });

  it.each([
    ["HEAD", 200, { "content-length": "5" }, ""],
    ["GET", 304, { etag: '"a"' }, ""],
    ["GET", 204, {}, ""],
  ])("responds to %s with %i as node:http does", async (method, status, headers, text) => {
    await using server = await served(
      mounted((_req, res) => res.writeHead(status, headers).end(status === 200 ? "hello" : undefined)),
    );
    const response = await fetch(`${server.url}/legacy`, { method });
    expect([response.status, await response.text()]).toEqual([status, text]);
    for (const [name, value] of Object.entries(headers)) expect(response.headers.get(name)).toBe(value);
  });

  it("makes a listener wait for a client that does not read", async () => {
    const blocked = new Deferred<number>();
    let written = 0;
    const listener: RequestListener = (_req, res) => {
      const write = () => {
        while (written < 200 << 20) {
          written += 1 << 20;
          if (res.write(Buffer.alloc(1 << 20))) continue;
          res.once("drain", write);
          if (written > 16 << 20) blocked.resolve(written);
          return;
        }
        res.end();
      };
      write();
      res.once("close", () => blocked.resolve(written));
    };
    await using server = await served(mounted(listener));
    await using wire = new Wire(server.port);
    wire.socket.pause();
    wire.write("GET /legacy HTTP/1.1\r\nHost: a\r\n\r\n");
    await new Promise((resolve) => setTimeout(resolve, 300).unref());
    expect(written).toBeLessThan(64 << 20);
    wire.socket.destroy();
    await blocked.promise;
  });

  it("ends the request of the listener if the client disconnects", async () => {
    const [started, closed] = [new Deferred<void>(), new Deferred<boolean>()];
    const listener: RequestListener = (req, res) => {
      res.once("close", () => closed.resolve(req.destroyed));
      started.resolve();
    };
    await using server = await served(mounted(listener));
    await using wire = new Wire(server.port);
    wire.write("GET /legacy HTTP/1.1\r\nHost: a\r\n\r\n");
    await started.promise;
    wire.socket.destroy();
    expect(await closed.promise).toBe(true);
    expect(server.logger.at("error")).toEqual([]);
  });

  it("cuts a response that the listener destroys", async () => {
    const logger = new MemoryLogger();
    const listener: RequestListener = (_req, res) => void res.write("part", () => res.destroy());
    await using server = await served(mounted(listener, "/legacy", logger));
    const response = await fetch(`${server.url}/legacy`);
    await expect(response.text()).rejects.toThrow("terminated");
    expect(logger.at("error")).toHaveLength(1);
  });

  it.each([
    ["a listener", (listener: RequestListener): NodeListener => listener],
    ["a server", (listener: RequestListener): NodeListener => createServer(listener)],
  ])("responds with 500 if %s throws, and cuts the response after its head", async (_what, make) => {
    const logger = new MemoryLogger();
    const app = mounted(
      make((req, res) => {
        if (req.url === "/late") res.write("part");
        throw new Error("broken");
      }),
      "/legacy",
      logger,
    );
    await using server = await served(app);
    const response = await fetch(`${server.url}/legacy`);
    expect([response.status, await response.json()]).toEqual([500, { detail: "Internal Server Error" }]);
    expect(logger.at("error")).toHaveLength(1);
    await expect(fetch(`${server.url}/legacy/late`).then((late) => late.text())).rejects.toThrow(
      /terminated|fetch failed/,
    );
  });

  it("passes 100-continue to a client that waits for it", async () => {
    await using server = await served(mounted(report));
    const sending = sendRequest(`${server.url}/legacy`, {
      method: "POST",
      headers: { expect: "100-continue", "content-length": 5 },
      agent: false,
    });
    sending.flushHeaders();
    await once(sending, "continue");
    sending.end("hello");
    const [response] = (await once(sending, "response")) as [IncomingMessage];
    expect(Buffer.concat(await response.toArray()).toString()).toContain('"body":"hello"');
  });

  it("runs each request in its own asynchronous context", async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const app = mounted((_req, res) => {
      seen.push(storage.getStore());
      setImmediate(() => {
        seen.push(storage.getStore());
        res.end();
      });
    });
    app.addMiddleware(
      (next) => (scope, receive, send) =>
        storage.run(scope.type === "http" ? scope.path : scope.type, () => next(scope, receive, send)),
    );
    await using server = await served(app);
    await using wire = new Wire(server.port);
    for (const path of ["/legacy/1", "/legacy/2"]) {
      wire.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
      await wire.until(/\r\n\r\n(?:0\r\n\r\n)?$/);
      wire.received = "";
    }
    expect(seen).toEqual(["/legacy/1", "/legacy/1", "/legacy/2", "/legacy/2"]);
  });

  it("has a socket with a timeout", async () => {
    await using server = await served(mounted((_req, res) => void res.setTimeout(20, () => res.end("timeout"))));
    expect(await (await fetch(`${server.url}/legacy`)).text()).toBe("timeout");
  });

  it("may be everything that the App does not have", async () => {
    const app = mounted(report, "/");
    app.post("/own/{id}", async () => "posted");
    await using server = await served(app);
    const at = async (method: string, path: string) => {
      const response = await fetch(server.url + path, { method });
      return response.headers.get("content-type") === "application/json" && method !== "HEAD"
        ? ((await response.json()) as { url?: string }).url
        : response.status;
    };
    expect(await at("GET", "/own")).toBeUndefined();
    expect(await at("HEAD", "/own")).toBe(200);
    expect(await at("POST", "/own")).toBe("/own");
    expect(await at("OPTIONS", "/own")).toBe("/own");
    expect(await at("GET", "/own/7")).toBe("/own/7");
    expect(await at("GET", "/none")).toBe("/none");
  });

  it("works behind app.fetch and the test client", async () => {
    const app = mounted(report);
    const response = await app.fetch(new Request("https://a.test/legacy/x", { method: "POST", body: "hi" }));
    expect(await response.json()).toMatchObject({ url: "/x", body: "hi", encrypted: true });
    await app.fetch.close();
    const client = await TestClient.open(mounted(report), { logger: new MemoryLogger() });
    expect((await client.get("/legacy/y")).body).toMatchObject({ url: "/y" });
    await client.close();
  });

  it.each([["a string"], [{}], [null], [new (class Fastify {})()]])("is not %p", (given) => {
    expect(() => fromNodeHandler(given as unknown as NodeListener)).toThrow(ConfigurationError);
    expect(() => fromNodeHandler(given as unknown as NodeListener)).toThrow("fastify.routing");
  });
});

describe("an upgrade below a mount", () => {
  function echoing(): { server: ReturnType<typeof createServer>; urls: unknown[] } {
    const urls: unknown[] = [];
    const server = createServer();
    const sockets = new WebSocketServer({ server });
    sockets.on("connection", (ws, req: IncomingMessage & { originalUrl?: string }) => {
      urls.push(req.url, req.originalUrl, req.socket.remoteAddress);
      ws.on("message", (data, isBinary) => ws.send(data, { binary: isBinary }));
    });
    return { server, urls };
  }

  const statusOf = async (client: WebSocket) => {
    client.on("error", () => {});
    const [, { statusCode }] = (await once(client, "unexpected-response")) as [unknown, IncomingMessage];
    client.terminate();
    return statusCode;
  };

  it("is taken by the listeners of the server, in both directions, until its end", async () => {
    const { server: inner, urls } = echoing();
    await using server = await served(mounted(inner));
    const client = new WebSocket(`${server.url.replace("http", "ws")}/legacy/ws?a`);
    await once(client, "open");
    const large = Buffer.alloc(1 << 20, "x");
    client.send(large);
    const [echo] = (await once(client, "message")) as [Buffer];
    expect(echo.equals(large)).toBe(true);
    client.close(4000);
    expect((await once(client, "close"))[0]).toBe(4000);
    expect(urls).toEqual(["/ws?a", "/legacy/ws?a", "127.0.0.1"]);
    expect(server.logger.at("error")).toEqual([]);
  });

  it("ends when the server stops", async () => {
    await using server = await served(mounted(echoing().server));
    const client = new WebSocket(`${server.url.replace("http", "ws")}/legacy`);
    await once(client, "open");
    const closed = once(client, "close");
    await server.close();
    expect((await closed)[0]).toBe(1006);
  });

  it("ends for the listener if its client disconnects", async () => {
    const inner = echoing().server;
    const closed = new Deferred<void>();
    inner.on("upgrade", (_req, socket) => socket.once("close", () => closed.resolve()));
    await using server = await served(mounted(inner));
    const client = new WebSocket(`${server.url.replace("http", "ws")}/legacy`);
    await once(client, "open");
    client.terminate();
    await closed.promise;
    expect(server.logger.at("error")).toEqual([]);
  });

  it.each([
    ["a listener without upgrades", () => mounted(report)],
    ["a server without listeners of upgrades", () => mounted(createServer(report))],
  ])("is 501 for %s", async (_what, create) => {
    await using server = await served(create());
    expect(await statusOf(new WebSocket(`${server.url.replace("http", "ws")}/legacy`))).toBe(501);
  });

  it("is 501 by app.fetch", async () => {
    const app = mounted(echoing().server);
    const headers = { upgrade: "websocket", "sec-websocket-version": "13" };
    const response = await app.fetch(new Request("http://a.test/legacy", { headers }));
    expect([response.status, await response.json()]).toEqual([501, { detail: "Not Implemented" }]);
    await app.fetch.close();
  });

  it("stays with the App for its own routes", async () => {
    const app = mounted(echoing().server, "/");
    app.websocket("/own", async ({ ws }) => {
      await ws.accept();
      await ws.sendText("own");
    });
    await using server = await served(app);
    const client = new WebSocket(`${server.url.replace("http", "ws")}/own`);
    const [data] = (await once(client, "message")) as [Buffer];
    expect(data.toString()).toBe("own");
    client.terminate();
  });

  it("is an ordinary request for another protocol, without the field", async () => {
    await using server = await served(mounted(createServer(report).on("upgrade", () => {})));
    await using wire = new Wire(server.port);
    wire.write("GET /legacy HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n");
    const received = await wire.until(/\}$|\}\r\n0\r\n\r\n$/);
    expect(received).toContain('"url":"/"');
    expect(received).not.toContain("h2c");
  });
});
