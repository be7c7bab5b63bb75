/** The six drivers of this process. @module */
import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:http2";
import type { AddressInfo } from "node:net";
import type { ASGIApp } from "../../src/protocol/asgi.js";
import { useLoopPackage } from "../../src/platforms/concurrency/loop.js";
import type { ClientWebSocket, HandshakeResponse } from "@tsgi/conformance";
import { serve, toNodeHandler } from "../../src/node.js";
import { TestClient, type TestWebSocket, WebSocketRefusedError } from "../../src/platforms/testing/index.js";
import { toFetchHandler } from "../../src/platforms/web/index.js";
import { fetchedUws } from "../../../uwebsockets/test/_uws.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import type { Driver, Endpoint, Handshake, Settings } from "./_driver.js";
import { FetchClient } from "./_fetch-client.js";
import { HTTP1Client } from "./_http1-client.js";
import { HTTP2Client } from "./_http2-client.js";

const uws = fetchedUws();

/** The driver of uWebSockets.js. */
const onUws = (loop: NonNullable<typeof uws>): Driver => ({
  name: "uWebSockets.js",
  httpVersion: "1.1",
  start: startUws,
  lacks: {},
  open: async () => useLoopPackage(loop),
  close: async () => useLoopPackage(null),
});

const settings = { port: 0, signals: false };

function toOptions({ logger, shutdownTimeoutMs = 10_000 }: Settings): Omit<Settings, "state"> {
  return { logger, shutdownTimeoutMs };
}

async function startHTTP1(app: ASGIApp, given: Settings): Promise<Endpoint> {
  const { url, close } = await serve(app, { ...settings, ...toOptions(given), loop: "libuv" });
  const { request, websocket, cut } = new HTTP1Client(url);
  return { request, websocket, cut, stop: close };
}

async function startHTTP2(app: ASGIApp, given: Settings): Promise<Endpoint> {
  const { url, close } = await serve(app, { ...settings, ...toOptions(given), http2: true });
  const { request, cut } = new HTTP2Client(url);
  return { request, cut, stop: close };
}

async function startNodeHandler(
  app: ASGIApp,
  { logger, shutdownTimeoutMs: timeoutMs = 10_000 }: Settings,
): Promise<Endpoint> {
  const handler = toNodeHandler(app, { logger });
  const server = createServer(handler).on("upgrade", handler.upgrade).listen(0, "127.0.0.1");
  await once(server, "listening");
  await handler.start();
  const { request, websocket, cut } = new HTTP1Client(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const stop = async (): Promise<void> => {
    try {
      await handler.close({ timeoutMs });
    } finally {
      // Not before: Node destroys connections whose responses have ended, even if their clients have not read them.
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    }
  };
  return { request, websocket, cut, stop };
}

async function startUws(app: ASGIApp, given: Settings): Promise<Endpoint> {
  const { url, close, loop } = await serve(app, { ...settings, ...toOptions(given), loop: "uwebsockets" });
  if (loop !== "uwebsockets") throw new Error(`The server runs on ${loop}.`);
  const { request, websocket, cut } = new HTTP1Client(url);
  return { request, websocket, cut, stop: close };
}

async function startFetch(
  app: ASGIApp,
  { logger, shutdownTimeoutMs: timeoutMs = 10_000 }: Settings,
): Promise<Endpoint> {
  const handler = toFetchHandler(app, { logger });
  const { request, cut } = new FetchClient(handler);
  return { request, cut, stop: () => handler.close({ timeoutMs }) };
}

/** The client's end of a WebSocket in memory. Its `close` does not wait for the application. */
function toClient(webSocket: TestWebSocket): ClientWebSocket {
  return {
    subprotocol: webSocket.subprotocol,
    closed: webSocket.closed.then(({ code, reason }) => ({ code, reason })),
    send: (data) => webSocket.send(data),
    receive: () => webSocket.receive(),
    close: async (code, reason) => void webSocket.close(code, reason),
    terminate: () => void webSocket.terminate(),
  };
}

/** The client's end of a WebSocket that the application has closed with a code in place of accepting it. */
function toClosed({ code, reason }: WebSocketRefusedError): ClientWebSocket {
  const end = async (): Promise<never> => {
    throw new Error(`The WebSocket has ended with ${code}.`);
  };
  return {
    subprotocol: null,
    closed: Promise.resolve({ code, reason }),
    send: end,
    receive: end,
    close: end,
    terminate() {},
  };
}

async function openInMemory(open: Promise<TestWebSocket>): Promise<HandshakeResponse> {
  try {
    const webSocket = await open;
    return { status: 101, headers: Object.entries(webSocket.headers), body: "", webSocket: toClient(webSocket) };
  } catch (error) {
    if (!(error instanceof WebSocketRefusedError)) throw error;
    const headers = Object.entries(error.headers);
    if (error.statusCode === null) return { status: 101, headers, body: "", webSocket: toClosed(error) };
    return { status: error.statusCode, headers, body: error.text(), webSocket: null };
  }
}

async function startTestClient(app: ASGIApp, given: Settings): Promise<Endpoint> {
  const client = await TestClient.open(app, toOptions(given));
  const { request, cut } = new HTTP1Client(client.url);
  const websocket = ({ target = "/", headers = [], subprotocols = [] }: Handshake) =>
    openInMemory(
      client.websocket(target, { headers: headers.map(([...pair]): [string, string] => pair), subprotocols }),
    );
  return { request, websocket, cut, stop: () => client.close() };
}

/** RFC 8441 §3: a server that opens WebSockets on HTTP/2 states it in its settings. */
async function hasNoExtendedConnect(): Promise<boolean> {
  const server = await serve(async () => {}, { ...settings, http2: true, logger: new KeptLog() });
  const session = connect(server.url);
  const [{ enableConnectProtocol }] = (await once(session, "remoteSettings")) as [{ enableConnectProtocol: boolean }];
  session.destroy();
  await server.close();
  return !enableConnectProtocol;
}

/** A handshake reaches the application as a plain request. */
async function hasNoWebSocketOfFetch(): Promise<boolean> {
  const types: string[] = [];
  const app: ASGIApp = async ({ type }) => void types.push(type);
  const handler = toFetchHandler(app, { logger: new KeptLog(), lifespan: "off" });
  await handler(new Request("http://localhost/", { headers: { upgrade: "websocket" } }));
  return types.join() === "http";
}

/** The drivers, in the order of the table. */
export const drivers: readonly Driver[] = [
  { name: "HTTP/1.1", httpVersion: "1.1", start: startHTTP1, lacks: {} },
  {
    name: "HTTP/2",
    httpVersion: "2",
    start: startHTTP2,
    lacks: {
      websocket: { reason: "the server does not offer the extended CONNECT of RFC 8441", isReal: hasNoExtendedConnect },
      "half-close": { reason: "END_STREAM ends every request, and node:http2 does not end one side of a connection" },
    },
  },
  {
    name: "toNodeHandler",
    httpVersion: "1.1",
    start: startNodeHandler,
    lacks: {},
  },
  ...(uws === null ? [] : [onUws(uws)]),
  {
    name: "fetch",
    httpVersion: "1.1",
    start: startFetch,
    lacks: {
      websocket: { reason: "the fetch of Node opens no WebSockets", isReal: hasNoWebSocketOfFetch },
      "half-close": { reason: "a request of the platform has no connection" },
    },
  },
  {
    name: "TestClient",
    httpVersion: "1.1",
    start: startTestClient,
    lacks: {
      frames: { reason: "WebSockets in memory have no frames" },
      "early disconnect": { reason: "TestClient#websocket cannot be aborted" },
    },
  },
];
