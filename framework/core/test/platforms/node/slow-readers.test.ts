/** Clients that read late or not at all: whole responses for the ones, a bound on the wait for the others. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createHTTPServer } from "node:http";
import { createServer as createHTTPSServer } from "node:https";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { connect as connectSecurely, createServer as createSecureServer } from "node:tls";
import { describe, expect, it } from "@jest/globals";
import { ClientDisconnect } from "../../../src/common/exceptions.js";
import { consoleLogger } from "../../../src/common/logger.js";
import { ServerContext } from "../../../src/protocol/server-context.js";
import { ShutdownTimeoutError } from "../../../src/protocol/shutdown.js";
import { DEFAULT_REQUEST_LIMITS } from "../../../src/platforms/node/header-section.js";
import { Connection, type ConnectionSettings } from "../../../src/platforms/node/http1/connection.js";
import { toNodeHandler } from "../../../src/node.js";
import { createHeadEnd } from "../../../src/platforms/node/http1/output.js";
import { SlowReader, takenBytesOf } from "../../../src/platforms/node/slow-reader.js";
import { Deferred } from "../../../src/common/promises.js";
import { httpApp, pair, respond, served, Wire } from "./_http.js";
import { HOST } from "./_http1-table.js";

const fixture = (name: string) => readFileSync(join(import.meta.dirname, "fixtures", name));
const tls = { cert: fixture("localhost.cert.pem"), key: fixture("localhost.key.pem") };

/** More than the buffers of the system take at once on loopback. */
const BODY = Buffer.alloc(24 << 20, "x");
const PART = Buffer.alloc(4096, "x");
const KEPT = `GET / HTTP/1.1\r\n${HOST}\r\n`;

/** Reads a response from its first byte to the end of the connection, and counts the bytes of its body. */
async function readLate(port: number, request: string, begun: Promise<void>): Promise<number> {
  const socket = connect(port, "127.0.0.1").pause();
  socket.write(request);
  await begun;
  const received: Buffer[] = [];
  for await (const chunk of socket as AsyncIterable<Buffer>) received.push(chunk);
  const bytes = Buffer.concat(received);
  return bytes.length - bytes.indexOf("\r\n\r\n") - 4;
}

describe("a response that closes its connection", () => {
  const ways = [
    ["the client asks for it", `GET / HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`],
    ["the client speaks HTTP/1.0", "GET / HTTP/1.0\r\n\r\n"],
    ["the application asks for it", `GET /close HTTP/1.1\r\n${HOST}\r\n`],
    ["the server stops", `GET /drain HTTP/1.1\r\n${HOST}\r\n`],
  ] as const;

  it.each(ways)("reaches a client that reads late as a whole: %s", async (_why, request) => {
    const called = new Deferred<void>();
    const drained = new Deferred<void>();
    const begun = new Deferred<void>();
    await using server = await served(
      httpApp(async ({ path }, _receive, send) => {
        called.resolve();
        if (path === "/drain") await drained.promise;
        const headers = path === "/close" ? [pair("connection", "close")] : [];
        await send({ type: "http.response.start", status: 200, headers });
        const sent = send({ type: "http.response.body", body: BODY });
        begun.resolve();
        await sent;
      }),
    );
    const read = readLate(server.port, request, begun.promise);
    await called.promise;
    const closed = request.includes("/drain") ? server.close() : undefined;
    drained.resolve();
    expect(await read).toBe(BODY.length);
    await closed;
  });
});

