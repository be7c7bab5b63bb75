import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { WebSocket } from "ws";
import { App, type ASGIApp, type ErrorFacts, errorFormat, type ReceiveMessage, t } from "tsgi";
import { installLoop, loopName } from "tsgi/concurrency";
import { fromNodeHandler } from "tsgi/node";
import { useLoopPackage } from "../../core/src/platforms/concurrency/loop.js";
import { decodeLatin1 } from "../../core/src/protocol/bytes.js";
import { Deferred } from "../../core/src/common/promises.js";
import {
  httpApp,
  MemoryLogger,
  pair,
  readBody,
  refusesConnections,
  respond,
  served,
  Wire,
  type Served,
} from "../../core/test/platforms/node/_http.js";
import { accepted, HOST, refused } from "../../core/test/platforms/node/_http1-table.js";
import { fetchedUws } from "./_uws.js";

const uws = fetchedUws();
const onUws = uws === null ? describe.skip : describe;
const GET = `GET / HTTP/1.1\r\n${HOST}\r\n`;
const hello = httpApp((_scope, _receive, send) => respond(send, 200, "hello"));

/** Requests that it accepts, because it exposes neither bytes that are not UTF-8 nor header lines without a name. */
const unseen = new Set(["bytes beyond US-ASCII in Host", "RFC 9112 §5: a header line without a name"]);
/** Requests that its parser takes for incomplete heads, or closes the connection for. */
const unmet = new Set([
  "HTTP/1.0 without a Host",
  "RFC 9112 §2.2: an empty line before the request line",
  "exactly 100 header lines",
  "RFC 9112 §3.2.2: an absolute target, whose authority counts",
  "an absolute target without a path",
  "RFC 9110 §8.6: zeros before a Content-Length",
  "RFC 9110 §10.1.1: an expectation of an HTTP/1.0 client",
]);

const calls: string[] = [];
const echo = httpApp(async (scope, receive, send) => {
  calls.push(`${scope.method} ${scope.path}`);
  const text = JSON.stringify({
    method: scope.method,
    path: scope.path,
    query: decodeLatin1(scope.query_string ?? new Uint8Array(0)),
    headers: Array.from(scope.headers ?? [], ([name, value]) => [decodeLatin1(name), decodeLatin1(value)]),
    body: (await readBody(receive)).toString(),
  });
  await respond(send, 200, text);
});

describe("without uWebSockets.js", () => {
  it("the standard loop serves without an error, even if the other one is requested", async () => {
    useLoopPackage(null);
    await using server = await served(hello, { loop: "uwebsockets" });
    expect(server.loop).toBe("libuv");
    expect(await (await fetch(server.url)).text()).toBe("hello");
    expect(server.logger.at("warn").map(({ message }) => message)).toEqual([
      expect.stringContaining("This server runs on libuv: @tsgi/uwebsockets is not installed"),
    ]);
  });

  if (uws === null) {
    it("the tests of that loop are skipped: fetch it with `node framework/scripts/uws.js`", () => {
      expect(loopName()).toBe("libuv");
    });
  }
});

