/** A whole response that the server takes in one go is the same as its two messages, which a middleware passes on. */
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "@jest/globals";
import { App, HTTPException, Response } from "../../src/index.js";
import type { ASGIApp } from "../../src/protocol/asgi.js";
import { cors, type Middleware, rateLimit, requestId, securityHeaders } from "../../src/middleware/index.js";
import { RESPONDER } from "../../src/protocol/response.js";
import { serve } from "../../src/node.js";
import { toFetchHandler } from "../../src/platforms/web/index.js";
import { KeptLog } from "../../../test/support/kept-log.js";

const forward = (app: ASGIApp): ASGIApp => {
  return (scope, receive, send) => app(scope, receive, (message) => send(message));
};

/** Routes whose results are sent in different ways. */
function create(middleware: readonly (typeof forward)[]): App {
  const app = new App({ logger: new KeptLog(), middleware });
  app.get("/data", async () => ({ text: "ascii" }));
  app.get("/unicode", async () => ({ text: "é 😀" }));
  app.get("/long", async () => "x".repeat(100_000));
  app.get("/empty", { statusCode: 204 }, async () => null);
  app.get("/tagged", { etag: true }, async () => ({ text: "tagged" }));
  app.get("/drafted", { params: { response: Response } }, async ({ response }) => {
    response.statusCode = 201;
    response.headers.set("X-Own", "1");
    response.setCookie("a", "b");
    return { text: "drafted" };
  });
  app.get("/response", async () => new Response("text", { headers: { "X-Own": "2" } }));
  app.get("/error", async () => {
    throw new HTTPException(418, "short and stout");
  });
  return app;
}

const TARGETS = ["/data", "/unicode", "/long", "/empty", "/tagged", "/drafted", "/response", "/error", "/absent"];

const REQUESTS = ["GET", "HEAD"].flatMap((method) => TARGETS.map((target) => ({ method, target })));

/** The bytes of each response on a socket, without the time. */
async function onSocket(app: App): Promise<string[]> {
  await using server = await serve(app, { port: 0, logger: new KeptLog() });
  const { port } = new URL(server.url);
  const responses: string[] = [];
  for (const { method, target } of REQUESTS) {
    const socket = connect(Number(port), "127.0.0.1");
    socket.write(`${method} ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    responses.push((await text(socket)).replace(/\r\ndate: [^\r]*/i, ""));
  }
  return responses;
}

/** The responses of `app.fetch`. */
async function inFetch(app: App): Promise<object[]> {
  const handle = toFetchHandler(app);
  const responses: object[] = [];
  for (const { method, target } of REQUESTS) {
    const response = await handle(new globalThis.Request(`http://a${target}`, { method }));
    responses.push({ status: response.status, headers: [...response.headers], body: await response.text() });
  }
  await handle.close();
  return responses;
}

describe("a whole response", () => {
  it("has the same bytes on a socket, with and without a middleware that passes its messages on", async () => {
    expect(await onSocket(create([]))).toEqual(await onSocket(create([forward])));
  });

  it("has the same bytes behind middleware that changes its headers, and takes the same way", async () => {
    const ways: boolean[] = [];
    const look: Middleware = (app) => (scope, receive, send) => {
      if (scope.type === "http") ways.push(RESPONDER in send);
      return app(scope, receive, send);
    };
    const changing = () => [
      cors({ allowOrigins: "*" }),
      requestId({ generate: () => "1" }),
      rateLimit({ limit: 100, windowSeconds: 60 }),
      securityHeaders(),
    ];
    const responses = await onSocket(create([look, ...changing()]));
    expect(responses[0]).toMatch(/access-control[^]*x-request-id: 1[^]*x-frame-options/i);
    expect(new Set(ways)).toEqual(new Set([true]));
    expect(responses).toEqual(await onSocket(create([forward, ...changing()])));
  });

  it("is the same for fetch, with and without a middleware that passes its messages on", async () => {
    expect(await inFetch(create([]))).toEqual(await inFetch(create([forward])));
  });
});
