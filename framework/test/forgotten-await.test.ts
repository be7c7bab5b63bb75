/**
 * A disconnecting client rejects pending calls. The applications here do not await them: jest fails a test with an
 * unhandled rejection, as Node would end the process.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { inspect } from "node:util";
import { describe, expect, it } from "@jest/globals";
import type { ASGIApp, HTTPScope, Receive, ReceiveMessage, Send, WebSocketScope } from "../core/src/protocol/asgi.js";
import { App, ClientDisconnect, Request, StreamingResponse, UploadFile, WebSocket } from "../core/src/index.js";
import {
  compress,
  bodyLimit,
  cors,
  csrf,
  decompress,
  httpMiddleware,
  httpsRedirect,
  idempotency,
  memoryStore,
  type Middleware,
  requestId,
  securityHeaders,
  sessions,
  timeLimit,
  trustedHost,
} from "../core/src/middleware/index.js";
import { serve } from "../core/src/node.js";
import { httpApp, MemoryLogger, Wire } from "../core/test/platforms/node/_http.js";
import { SocketPeer } from "./support/socket-peer.js";

const GONE = new ClientDisconnect();

/** A promise of a server with a disconnected client. */
function rejecting(): Promise<never> {
  const promise = Promise.reject(GONE);
  promise.catch(() => {});
  return promise;
}

const httpScope: HTTPScope = {
  type: "http",
  scheme: "https",
  method: "POST",
  path: "/",
  headers: [
    [Buffer.from("accept-encoding"), Buffer.from("gzip")],
    [Buffer.from("content-type"), Buffer.from("application/x-www-form-urlencoded")],
    [Buffer.from("host"), Buffer.from("example.com")],
    [Buffer.from("origin"), Buffer.from("https://example.com")],
  ],
};
const webSocketScope: WebSocketScope = { type: "websocket", path: "/" };

/** Returns messages one at a time, and then fails or reports a disconnect. */
function receiving(messages: readonly ReceiveMessage[], end: () => Promise<ReceiveMessage>): Receive {
  const waiting = [...messages];
  return () => {
    const message = waiting.shift();
    return message === undefined ? end() : Promise.resolve(message);
  };
}

/** A WebSocket with a disconnected client: without a close frame, so that sending fails, or with one. */
async function leftWebSocket(how: "fails" | "closes" | "never connects"): Promise<WebSocket> {
  const end = () =>
    how === "fails" ? rejecting() : Promise.resolve<ReceiveMessage>({ type: "websocket.disconnect", code: 1001 });
  const messages: ReceiveMessage[] = how === "never connects" ? [] : [{ type: "websocket.connect" }];
  let isOpen = false;
  const send: Send = () => {
    const sent = isOpen ? rejecting() : Promise.resolve();
    isOpen = true;
    return sent;
  };
  const ws = new WebSocket(webSocketScope, receiving(messages, end), send);
  if (how !== "never connects") await ws.accept();
  return ws;
}

describe("a WebSocket with a disconnected client", () => {
  const methods: readonly [string, (ws: WebSocket) => Promise<unknown>][] = [
    ["receive", (ws) => ws.receive()],
    ["receiveText", (ws) => ws.receiveText()],
    ["receiveBytes", (ws) => ws.receiveBytes()],
    ["receiveJson", (ws) => ws.receiveJson()],
    ["send", (ws) => ws.send("x")],
    ["sendText", (ws) => ws.sendText("x")],
    ["sendBytes", (ws) => ws.sendBytes(new Uint8Array(1))],
    ["sendJson", (ws) => ws.sendJson({})],
  ];

  it.each(methods)("rejects %s() only for callers that await it", async (_name, call) => {
    for (const how of ["fails", "closes"] as const) {
      const ws = await leftWebSocket(how);
      if (how === "closes") await ws.receive().catch(() => {});
      const forgotten = call(ws);
      await nextTurn();
      await expect(forgotten).rejects.toHaveProperty("message");
    }
  });

  it("rejects accept(), a step of its iterator and a second accept() in the same way", async () => {
    const left = (await leftWebSocket("never connects")).accept();
    const step = (await leftWebSocket("fails"))[Symbol.asyncIterator]().next();
    const twice = (await leftWebSocket("fails")).accept();
    await nextTurn();
    await expect(left).rejects.toMatchObject({ code: 1001 });
    await expect(step).rejects.toBe(GONE);
    await expect(twice).rejects.toThrow("accept()");
  });

  it("is closed by close() without an error", async () => {
    const ws = await leftWebSocket("fails");
    void ws.close();
    await nextTurn();
    expect(ws.readyState).toBe("closed");
  });

  it("rejects a message that is not JSON", async () => {
    const messages: ReceiveMessage[] = [{ type: "websocket.connect" }, { type: "websocket.receive", text: "{" }];
    const ws = new WebSocket(webSocketScope, receiving(messages, rejecting), () => {});
    await ws.accept();
    const forgotten = ws.receiveJson();
    await nextTurn();
    await expect(forgotten).rejects.toMatchObject({ code: 1003 });
  });
});