onUws("a server on uWebSockets.js", () => {
  let server: Served;
  beforeAll(async () => {
    useLoopPackage(uws);
    installLoop("uwebsockets");
    server = await served(echo);
  });
  afterAll(async () => {
    await server.close();
    installLoop("libuv");
    useLoopPackage(null);
  });

  it("is the default if it is installed", async () => {
    expect([loopName(), server.loop]).toEqual(["uwebsockets", "uwebsockets"]);
    await using other = await served(hello, { loop: "libuv" });
    expect(other.loop).toBe("libuv");
  });

  it.each([
    ["compression", { webSocketCompression: true }],
    ["HTTP/2", { http2: true }],
  ])("uses libuv for unsupported features: %s", async (what, options) => {
    await using other = await served(hello, options);
    expect(other.loop).toBe("libuv");
    expect(other.logger.at("info").map(({ message }) => message)).toContain(
      `This server runs on libuv: uWebSockets.js is not used for ${what}.`,
    );
  });

  it("reports a port that is in use", async () => {
    await expect(served(hello, { port: server.port })).rejects.toMatchObject({ code: "EADDRINUSE" });
  });

  it.each(refused.filter(([rule]) => !unseen.has(rule)))(
    "never calls the application for %s",
    async (_rule, request, status) => {
      const before = calls.length;
      await using wire = new Wire(server.port);
      wire.write(request);
      for (let fence = 0; fence < 3; fence++) {
        await using next = new Wire(server.port);
        await next.write(`GET /good HTTP/1.1\r\n${HOST}\r\n`).until(/"path":"\/good"/);
      }
      expect(calls.slice(before)).toEqual(Array.from({ length: 3 }, () => "GET /good"));
      // uWebSockets does not respond: it closes, or waits for the rest of an incomplete head.
      const answer = /^(?:HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 (\d{3}) /.exec(wire.received)?.[1];
      expect([undefined, String(status)]).toContain(answer);
    },
  );

  it.each(refused.filter(([rule]) => /^RFC 9112 §6\.1: .*(?:gzip|chunked$|identity)|two Content-Lengths/.test(rule)))(
    "responds to %s, which could smuggle a request, and closes",
    async (_rule, request, status) => {
      await using wire = new Wire(server.port);
      expect(await wire.write(request).closed).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    },
  );

  it("rejects requests in the format of an App with errorFormat", async () => {
    const write = ({ status, scope }: ErrorFacts) => ({ code: status, scope });
    const app = new App({ errorFormat: errorFormat({ schema: t.Any(), write }) });
    await using own = await served((...call) => app(...call));
    await using wire = new Wire(own.port);
    const request = `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: gzip\r\n\r\n`;
    expect(await wire.write(request).closed).toMatch(/^HTTP\/1\.1 501 [^]*\{"code":501,"scope":null\}/);
  });

  it.each(accepted.filter(([rule]) => !unmet.has(rule)))("lets through %s", async (_rule, request, told) => {
    await using wire = new Wire(server.port);
    const answer = await wire.write(request).until(/\}$/);
    expect(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4))).toMatchObject(told);
  });

  it("responds to HEAD with the length and no body", async () => {
    await using own = await served(hello);
    await using wire = new Wire(own.port);
    await wire.write(GET.replace("GET", "HEAD")).until(/\r\n\r\n/);
    expect(await wire.write(GET).until(/hello$/)).toMatch(
      /^HTTP\/1\.1 200 OK\r\ncontent-length: 5\r\n(?:(?!content-length).*\r\n)+\r\nHTTP\/1\.1 200 OK/,
    );
  });

  it("keeps names, values and a status of the application's, and its latin-1 bytes", async () => {
    await using own = await served(
      httpApp((_scope, _receive, send) =>
        respond(send, 404, "", [
          ["X-A", "b\xe9"],
          ["Set-Cookie", "a=1"],
          ["Set-Cookie", "b=2"],
        ]),
      ),
    );
    await using wire = new Wire(own.port);
    const answer = await wire.write(GET).until(/\r\n\r\n/);
    expect(answer).toMatch(/^HTTP\/1\.1 404 Not Found\r\nX-A: b\xe9\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n/);
    expect(answer).toMatch(/\r\ncontent-length: 0\r\n/i);
  });

  it.each([
    ["chunked", [] as [Uint8Array, Uint8Array][]],
    ["of an announced length", [pair("content-length", String(64 * 300_000))]],
  ])("streams a body that is %s to a client that reads slowly, and waits for it", async (_what, headers) => {
    const waiting = new Deferred<void>();
    await using own = await served(
      httpApp(async (_scope, _receive, send) => {
        await send({ type: "http.response.start", status: 200, headers });
        for (let index = 0; index < 64; index++) {
          const done = send({
            type: "http.response.body",
            body: Buffer.alloc(300_000, "Q"),
            more_body: true,
          });
          if (done !== undefined) waiting.resolve();
          await done;
        }
        await send({ type: "http.response.body" });
      }),
    );
    const socket = connect(own.port, "127.0.0.1");
    socket.write(GET.replace("Host", "Connection: close\r\nHost"));
    await waiting.promise;
    let bodyBytes = 0;
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      bodyBytes += chunk.reduce((count, byte) => count + (byte === 81 ? 1 : 0), 0);
    }
    expect(bodyBytes).toBe(64 * 300_000);
    expect(own.logger.at("error")).toEqual([]);
  });

  it("has the client's address until the response has ended", async () => {
    const seen: unknown[] = [];
    await using own = await served(
      httpApp(async (scope, _receive, send) => {
        if (scope.path === "/before") seen.push([...(scope.client ?? [])], JSON.stringify({ ...scope }.client));
        await respond(send, 200, "hello");
        seen.push(scope.client?.[0]);
      }),
    );
    await (await fetch(`${own.url}/before`)).text();
    await (await fetch(`${own.url}/after`)).text();
    expect(seen).toEqual([["127.0.0.1", null], '["127.0.0.1",null]', "127.0.0.1", "unknown"]);
  });

  it("receives a large upload as the application reads it", async () => {
    const length = 20_000_000;
    await using own = await served(
      httpApp(async (_scope, receive, send) => respond(send, 200, String((await readBody(receive)).length))),
    );
    const answer = await fetch(own.url, { method: "POST", body: Buffer.alloc(length) });
    expect(await answer.text()).toBe(String(length));
  });

  it("closes after a response that leaves a large body unread", async () => {
    await using own = await served(hello);
    await using wire = new Wire(own.port);
    wire.write(`POST / HTTP/1.1\r\n${HOST}Content-Length: 10000000\r\n\r\n${"a".repeat(1000)}`);
    expect(await wire.closed).toMatch(/^HTTP\/1\.1 200 [^]*Connection: close\r\n[^]*hello$/i);
  });

  it("continues with the next request after a response that leaves a body unread that was paused", async () => {
    const entered = new Deferred<void>();
    const answer = new Deferred<void>();
    await using own = await served(
      httpApp(async ({ method }, _receive, send) => {
        entered.resolve();
        if (method === "POST") await answer.promise;
        await respond(send, 200, method);
      }),
    );
    await using wire = new Wire(own.port);
    wire.write(`POST / HTTP/1.1\r\n${HOST}Content-Length: 90000\r\n\r\n`);
    await entered.promise;
    wire.write("a".repeat(70_000));
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve)); // until all of it is here
    answer.resolve();
    await wire.until(/POST$/);
    wire.write(`${"a".repeat(20_000)}GET / HTTP/1.1\r\n${HOST}\r\n`);
    expect(await wire.until(/GET$/)).toMatch(/^HTTP\/1\.1 200 [^]*POSTHTTP\/1\.1 200 /);
    expect(own.logger.at("error")).toEqual([]);
  });

  it("notifies the application if its client disconnects", async () => {
    const entered = new Deferred<void>();
    const told = new Deferred<ReceiveMessage>();
    await using own = await served(
      httpApp(async (_scope, receive) => {
        await receive();
        entered.resolve();
        told.resolve(await receive());
      }),
    );
    {
      await using wire = new Wire(own.port);
      wire.write(GET);
      await entered.promise;
    }
    expect(await told.promise).toEqual({ type: "http.disconnect" });
    expect(own.logger.at("error")).toEqual([]);
  });

  it("responds with 500 if an application throws, and aborts a response that has started", async () => {
    await using own = await served(
      httpApp(async (scope, _receive, send) => {
        if (scope.path === "/late") {
          await send({ type: "http.response.start", status: 200 });
          await send({ type: "http.response.body", body: Buffer.from("half"), more_body: true });
        }
        throw new Error("broken");
      }),
    );
    await using early = new Wire(own.port);
    expect(await early.write(GET).until(/\}$/)).toMatch(/^HTTP\/1\.1 500 [^]*\{"detail":"Internal Server Error"\}$/);
    await using late = new Wire(own.port);
    expect(await late.write(GET.replace("/", "/late")).closed).not.toMatch(/0\r\n\r\n$/);
    expect(own.logger.at("error")).toHaveLength(2);
  });

  it("lets running requests finish, and a stream of events with ids end, when it stops", async () => {
    const entered = new Deferred<void>();
    const release = new Deferred<void>();
    await using own = await served(
      httpApp(async (scope, receive, send) => {
        if (scope.path === "/events") {
          await receive();
          await send({
            type: "http.response.start",
            status: 200,
            headers: [pair("content-type", "text/event-stream")],
          });
          await send({ type: "http.response.body", body: Buffer.from("id: 1\ndata: 1\n\n"), more_body: true });
          await receive();
          return;
        }
        entered.resolve();
        await release.promise;
        await respond(send, 200, "finished");
      }),
    );
    await using events = new Wire(own.port);
    await events.write(GET.replace("/", "/events")).until(/data: 1/);
    await using wire = new Wire(own.port);
    wire.write(GET);
    await entered.promise;
    const closed = own.close();
    await refusesConnections(own.port);
    release.resolve();
    expect(await wire.closed).toMatch(/Connection: close\r\n[^]*finished$/i);
    expect(await events.until(/\r\n0\r\n\r\n$/)).toContain("data: 1");
    await closed;
  });

  it("logs the running requests if closing takes too long", async () => {
    const entered = new Deferred<void>();
    await using own = await served(
      httpApp(() => {
        entered.resolve();
        return new Promise<never>(() => {});
      }),
      { shutdownTimeoutMs: 50 },
    );
    await using wire = new Wire(own.port);
    wire.write(GET);
    await entered.promise;
    await expect(own.close()).rejects.toMatchObject({ running: ["GET /"] });
    await wire.closed;
  });

  describe("its WebSockets", () => {
    /** Accepts, and echoes messages. */
    const echoSocket: ASGIApp = async (scope, receive, send) => {
      if (scope.type !== "websocket") return;
      await receive();
      if (scope.path === "/forbidden") {
        await send({ type: "websocket.close", code: 1000 });
        return;
      }
      if (scope.path === "/4004") {
        await send({ type: "websocket.close", code: 4004, reason: "no route" });
        return;
      }
      const [subprotocol] = scope.subprotocols ?? [];
      const headers = [pair("x-a", "b")];
      await send({ type: "websocket.accept", subprotocol: subprotocol ?? null, headers, max_message_bytes: 100_000 });
      if (scope.path === "/throw") throw new Error("broken");
      for (;;) {
        const message = await receive();
        if (message.type !== "websocket.receive") {
          closes.push(message.type === "websocket.disconnect" ? (message.code ?? 0) : 0);
          return;
        }
        if (message.text === "done") return;
        await send({ type: "websocket.send", text: message.text ?? null, bytes: message.bytes ?? null });
      }
    };
    const closes: number[] = [];
    const open = (own: Served, path = "/", protocols: string[] = []) =>
      new WebSocket(`${own.url.replace("http", "ws")}${path}`, protocols);
    const closed = async (socket: WebSocket) => {
      const [code, reason] = (await once(socket, "close")) as [number, Buffer];
      return [code, reason.toString()];
    };

    it("carry text and bytes both ways, with subprotocol and headers", async () => {
      await using own = await served(echoSocket);
      const socket = open(own, "/", ["chat", "other"]);
      const [[upgrade]] = (await Promise.all([once(socket, "upgrade"), once(socket, "open")])) as [
        [{ headers: object }],
        unknown,
      ];
      expect(upgrade.headers).toMatchObject({ "x-a": "b", "sec-websocket-protocol": "chat" });
      socket.send("héllo");
      expect(String((await once(socket, "message"))[0])).toBe("héllo");
      socket.send(Buffer.alloc(70_000, 7));
      const [bytes, isBinary] = (await once(socket, "message")) as [Buffer, boolean];
      expect([bytes.length, isBinary]).toEqual([70_000, true]);
      socket.close(4001);
      await closed(socket);
      while (closes.length === 0) await new Promise(setImmediate);
      expect(closes.pop()).toBe(4001);
    });

    it.each([
      ["the application returns", "/", "done", [1000, ""]],
      ["the application throws", "/throw", null, [1011, ""]],
      ["a code of its own comes before accept", "/4004", null, [4004, "no route"]],
      ["a message is over the application's bound", "/", "a".repeat(100_001), [1009, ""]],
    ])("close as they should when %s", async (_when, path, sent, told) => {
      await using own = await served(echoSocket);
      const socket = open(own, path);
      socket.once("open", () => sent !== null && socket.send(sent));
      expect(await closed(socket)).toEqual(told);
    });

    it("are rejected with 403 if the application closes first", async () => {
      await using own = await served(echoSocket);
      const [error] = (await once(open(own, "/forbidden"), "error")) as [Error];
      expect(error.message).toContain("403");
    });

    it("are closed with 1012 when the server stops", async () => {
      await using own = await served(echoSocket);
      const socket = open(own);
      await once(socket, "open");
      const end = closed(socket);
      await own.close();
      expect((await end)[0]).toBe(1012);
    });

    it("are a 501 below a mounted server of node:http, whose sockets it cannot pass on", async () => {
      const app = new App({ logger: new MemoryLogger() });
      app.mount("/legacy", fromNodeHandler(createServer().on("upgrade", (_req, socket) => socket.destroy())));
      await using own = await served(app);
      const socket = open(own, "/legacy/live").on("error", () => {});
      const [, response] = (await once(socket, "unexpected-response")) as [unknown, IncomingMessage];
      socket.terminate();
      expect(response.statusCode).toBe(501);
    });

    it("buffer messages that a slow application has not read, and close if the client sends without end", async () => {
      await using own = await served(
        async (scope, receive, send) => {
          if (scope.type !== "websocket") return;
          await receive();
          await send({ type: "websocket.accept" });
          await new Promise(() => {});
        },
        { shutdownTimeoutMs: 10 },
      );
      const socket = open(own);
      await once(socket, "open");
      for (let index = 0; index < 1100; index++) socket.send("x");
      expect(await closed(socket)).toEqual([1008, "Too many messages wait"]);
    });
  });
});
