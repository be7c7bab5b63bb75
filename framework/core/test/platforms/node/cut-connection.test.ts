/** Responses that are cut: their clients see that they are not whole. */
import { mkdtempSync, readFileSync } from "node:fs";
import { createServer as createHTTPServer } from "node:http";
import { type ClientHttp2Stream, connect as connectHTTP2, constants } from "node:http2";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTLS } from "node:tls";
import { describe, expect, it } from "@jest/globals";
import type { ASGIApp, Send } from "../../../src/protocol/asgi.js";
import { Deferred } from "../../../src/common/promises.js";
import { toNodeHandler, type ServeOptions } from "../../../src/node.js";
import { httpApp, MemoryLogger, pair, served, type Served, Wire } from "./_http.js";

const fixture = (name: string) => readFileSync(join(import.meta.dirname, "fixtures", name));
const TLS = { cert: fixture("localhost.cert.pem"), key: fixture("localhost.key.pem") };
const HTTP10 = "GET / HTTP/1.0\r\nHost: a\r\n\r\n";
const HTTP11 = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const OLD_POST = "POST / HTTP/1.0\r\nHost: a\r\nContent-Length: 0\r\n\r\n";

async function begin(send: Send, type: string, chunk: string): Promise<void> {
  await send({ type: "http.response.start", status: 200, headers: [pair("content-type", type)] });
  await send({ type: "http.response.body", body: Buffer.from(chunk), more_body: true });
}

/** A stream that never ends by itself. */
function streaming(type: string, chunk: string): { app: ASGIApp; begun: Promise<void> } {
  const begun = new Deferred<void>();
  const app = httpApp(async (_scope, receive, send) => {
    await receive();
    await begin(send, type, chunk);
    begun.resolve();
    await receive();
  });
  return { app, begun: begun.promise };
}

/** A stream that fails when it is told to. */
function failing(): { app: ASGIApp; fail: () => void } {
  const failed = new Deferred<void>();
  const app = httpApp(async (_scope, _receive, send) => {
    await begin(send, "text/plain", "half");
    await failed.promise;
    throw new Error("on purpose");
  });
  return { app, fail: () => failed.resolve() };
}

const EVENT = "data: 1\n\n";
const KEPT_EVENT = "id: 1\ndata: 1\n\n";

/** The ways in which a server cuts a response, or ends it. */
const STOPS = [
  ["cuts an event stream when it stops", "text/event-stream", EVENT, HTTP10, 10_000],
  ["cuts a stream at the timeout of the shutdown", "text/plain", "half", OLD_POST, 100],
  ["ends an event stream with ids when it stops", "text/event-stream", KEPT_EVENT, HTTP10, 10_000],
] as const;

/** Stops a server in the middle of a response. */
async function stopped(server: Served, begun: Promise<void>): Promise<void> {
  await begun;
  await server.close().catch(() => {});
}

/** A client that reads a response. */
class Reader {
  /** The code of the error that it sees at the end, or `"end"`. */
  readonly end: Promise<string>;
  readonly #received = new Deferred<void>();