describe("a Request with a disconnected client", () => {
  const ends: readonly [string, () => Promise<ReceiveMessage>][] = [
    ["http.disconnect", () => Promise.resolve({ type: "http.disconnect" })],
    ["a receive that fails", rejecting],
  ];
  const methods: readonly [string, (request: Request) => Promise<unknown>][] = [
    ["body", (request) => request.body()],
    ["json", (request) => request.json()],
    ["text", (request) => request.text()],
    ["form", (request) => request.form()],
    ["stream().next", (request) => request.stream().next()],
    [
      "stream().next after body()",
      (request) => {
        void request.body();
        return request.stream().next();
      },
    ],
  ];
  const rows = ends.flatMap(([told, end]) => methods.map(([name, call]) => [name, told, call, end] as const));

  it.each(rows)("rejects %s() after %s only for callers that await it", async (_name, _told, call, end) => {
    const start: ReceiveMessage = { type: "http.request", body: Buffer.from("{"), more_body: true };
    const forgotten = call(new Request(httpScope, receiving([], end)));
    const halfway = new Request(httpScope, receiving([start], end)).json();
    await nextTurn();
    await expect(forgotten).rejects.toThrow(ClientDisconnect);
    await expect(halfway).rejects.toThrow(ClientDisconnect);
  });

  it("rejects isDisconnected() in the same way if the server's receive fails", async () => {
    const forgotten = new Request(httpScope, rejecting).isDisconnected();
    await nextTurn();
    await expect(forgotten).rejects.toBe(GONE);
  });

  it("rejects json() of an invalid body in the same way", async () => {
    const body: ReceiveMessage = { type: "http.request", body: Buffer.from("{"), more_body: false };
    const forgotten = new Request(httpScope, receiving([body], rejecting)).json();
    await nextTurn();
    await expect(forgotten).rejects.toHaveProperty("message");
  });
});

describe("an UploadFile whose request has ended", () => {
  it.each<[string, (file: UploadFile) => Promise<unknown>]>([
    ["read", (file) => file.read()],
    ["text", (file) => file.text()],
    ["stream().next", (file) => file.stream().next()],
    ["saveTo", (file) => file.saveTo("/nonexistent/file")],
  ])("rejects %s() only for callers that await it", async (_name, call) => {
    const file = new UploadFile(Buffer.from("x"));
    await file.close();
    const forgotten = call(file);
    await nextTurn();
    await expect(forgotten).rejects.toHaveProperty("message");
  });
});

const secret = "x".repeat(32);

const layers: readonly [string, Middleware][] = [
  ["nothing", (app) => app],
  ["gzip", compress({ minimumSize: 0 })],
  ["sessions", sessions({ secret })],
  ["sessions in a store", sessions({ store: memoryStore() })],
  ["requestId", requestId()],
  ["cors", cors({ allowOrigins: ["https://example.com"] })],
  ["idempotency", idempotency({ store: memoryStore() })],
  ["csrf", csrf({ trustedOrigins: ["https://example.com"] })],
  ["securityHeaders", securityHeaders()],
  ["bodyLimit", bodyLimit(100)],
  ["decompress", decompress()],
  ["timeLimit", timeLimit(60_000)],
  ["trustedHost", trustedHost({ allowedHosts: ["example.com"] })],
  ["httpsRedirect", httpsRedirect()],
  ["httpMiddleware", httpMiddleware(async (_request, next) => void (await next()))],
  ["httpMiddleware that does not await next()", httpMiddleware((_request, next) => void next())],
  ["gzip around sessions", (app) => compress()(sessions({ secret })(app))],
  [
    "a function that does not await the application",
    (app) =>
      async (...call) =>
        void app(...call),
  ],
];

describe("an application with a disconnected client", () => {
  it.each(layers)("may forget to await send and receive with %s", async (_name, layer) => {
    const promises: (Promise<unknown> | void)[] = [];
    const inner: ASGIApp = async (_scope, receive, send) => {
      promises.push(receive());
      promises.push(send({ type: "http.response.start", status: 200, headers: [] }));
      promises.push(send({ type: "http.response.body", body: Buffer.alloc(1000), more_body: true }));
      promises.push(send({ type: "http.response.body", body: Buffer.alloc(1000), more_body: false }));
      await nextTurn();
    };
    const app = new App({ logger: new MemoryLogger() });
    app.mount("/", inner);
    app.addMiddleware(layer);
    app.addMiddleware(
      (next) =>
        async (...call) =>
          void next(...call),
    );
    await app(httpScope, rejecting, rejecting);
    await nextTurn();
    await nextTurn();
    const settled = await Promise.allSettled(promises.map((promise) => Promise.resolve(promise)));
    expect(settled.some(({ status }) => status === "rejected")).toBe(true);
  });

  it.each(layers)("may forget to await an App with %s, and its handler still responds", async (_name, layer) => {
    const log = new MemoryLogger();
    const app = new App({ logger: log, middleware: [layer] });
    app.addMiddleware(
      (next) =>
        async (...call) =>
          void next(...call),
    );
    app.post("/", async () => ({}));
    void app(httpScope, rejecting, rejecting);
    void app(httpScope, rejecting, () => {
      throw GONE;
    });
    await nextTurn();
    await nextTurn();
    expect(log.at("error")).toEqual([]);
  });

  it("may forget to await response.send()", async () => {
    const forgotten = new StreamingResponse(["a", "b"]).send(rejecting);
    await nextTurn();
    await expect(forgotten).rejects.toBe(GONE);
  });
});