describe("a client that does not read", () => {
  it.each([
    ["while its response is sent", KEPT, false],
    ["while its connection closes", `GET / HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`, true],
  ])("is disconnected if it has read no bytes for requestMs: %s", async (_when, request, ends) => {
    const over = new Deferred<unknown>();
    await using server = await served(
      httpApp(async (_scope, _receive, send) => {
        await send({ type: "http.response.start", status: 200 });
        try {
          for (let wait: unknown; ;) {
            if (!ends) await wait;
            else if (wait !== undefined) break;
            wait = send({ type: "http.response.body", body: PART, more_body: true });
          }
          await send({ type: "http.response.body" });
          over.resolve("sent");
        } catch (error) {
          over.resolve(error);
          throw error;
        }
      }),
      { timeouts: { requestMs: 100 } },
    );
    const socket = connect(server.port, "127.0.0.1").pause();
    socket.on("error", () => {});
    socket.write(request);
    expect(await over.promise).toEqual(ends ? "sent" : expect.any(ClientDisconnect));
    socket.destroy();
    await server.close();
  });

  it.each([
    ["http", () => createHTTPServer()],
    ["https", () => createHTTPSServer(tls)],
  ])("is disconnected by toNodeHandler after the requestTimeout of a server of node:%s", async (scheme, create) => {
    const over = new Deferred<unknown>();
    const app = httpApp(async (_scope, _receive, send) => {
      await send({ type: "http.response.start", status: 200 });
      try {
        for (;;) await send({ type: "http.response.body", body: PART, more_body: true });
      } catch (error) {
        over.resolve(error);
        throw error;
      }
    });
    const server = create().on("request", toNodeHandler(app));
    server.requestTimeout = 100;
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    const client =
      scheme === "https" ? connectSecurely({ port, rejectUnauthorized: false }) : connect(port, "127.0.0.1");
    client.on("error", () => {}).pause();
    client.write(KEPT);
    expect(await over.promise).toBeInstanceOf(ClientDisconnect);
    client.destroy();
    server.close();
  });

  it("does not keep the server from stopping in time, nor the application from its cleanup", async () => {
    const begun = new Deferred<void>();
    const order: string[] = [];
    await using server = await served(
      async (scope, receive, send) => {
        if (scope.type === "http") {
          await send({ type: "http.response.start", status: 200 });
          const sent = send({ type: "http.response.body", body: BODY });
          begun.resolve();
          await sent;
          order.push("request");
        } else if (scope.type === "lifespan") {
          await receive();
          await send({ type: "lifespan.startup.complete" });
          await receive();
          order.push("shutdown");
          await send({ type: "lifespan.shutdown.complete" });
        }
      },
      { shutdownTimeoutMs: 2000 },
    );
    const socket = connect(server.port, "127.0.0.1").pause();
    socket.on("error", () => {});
    socket.write(KEPT);
    await begun.promise;
    const failure = await server.close().then(
      () => null,
      (error: unknown) => error,
    );
    socket.destroy();
    expect(failure).not.toBeInstanceOf(ShutdownTimeoutError);
    expect(order).toEqual(["request", "shutdown"]);
  });
});

describe("a stream of a server that stops", () => {
  /** A tenth of it is the time that data may stay unread: on a busy machine the client is not scheduled for so long. */
  const STOPS_MS = 5000;

  /** Stops a server in the middle of an endless stream. */
  async function stopping(read: (socket: Socket) => void): Promise<unknown> {
    const begun = new Deferred<void>();
    await using server = await served(
      httpApp(async (_scope, _receive, send) => {
        await send({ type: "http.response.start", status: 200 });
        const chunk = Buffer.alloc(65_536, "x");
        for (;;) {
          const sent = send({ type: "http.response.body", body: chunk, more_body: true });
          begun.resolve();
          await sent;
          await setImmediate();
        }
      }),
      { shutdownTimeoutMs: STOPS_MS },
    );
    const socket = connect(server.port, "127.0.0.1").pause();
    socket.on("error", () => {});
    socket.write(KEPT);
    read(socket);
    await begun.promise;
    const outcome = await server.close().then(
      () => "closed",
      (error: unknown) => error,
    );
    socket.destroy();
    return outcome;
  }

  it("is cut before the timeout of the shutdown if its client does not read it", async () => {
    expect(await stopping(() => {})).toBe("closed");
  });

  it("continues until the timeout of the shutdown if its client reads it, even slowly", async () => {
    const outcome = await stopping((socket) => {
      const timer = setInterval(() => socket.read(), 5);
      socket.on("close", () => clearInterval(timer));
    });
    expect(outcome).toEqual(new ShutdownTimeoutError(["GET /"], STOPS_MS));
  });
});

