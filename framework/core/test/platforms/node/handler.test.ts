import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "@jest/globals";
import request from "supertest";
import { WebSocket } from "ws";
import { App } from "../../../src/app/app.js";
import { ClientDisconnect } from "../../../src/common/exceptions.js";
import type { ASGIApp } from "../../../src/protocol/asgi.js";
import { type NodeHandlerOptions, toNodeHandler } from "../../../src/node.js";
import { Depends } from "../../../src/parameters/depends.js";
import { Deferred } from "../../../src/common/promises.js";
import { Request } from "../../../src/http/request.js";
import { decompress } from "../../../src/middleware/index.js";
import { Body } from "../../../src/parameters/body.js";
import { t } from "../../../src/schema/schema.js";
import { cutOff, httpApp, MemoryLogger, pair, readBody, respond, Wire } from "./_http.js";
import { echo as echoSocket } from "./_websocket.js";

const echo = httpApp(async (scope, receive, send) => {
  const body = await readBody(receive);
  const { method, path, root_path, state } = scope;
  await respond(send, 200, JSON.stringify({ method, path, root_path, state, body: body.toString() }), [
    ["content-type", "application/json"],
  ]);
});

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as { port: number }).port;
}

describe("toNodeHandler", () => {
  it("is a listener that supertest takes", async () => {
    const response = await request(toNodeHandler(echo)).post("/items").send("hello").type("text/plain");
    expect(response.body).toEqual({ method: "POST", path: "/items", root_path: "", state: {}, body: "hello" });
  });

  it.each([
    "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    `Content-Length: 90000\r\n\r\n${"a".repeat(90_000)}`,
  ])("keeps the connection if the body has arrived and a parser before it has read it", async (rest) => {
    const handler = toNodeHandler(httpApp((_scope, _receive, send) => respond(send, 200, "done")));
    const server = createServer((req, res) => void req.resume().on("end", () => handler(req, res)));
    await using wire = new Wire(await listening(server));
    wire.write(`POST / HTTP/1.1\r\nHost: a\r\n${rest}`);
    expect(await wire.until(/done$/)).toMatch(/\r\nConnection: keep-alive\r\n/);
    server.close();
  });

  describe("with a host that has set headers", () => {
    const sent: [string, string][] = [
      ["content-type", "text/plain"],
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2"],
      ["vary", "Accept"],
      ["link", "</a>; rel=next"],
      ["link", "</b>; rel=prev"],
      ["WWW-Authenticate", "Basic"],
      ["WWW-Authenticate", "Bearer"],
      ["x-powered-by", "the App"],
    ];
    const whole = httpApp((_scope, _receive, send) => respond(send, 200, "hello", sent));
    const streamed = httpApp(async (_scope, _receive, send) => {
      await send({ type: "http.response.start", status: 200, headers: sent.map(([name, value]) => pair(name, value)) });
      await send({ type: "http.response.body", body: Buffer.from("hel"), more_body: true });
      await send({ type: "http.response.body", body: Buffer.from("lo") });
    });

    /** The lines of a response, after the headers that a host sets. */
    async function linesAfter(app: ASGIApp, set: (res: ServerResponse) => void) {
      const server = createServer();
      const handler = toNodeHandler(app, { logger: new MemoryLogger() });
      server.on("request", (req, res) => {
        set(res);
        handler(req, res);
      });
      await using wire = new Wire(await listening(server));
      wire.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
      const [head = "", body] = (await wire.closed).split("\r\n\r\n");
      server.close();
      const valuesOf = (name: string) =>
        head
          .split("\r\n")
          .flatMap((line) => (line.toLowerCase().startsWith(`${name}: `) ? [line.slice(name.length + 2)] : []));
      const isChunked = valuesOf("transfer-encoding").length > 0;
      // Node 26 joins two small chunks.
      return { valuesOf, isChunked, body: isChunked ? body?.replaceAll(/(?:^|\r\n)\d+(?:\r\n|$)/g, "") : body };
    }

    it.each([
      ["whole", whole],
      ["streamed", streamed],
    ])("sends each line of a repeated header: a %s body", async (_form, app) => {
      const { valuesOf, body } = await linesAfter(app, (res) => res.setHeader("X-Powered-By", "Express"));
      expect(body).toBe("hello");
      expect(valuesOf("set-cookie")).toEqual(["a=1", "b=2"]);
      expect(valuesOf("link")).toEqual(["</a>; rel=next", "</b>; rel=prev"]);
      expect(valuesOf("www-authenticate")).toEqual(["Basic", "Bearer"]);
      expect(valuesOf("x-powered-by")).toEqual(["the App"]);
    });

    it("keeps the headers of the host, adds its cookies, and replaces the ones that the application sends", async () => {
      const { valuesOf } = await linesAfter(whole, (res) => {
        res.setHeader("Set-Cookie", ["host=1", "host=2"]).setHeader("Vary", "Origin").setHeader("Link", "</h>; rel=up");
        res.setHeader("WWW-Authenticate", ["Digest", "Negotiate"]).setHeader("X-Frame-Options", "DENY");
      });
      expect(valuesOf("set-cookie")).toEqual(["host=1", "host=2", "a=1", "b=2"]);
      expect(valuesOf("vary")).toEqual(["Origin", "Accept"]);
      expect(valuesOf("link")).toEqual(["</h>; rel=up", "</a>; rel=next", "</b>; rel=prev"]);
      expect(valuesOf("www-authenticate")).toEqual(["Basic", "Bearer"]);
      expect(valuesOf("x-frame-options")).toEqual(["DENY"]);
    });

    it("frames the body by the length of the application, not by a length of the host", async () => {
      const { valuesOf, isChunked, body } = await linesAfter(streamed, (res) => res.setHeader("Content-Length", 2));
      expect([valuesOf("content-length"), isChunked, body]).toEqual([[], true, "hello"]);
    });

    it("sends its headers through a wrapper of writeHead that reads them from the response", async () => {
      let seen: unknown;
      const { valuesOf } = await linesAfter(whole, (res) => {
        const writeHead = res.writeHead.bind(res);
        res.writeHead = (status: number, ...others: unknown[]) => {
          seen = [...others, res.getHeader("set-cookie")];
          return writeHead(status);
        };
      });
      expect(seen).toEqual([["a=1", "b=2"]]);
      expect(valuesOf("set-cookie")).toEqual(["a=1", "b=2"]);
    });
  });

  it("rejects encoded JSON with 415, and passes it to decompress()", async () => {
    const app = new App({ logger: new MemoryLogger() });
    const decoding = new App({ logger: new MemoryLogger(), middleware: [decompress()] });
    for (const each of [app, decoding])
      each.post("/", { params: { item: Body(t.String()) } }, async ({ item }) => item);
    const sending = async (to: App) => {
      await using server = createServer(toNodeHandler(to));
      const headers = { "content-type": "application/json", "content-encoding": "gzip", connection: "close" };
      const response = await fetch(`http://127.0.0.1:${await listening(server)}`, {
        method: "POST",
        headers,
        body: gzipSync('"hello"'),
      });
      return [response.status, response.headers.get("accept-encoding"), await response.json()];
    };
    expect(await sending(app)).toEqual([415, "identity", { detail: "Content-Encoding should be identity" }]);
    expect(await sending(decoding)).toEqual([200, null, "hello"]);
  });

  it("sends a Content-Disposition in latin-1 after a Content-Length", async () => {
    const headers: [string, string][] = [
      ["content-length", "2"],
      ["content-disposition", 'attachment; filename="caf\u00e9"'],
    ];
    const server = createServer(toNodeHandler(httpApp((_scope, _receive, send) => respond(send, 200, "ok", headers))));
    await using wire = new Wire(await listening(server));
    wire.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    expect(await wire.closed).toMatch(/^HTTP\/1\.1 200 [^]*filename="caf\u00e9"[^]*\r\n\r\nok$/);
    server.close();
  });

  it("passes a shallow copy of the state to each scope", async () => {
    const response = await request(toNodeHandler(echo, { state: { pool: "ready" } })).get("/");
    expect(response.body).toMatchObject({ state: { pool: "ready" } });
  });

  it("rejects requests that the parser accepts, on any server", async () => {
    const response = await request(toNodeHandler(echo)).get("/").set("Host", "a b");
    expect([response.status, response.body]).toEqual([
      400,
      { detail: "Expected exactly one well-formed Host header." },
    ]);
  });

  it("is a 500 and a line in the log if a body parser has read the body, and has not kept it", async () => {
    const logger = new MemoryLogger();
    const handler = toNodeHandler(echo, { logger });
    const parser: RequestListener = (req, res) => {
      req.resume().on("end", () => handler(req, res));
    };
    const response = await request(parser).post("/").send("hello").type("text/plain");
    expect(response.status).toBe(500);
    expect(String(logger.at("error")[0]?.fields.err)).toContain("install this handler before body parsers");
  });

  it.each<[string, NodeHandlerOptions, string | undefined, number]>([
    ["from anywhere", {}, "https://evil.example", 101],
    ["from the origins that are allowed", { allowedOrigins: ["https://a.example"] }, "https://a.example", 101],
    ["and from no others", { allowedOrigins: ["https://a.example"] }, "https://evil.example", 403],
    ["for the hosts that are allowed", { allowedHosts: ["other.example"] }, undefined, 400],
  ])("opens WebSockets if its upgrade listens: %s", async (_where, options, origin, status) => {
    const handler = toNodeHandler(echoSocket, { logger: new MemoryLogger(), ...options });
    await using server = createServer(handler).on("upgrade", handler.upgrade);
    const port = await listening(server);
    const client = new WebSocket(`ws://127.0.0.1:${port}/ws`, origin === undefined ? {} : { origin });
    const answer = await new Promise((resolve) => {
      client.on("error", () => {});
      client.on("unexpected-response", (sent, response) => {
        sent.destroy();
        resolve(response.statusCode);
      });
      client.on("open", () => client.send("hello"));
      client.on("message", (data: Buffer) => resolve(`101 ${data.toString()}`));
    });
    expect(answer).toBe(status === 101 ? "101 hello" : status);
    client.terminate();
  });

  it("rejects an upgrade to another protocol, which only the owner of the server could serve", async () => {
    const handler = toNodeHandler(echoSocket);
    await using server = createServer(handler).on("upgrade", handler.upgrade);
    await using wire = new Wire(await listening(server));
    const h2c = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n";
    expect(await wire.write(h2c).closed).toMatch(/^HTTP\/1\.1 400 [^]*Expected Upgrade: websocket/);
  });

  it("closes the socket of a rejected upgrade, even if its client does not end it", async () => {
    const handler = toNodeHandler(echoSocket);
    await using server = createServer(handler).on("upgrade", handler.upgrade);
    const port = await listening(server);
    const head = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: ";
    expect(await cutOff(port, `${head}h2c\r\n\r\n`)).toMatch(/EPIPE|ECONNRESET/);
    expect(await cutOff(port, `${head}websocket\r\n\r\n`)).toMatch(/EPIPE|ECONNRESET/);
  });

  it("detects that a client has disconnected before its pipelined requests are processed", async () => {
    const COUNT = 40;
    let running = 0;
    const all = new Deferred<void>();
    const none = new Deferred<void>();
    const count = (change: number) => {
      running += change;
      if (running === COUNT) all.resolve();
      if (running === 0) none.resolve();
    };
    const app = new App();
    const held = async function* () {
      count(1);
      yield;
      count(-1);
    };
    // The first waits for its client; the others are done, and wait for the first.
    for (const path of ["/first", "/wait"] as const) {
      app.get(path, { params: { call: Request, _held: Depends(held) } }, async ({ call }) => {
        await new Promise((resolve) => call.signal.addEventListener("abort", resolve));
      });
    }
    app.get("/done", { params: { _held: Depends(held) } }, async () => "done");
    const warnings: Error[] = [];
    const warn = (warning: Error) => warnings.push(warning);
    process.on("warning", warn);
    await using server = createServer(toNodeHandler(app, { logger: new MemoryLogger() }));
    await using wire = new Wire(await listening(server));
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
    wire.write(get("/first") + get("/wait").repeat(COUNT / 2) + get("/done").repeat(COUNT / 2 - 1));
    await all.promise;
    wire.socket.destroy();
    await none.promise;
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", warn);
    expect(warnings).toEqual([]);
  });

  it("adds no listener for each part that its client is waited for", async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error) => warnings.push(warning);
    process.on("warning", warn);
    const handler = toNodeHandler(
      httpApp(async (_scope, _receive, send) => {
        await send({ type: "http.response.start", status: 200 });
        for (let part = 0; part < 30; part++) {
          await send({ type: "http.response.body", body: Buffer.alloc(1 << 20), more_body: true });
        }
        await send({ type: "http.response.body" });
      }),
    );
    await using server = createServer(handler);
    const response = await fetch(`http://127.0.0.1:${await listening(server)}`);
    expect((await response.arrayBuffer()).byteLength).toBe(30 << 20);
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", warn);
    expect(warnings).toEqual([]);
  });

  it("does not call the application for a client that has already disconnected", async () => {
    const calls: string[] = [];
    const handler = toNodeHandler(httpApp(async ({ path }) => void calls.push(path)));
    const handled = new Deferred<void>();
    await using server = createServer((req, res) => {
      req.socket.once("close", () => {
        handler(req, res);
        handled.resolve();
      });
    });
    await using wire = new Wire(await listening(server));
    server.once("request", () => wire.socket.destroy());
    wire.write("GET /gone HTTP/1.1\r\nHost: a\r\n\r\n");
    await handled.promise;
    expect(calls).toEqual([]);
  });

  it("does not write if the host has responded before the call", async () => {
    const calls: string[] = [];
    const handler = toNodeHandler(httpApp(async ({ path }) => void calls.push(path)));
    await using server = createServer((req, res) => {
      res.writeHead(202).write("host");
      handler(req, res);
      res.end();
    });
    const response = await fetch(`http://127.0.0.1:${await listening(server)}/begun`);
    expect([response.status, await response.text(), calls]).toEqual([202, "host", []]);
  });

  it("does not write if the host responds while the application runs, and the application gets a disconnect", async () => {
    const ended = new Deferred<unknown>();
    const logger = new MemoryLogger();
    let respondOfHost = () => {};
    const app = httpApp(async (_scope, _receive, send) => {
      respondOfHost();
      await respond(send, 200, "late").catch((error: unknown) => ended.resolve(error));
    });
    const handler = toNodeHandler(app, { logger });
    await using server = createServer((req, res) => {
      respondOfHost = () => void res.writeHead(504).end("host");
      handler(req, res);
    });
    const response = await fetch(`http://127.0.0.1:${await listening(server)}`);
    expect([response.status, await response.text()]).toEqual([504, "host"]);
    expect(await ended.promise).toBeInstanceOf(ClientDisconnect);
    expect(logger.at("error")).toEqual([]);
  });

  it("works in http.createServer together with other handlers", async () => {
    const handler = toNodeHandler(echo);
    await using server = createServer((req, res) => (req.url === "/other" ? res.end("other") : handler(req, res)));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    expect(await (await fetch(`http://127.0.0.1:${port}/other`)).text()).toBe("other");
    expect(await (await fetch(`http://127.0.0.1:${port}/mine`)).json()).toMatchObject({ path: "/mine" });
  });
});