describe("with a real server, a client that disconnects", () => {
  it("does not crash an application that forgets to await a send that waits for the socket", async () => {
    const sent: (Promise<void> | void)[] = [];
    let end = () => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    const app = httpApp(async (_scope, receive, send) => {
      await receive();
      sent.push(send({ type: "http.response.start", status: 200, headers: [] }));
      const body = Buffer.alloc(16 << 20);
      for (let part = 0; part < 4; part++) sent.push(send({ type: "http.response.body", body, more_body: true }));
      await receive();
      await nextTurn();
      end();
    });
    await using server = await serve(app, { port: 0, signals: false, logger: new MemoryLogger() });
    await using wire = new Wire(Number(new URL(server.url).port));
    wire.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    await wire.until(/HTTP\/1.1 200/);
    wire.socket.destroy();
    await ended;
    expect(inspect(sent)).toMatch(/<rejected> ClientDisconnect/);
  });

  it("does not crash an application that requests two messages at a time without await", async () => {
    const asked: Promise<unknown>[] = [];
    const app: ASGIApp = async (scope, receive, send) => {
      if (scope.type === "lifespan") return;
      await receive();
      asked.push(receive(), receive());
      await nextTurn();
      const isHTTP = scope.type === "http";
      await send(isHTTP ? { type: "http.response.start", status: 204 } : { type: "websocket.close", code: 4001 });
      if (isHTTP) await send({ type: "http.response.body" });
    };
    await using server = await serve(app, { port: 0, signals: false, logger: new MemoryLogger() });
    expect((await fetch(server.url)).status).toBe(204);
    const peer = await SocketPeer.open(server.url.replace("http", "ws"), [], {}, () => undefined);
    expect(await peer.closed).toMatchObject({ code: 4001 });
    expect(inspect(asked).match(/<rejected> ProtocolError/g)).toHaveLength(2);
  });

  it("does not crash an application that forgets to await the body and the messages of a WebSocket", async () => {
    const app = new App({ logger: new MemoryLogger() });
    const forgotten: Promise<unknown>[] = [];
    let call = () => {};
    const called = new Promise<void>((resolve) => (call = resolve));
    let left = () => {};
    let gone = new Promise<void>((resolve) => (left = resolve));
    app.post("/", { params: { request: Request } }, async ({ request }) => {
      forgotten.push(request.json());
      call();
      request.signal.addEventListener("abort", () => left());
      await gone;
    });
    app.websocket("/ws", async ({ ws }) => {
      await ws.accept();
      await ws.receiveText();
      for (let part = 0; part < 8; part++) forgotten.push(ws.sendBytes(Buffer.alloc(4 << 20)));
      await ws.receive().catch(() => {});
      forgotten.push(ws.sendText("late"), ws.receiveText());
      await nextTurn();
      left();
    });
    await using server = await serve(app, { port: 0, signals: false, logger: new MemoryLogger() });
    await using wire = new Wire(Number(new URL(server.url).port));
    wire.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{");
    await called;
    wire.socket.destroy();
    await gone;
    gone = new Promise<void>((resolve) => (left = resolve));
    const peer = await SocketPeer.open(`${server.url.replace("http", "ws")}/ws`, [], {}, () => undefined);
    peer.client.pause();
    await peer.sendText("go");
    await peer.terminate();
    await gone;
    await nextTurn();
    // Looked at from outside: to await them would handle them.
    const rejected = forgotten.map((promise) => inspect(promise)).filter((text) => text.includes("<rejected>"));
    expect(rejected.length).toBeGreaterThan(3);
  });

  it("does not crash an application that forgets to await a message of a WebSocket that waits for the socket", async () => {
    const sent: (Promise<void> | void)[] = [];
    let end = () => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    const app: ASGIApp = async (scope, receive, send) => {
      if (scope.type !== "websocket") return;
      await receive();
      await send({ type: "websocket.accept" });
      await receive();
      const bytes = Buffer.alloc(4 << 20);
      for (let part = 0; part < 8; part++) sent.push(send({ type: "websocket.send", bytes }));
      await receive();
      await nextTurn();
      end();
    };
    await using server = await serve(app, { port: 0, signals: false, logger: new MemoryLogger() });
    const peer = await SocketPeer.open(server.url.replace("http", "ws"), [], {}, () => undefined);
    peer.client.pause();
    await peer.sendText("go");
    await peer.terminate();
    await ended;
    expect(inspect(sent)).toMatch(/<rejected> ClientDisconnect/);
  });
});
