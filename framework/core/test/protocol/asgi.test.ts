/** Messages that ASGI allows an application and a server to send. */
import { afterAll, describe, expect, it } from "@jest/globals";
import type { ASGIApp, HTTPResponseStartMessage, ReceiveMessage, SendMessage } from "../../src/protocol/asgi.js";
import { App, WebSocket, WebSocketException } from "../../src/index.js";
import {
  compress,
  bodyLimit,
  cors,
  httpMiddleware,
  type Middleware,
  requestId,
  securityHeaders,
  sessions,
  timeLimit,
} from "../../src/middleware/index.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { SocketCaller } from "../../../test/support/socket.js";
import { describeSocketMatrix } from "../../../test/support/socket-matrix.js";

const layers: readonly [string, Middleware][] = [
  ["nothing", (app) => app],
  ["gzip", compress({ minimumSize: 0 })],
  ["sessions", sessions({ secret: "x".repeat(32) })],
  ["requestId", requestId()],
  ["cors", cors({ allowOrigins: "*" })],
  ["securityHeaders", securityHeaders()],
  ["bodyLimit", bodyLimit(100)],
  ["timeLimit", timeLimit(60_000)],
  ["httpMiddleware", httpMiddleware(async (_request, next) => void (await next()))],
];

const start: HTTPResponseStartMessage = { type: "http.response.start", status: 201, headers: [] };
const part = (text: string, more: boolean): SendMessage => ({
  type: "http.response.body",
  body: Buffer.from(text),
  more_body: more,
});

const answers: readonly [string, readonly SendMessage[]][] = [
  ["a whole body", [start, part("hello", false)]],
  ["a body in parts", [start, part("hel", true), part("lo", false)]],
];
const late: readonly [string, SendMessage][] = [
  ["another last part", part("late", false)],
  ["another part", part("late", true)],
  ["another start", { ...start, status: 500 }],
];

// HTTP & WebSocket ASGI Message Format, "Response Body - send event": ignored once `more_body` was false.
describe("messages after the last body", () => {
  const caller = new SocketCaller();
  const { call } = caller;
  afterAll(() => caller[Symbol.asyncDispose]());
  const rows = layers.flatMap(([layer, middleware]) =>
    answers.flatMap(([answer, messages]) =>
      late.map(([what, message]) => [what, answer, layer, middleware, messages, message] as const),
    ),
  );

  it.each(rows)("are ignored: %s after %s, under %s", async (_what, _answer, _layer, middleware, messages, extra) => {
    const log = new KeptLog();
    let isOver = false;
    const inner: ASGIApp = async (_scope, receive, send) => {
      await receive();
      for (const message of messages) await send(message);
      await send(extra);
      await send(extra);
      isOver = true;
    };
    const app = new App({ logger: log, middleware: [middleware] });
    app.mount("/", inner);
    expect(await call(app, "GET", "/")).toMatchObject({ status: 201, text: "hello" });
    expect(isOver).toBe(true);
    expect(log.lines).toEqual([]);
  });

  it("are ignored after an encoded body in chunks", async () => {
    let isOver = false;
    const inner: ASGIApp = async (_scope, _receive, send) => {
      for (const message of [start, part("hel", true), part("lo", false), part("late", true), part("", false)]) {
        await send(message);
      }
      isOver = true;
    };
    const app = new App({ middleware: [compress()] });
    app.mount("/", inner);
    const answer = await call(app, "GET", "/", { headers: [["accept-encoding", "gzip"]] });
    expect(answer.headers["content-encoding"]).toBe("gzip");
    expect(isOver).toBe(true);
  });
});

describeSocketMatrix("websocket.close", ({ connect, refused }) => {
  it.each<[string, object, number]>([
    ["reason: null", { code: 4001, reason: null }, 4001],
    ["no reason", { code: 4001 }, 4001],
    ["no code", { reason: null }, 1000],
  ])("with %s has an empty reason", async (_what, fields, code) => {
    const app: ASGIApp = async (_scope, receive, send) => {
      await receive();
      await send({ type: "websocket.accept" });
      await send({ type: "websocket.close", ...fields });
    };
    const ws = await connect(app, "/");
    expect(await ws.closed).toMatchObject({ code, reason: "" });
  });

  it("with reason: null rejects a handshake", async () => {
    const app: ASGIApp = async (_scope, receive, send) => {
      await receive();
      await send({ type: "websocket.close", code: 1000, reason: null });
    };
    expect(await refused(app, "/")).toMatchObject({ statusCode: 403 });
  });

  it("may follow the last chunk of an HTTP response to the handshake, which ends it: later messages are ignored", async () => {
    let isOver = false;
    const app: ASGIApp = async (_scope, receive, send) => {
      await receive();
      await send({ type: "websocket.http.response.start", status: 418, headers: [] });
      await send({ type: "websocket.http.response.body", body: Buffer.from("no") });
      await send({ type: "websocket.http.response.body", body: Buffer.from("late") });
      await send({ type: "websocket.http.response.start", status: 200, headers: [] });
      await send({ type: "websocket.close", code: 1000, reason: null });
      isOver = true;
    };
    expect(await refused(app, "/")).toMatchObject({ statusCode: 418, body: "no" });
    expect(isOver).toBe(true);
  });
});

describe("websocket.disconnect of another server", () => {
  it("with reason: null and no code is an end without a status and with an empty reason", async () => {
    const messages: ReceiveMessage[] = [{ type: "websocket.connect" }, { type: "websocket.disconnect", reason: null }];
    const ws = new WebSocket(
      { type: "websocket", path: "/" },
      () => Promise.resolve(messages.shift() as ReceiveMessage),
      () => {},
    );
    await ws.accept();
    await expect(ws.receive()).rejects.toEqual(new WebSocketException(1005, ""));
  });
});
