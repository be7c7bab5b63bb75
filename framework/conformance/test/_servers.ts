/** The servers whose conformance is checked, on this runtime. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { ASGIApp } from "tsgi";
import {
  type ClientHandshake,
  type ClientWebSocket,
  type HandshakeResponse,
  overFetch,
  overHTTP2,
  overSocket,
  type ServerLacks,
  type StartServer,
  type TextHeaders,
} from "../src/index.js";
import { serve, toNodeHandler } from "tsgi/node";
import { TestClient, type TestWebSocket, WebSocketRefusedError } from "tsgi/testing";
import { toFetchHandler } from "tsgi/web";
import { KeptLog } from "../../test/support/kept-log.js";

/** A server, or anything in the place of one. */
export interface ServerSubject {
  readonly name: string;
  readonly start: StartServer;
  readonly lacks: ServerLacks;
}

const quiet = () => ({ logger: new KeptLog() });
const settings = () => ({ ...quiet(), port: 0, signals: false });

/** Starts the server of Node. */
export async function startHTTP1(app: ASGIApp) {
  const server = await serve(app, settings());
  return overSocket(server.url, () => server.close());
}

async function startHTTP2(app: ASGIApp) {
  const server = await serve(app, { ...settings(), http2: true });
  return overHTTP2(server.url, () => server.close());
}

async function startNodeHTTP(app: ASGIApp) {
  const handler = toNodeHandler(app, quiet());
  const server = createServer(handler).on("upgrade", handler.upgrade).listen(0, "127.0.0.1");
  await once(server, "listening");
  return overSocket(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, async () => {
    try {
      await handler.close();
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    }
  });
}

async function startFetch(app: ASGIApp) {
  const handler = toFetchHandler(app, quiet());
  return overFetch(handler, () => handler.close());
}

function toClient(webSocket: TestWebSocket): ClientWebSocket {
  return {
    subprotocol: webSocket.subprotocol,
    closed: webSocket.closed.then(({ code, reason }) => ({ code, reason })),
    send: (data) => webSocket.send(data),
    receive: () => webSocket.receive(),
    close: (code, reason) => webSocket.close(code, reason),
    terminate: () => void webSocket.terminate(),
  };
}

/** The response to a handshake in memory. */
export async function openedInMemory(open: () => Promise<TestWebSocket>): Promise<HandshakeResponse> {
  try {
    const webSocket = await open();
    return { status: 101, headers: Object.entries(webSocket.headers), body: "", webSocket: toClient(webSocket) };
  } catch (error) {
    if (!(error instanceof WebSocketRefusedError)) throw error;
    const list: TextHeaders = Object.entries(error.headers);
    return { status: error.statusCode ?? 101, headers: list, body: error.text(), webSocket: null };
  }
}

function connect(client: TestClient, { target = "/", headers = [], subprotocols = [] }: ClientHandshake) {
  const list = headers.map(([name, value]): [string, string] => [name, value]);
  return client.websocket(target, { headers: list, subprotocols });
}

async function startTestClient(app: ASGIApp) {
  const client = await TestClient.open(app, quiet());
  const socket = overSocket(client.url);
  return {
    request: socket.request.bind(socket),
    websocket: (handshake: ClientHandshake) => openedInMemory(() => connect(client, handshake)),
    close: () => client.close(),
  };
}

/** Those that run everywhere, in the order of the page. */
export const servers: readonly ServerSubject[] = [
  { name: "serve", start: startHTTP1, lacks: {} },
  {
    name: "serve, HTTP/2",
    start: startHTTP2,
    lacks: { websocket: "the client, `node:http2`, opens no WebSocket" },
  },
  {
    name: "toNodeHandler",
    start: startNodeHTTP,
    lacks: {},
  },
  {
    name: "TestClient",
    start: startTestClient,
    lacks: { frames: "its WebSockets are in memory, without frames" },
  },
  {
    name: "toFetchHandler",
    start: startFetch,
    lacks: {
      websocket: "`fetch` has no WebSockets",
      "raw-headers": "`Headers` of the platform joins repeated ones",
    },
  },
];