describe("a client that reads slowly", () => {
  const WAITING = 65_536;

  it("is not late while it reads chunks of one size, and is late when it stops", () => {
    const reader = new SlowReader();
    const isLate = (takenBytes: number, now: number) => reader.isLate(takenBytes, WAITING, now, 1000);
    const rounds = [1, 2, 3, 4].map((round) => isLate(round * WAITING, round * 4000));
    expect(rounds).toEqual([false, false, false, false]);
    expect([isLate(4 * WAITING, 21_000), isLate(4 * WAITING, 22_000)]).toEqual([false, true]);
  });

  it("is not late with a response that follows a long pause", () => {
    const reader = new SlowReader();
    expect(reader.isLate(10, 0, 1000, 5000)).toBe(false);
    expect(reader.isLate(10, WAITING, 60_000, 5000)).toBe(false);
    expect(reader.isLate(10, WAITING, 70_000, 5000)).toBe(true);
  });

  it("is late when it has used up its time, though it reads a little each time", () => {
    const reader = new SlowReader();
    const lateAt = (bytesPerMs: number) => {
      for (let now = 0; now <= 100_000; now += 100) {
        if (reader.isLate(now * bytesPerMs, WAITING, now, 1000)) return now;
      }
      return null;
    };
    expect(lateAt(8)).toBe(10_200); // half the least rate: twice the time
    reader.isLate(0, 0, 0, 1000);
    expect(lateAt(16)).toBeNull();
  });

  it("does not save up time while it reads fast", () => {
    const reader = new SlowReader();
    reader.isLate(0, WAITING, 0, 1000);
    reader.isLate(1e9, WAITING, 1000, 1000);
    expect(reader.isLate(1e9, WAITING, 1000 + 5096, 1000)).toBe(true);
  });

  it("has a thirtieth of the time while many bytes wait for the clients of the server", () => {
    const reader = new SlowReader();
    reader.isLate(0, WAITING, 0, 300_000);
    expect(reader.isLate(0, WAITING, 1000, 300_000, true)).toBe(false);
    expect(reader.isLate(0, WAITING, 1000 + 10_000 + 4096, 300_000, true)).toBe(true);
  });

  it("keeps its connection while it reads a response in parts of one size, and loses it when it stops", async () => {
    const part = Buffer.alloc(WAITING);
    const app = httpApp(async (_scope, _receive, send) => {
      await send({
        type: "http.response.start",
        status: 200,
        headers: [pair("content-length", String(WAITING * 10_000))],
      });
      for (;;) await send({ type: "http.response.body", body: part, more_body: true });
    });
    const settings: ConnectionSettings = {
      context: new ServerContext(app, consoleLogger, { state: {} }),
      limits: DEFAULT_REQUEST_LIMITS,
      timeouts: { headersMs: 0, requestMs: 1000, keepAliveMs: 0, webSocketPingMs: 0 },
      headEnd: createHeadEnd(0),
      checkIntervalMs: 1000,
      now: 0,
      waitingBytes: 0,
      isCrowded: false,
      upgrade: () => {},
      acceptHTTP2: null,
      wake: () => {},
    };
    const listener = createServer().listen(0, "127.0.0.1");
    await once(listener, "listening");
    const client = connect((listener.address() as { port: number }).port, "127.0.0.1").pause();
    const [socket] = (await once(listener, "connection")) as [Socket];
    const connection = new Connection(socket, null, settings);
    client.write(KEPT);
    const check = () => {
      settings.now += 4000;
      connection.checkTime();
      return socket.destroyed;
    };
    for (let round = 0; round < 5; round++) {
      const before = takenBytesOf(socket);
      while (takenBytesOf(socket) === before || socket.writableLength < WAITING) {
        client.read();
        await setImmediate();
      }
      expect(check()).toBe(false);
    }
    expect([check(), check()]).toEqual([false, true]);
    client.destroy();
    listener.close();
  });

  it.each(["without", "with"])("takes bytes of the write in progress, %s TLS", async (way) => {
    const isSecure = way === "with";
    const listener = isSecure ? createSecureServer(tls) : createServer();
    listener.listen(0, "127.0.0.1");
    await once(listener, "listening");
    const { port } = listener.address() as { port: number };
    const accepted = once(listener, isSecure ? "secureConnection" : "connection") as Promise<[Socket]>;
    const client = isSecure ? connectSecurely({ port, rejectUnauthorized: false }) : connect(port, "127.0.0.1");
    client.on("error", () => {}).pause();
    const [socket] = await accepted;
    socket.write(BODY);
    const before = takenBytesOf(socket);
    client.resume();
    while (takenBytesOf(socket) === before && socket.writableLength > 0) await setImmediate();
    expect(takenBytesOf(socket)).toBeGreaterThan(before);
    client.destroy();
    socket.destroy();
    listener.close();
  });
});

const HANDSHAKE = `GET /ws HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`;

describe("a WebSocket handshake", () => {
  it("is rejected if it waited for another request and its client has ended its side", async () => {
    const types: string[] = [];
    await using server = await served(async (scope, receive, send) => {
      types.push(scope.type);
      if (scope.type !== "http") return;
      await receive();
      expect((await receive()).type).toBe("http.disconnect"); // the end of the client's side has come
      await respond(send, 200, "first");
    });
    await using wire = new Wire(server.port);
    wire.write(KEPT + HANDSHAKE).socket.end();
    expect(await wire.closed).toMatch(/^HTTP\/1\.1 200 [^]*firstHTTP\/1\.1 400 /);
    expect(types).toEqual(["lifespan", "http"]);
  });

  it("without a response from the application gets 504 after requestMs", async () => {
    const left = new Deferred<string>();
    await using server = await served(
      async (scope, receive) => {
        if (scope.type !== "websocket") return;
        await receive();
        left.resolve((await receive()).type);
      },
      { timeouts: { requestMs: 50 } },
    );
    await using wire = new Wire(server.port);
    expect(await wire.write(HANDSHAKE).closed).toMatch(/^HTTP\/1\.1 504 /);
    expect(await left.promise).toBe("websocket.disconnect");
  });
});