  constructor(port: number, request: string) {
    const socket: Socket = connect(port, "127.0.0.1");
    let end = "end";
    this.end = new Promise((resolve) => {
      socket.on("error", ({ code = "error" }: NodeJS.ErrnoException) => (end = code)).on("close", () => resolve(end));
    });
    socket.on("data", () => this.#received.resolve());
    socket.write(request);
  }

  /** Waits for the first bytes. libuv reports a reset as an end if it arrives with bytes that were not read before. */
  received(): Promise<void> {
    return this.#received.promise;
  }
}

describe("a server without chunks and lengths, as on HTTP/1.0,", () => {
  it.each(STOPS)("%s: over TCP", async (way, type, chunk, request, shutdownTimeoutMs) => {
    const { app, begun } = streaming(type, chunk);
    await using server = await served(app, { shutdownTimeoutMs });
    const client = new Reader(server.port, request);
    await client.received();
    await stopped(server, begun);
    expect(await client.end).toBe(way.startsWith("ends") ? "end" : "ECONNRESET");
  });

  it.each(STOPS)("%s: over TLS, without close_notify for a cut", async (way, type, chunk, request, timeoutMs) => {
    const { app, begun } = streaming(type, chunk);
    await using server = await served(app, { shutdownTimeoutMs: timeoutMs, tls: TLS });
    const alerts = await tlsAlerts(server, request, () => stopped(server, begun));
    expect(alerts).toBe(way.startsWith("ends") ? 1 : 0);
  });

  it.each(STOPS)("%s: over a Unix socket, where both are an end", async (_way, type, chunk, request, timeoutMs) => {
    const { app, begun } = streaming(type, chunk);
    const path = join(mkdtempSync(join(tmpdir(), "tsgi-")), "socket");
    await using server = await served(app, { shutdownTimeoutMs: timeoutMs, path });
    await using wire = new Wire(connect(path));
    wire.write(request);
    await stopped(server, begun);
    expect(await wire.closed).toContain(chunk);
  });

  it("resets the connection of a stream that fails", async () => {
    const { app, fail } = failing();
    await using server = await served(app);
    const client = new Reader(server.port, HTTP10);
    await client.received();
    fail();
    expect(await client.end).toBe("ECONNRESET");
  });

  it.each([
    [HTTP10, "ECONNRESET"],
    [HTTP11, "end"],
  ])("resets the connection of a stream that fails in toNodeHandler: %j", async (request, end) => {
    const { app, fail } = failing();
    const server = createHTTPServer(toNodeHandler(app, { logger: new MemoryLogger() })).listen(0, "127.0.0.1");
    await once(server, "listening");
    const client = new Reader((server.address() as AddressInfo).port, request);
    await client.received();
    fail();
    expect(await client.end).toBe(end);
    server.close();
  });

  it("ends a response that its client has not read when it is complete", async () => {
    const body = Buffer.alloc(24 << 20, "x");
    const sent = new Deferred<void>();
    await using server = await served(
      httpApp(async (_scope, _receive, send) => {
        await send({ type: "http.response.start", status: 200 });
        void send({ type: "http.response.body", body, more_body: true });
        void send({ type: "http.response.body" });
        sent.resolve();
      }),
    );
    const socket = connect(server.port, "127.0.0.1").pause();
    socket.write(HTTP10);
    await sent.promise;
    const closed = server.close();
    let bytes = 0;
    for await (const chunk of socket as AsyncIterable<Buffer>) bytes += chunk.length;
    expect(bytes).toBeGreaterThan(body.length);
    await closed;
  });
});

/**
 * Sends a request over TLS 1.2, whose records show their type, and counts the alerts of the server: a `close_notify` is one.
 */
async function tlsAlerts(server: Served, request: string, stop: () => Promise<void>): Promise<number> {
  const received: Buffer[] = [];
  const tap = createServer({ allowHalfOpen: true }, (client) => {
    const inner = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true });
    client.pipe(inner).on("data", (chunk: Buffer) => received.push(chunk));
    inner.pipe(client);
    for (const socket of [client, inner]) socket.on("error", () => {}).on("close", () => socket.destroy());
  }).listen(0, "127.0.0.1");
  await once(tap, "listening");
  const { port } = tap.address() as AddressInfo;
  const socket = connectTLS({ port, host: "127.0.0.1", rejectUnauthorized: false, maxVersion: "TLSv1.2" });
  socket.on("error", () => {}).resume();
  socket.write(request);
  await stop();
  if (!socket.closed) await once(socket, "close");
  tap.close();
  const bytes = Buffer.concat(received);
  let alerts = 0;
  for (let at = 0; at < bytes.length; at += 5 + bytes.readUInt16BE(at + 3)) if (bytes[at] === 21) alerts++;
  return alerts;
}

describe("a server of HTTP/2", () => {
  const cases = [
    ["cuts an event stream when it stops", "GET", "text/event-stream", EVENT, 10_000],
    ["cuts a stream at the timeout of the shutdown", "POST", "text/plain", "half", 200],
    ["ends an event stream with ids when it stops", "GET", "text/event-stream", KEPT_EVENT, 10_000],
  ] as const;

  it.each(cases)("%s, by RST_STREAM with INTERNAL_ERROR for a cut", async (way, method, type, chunk, timeoutMs) => {
    const { app, begun } = streaming(type, chunk);
    const options: ServeOptions = { shutdownTimeoutMs: timeoutMs, http2: true };
    await using server = await served(app, options);
    const session = connectHTTP2(server.url);
    const stream: ClientHttp2Stream = session.request({ ":method": method, ":path": "/" });
    const closed = new Promise((resolve) => stream.on("close", () => resolve(stream.rstCode)));
    stream.on("error", () => {}).resume();
    stream.end();
    await stopped(server, begun);
    expect(await closed).toBe(way.startsWith("ends") ? constants.NGHTTP2_NO_ERROR : constants.NGHTTP2_INTERNAL_ERROR);
    session.destroy();
  });
});
