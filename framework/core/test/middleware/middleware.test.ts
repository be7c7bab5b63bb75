import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { brotliDecompressSync } from "node:zlib";
import { describe, expect, it } from "@jest/globals";
import type { ASGIApp, LifespanScope, Receive, Send, WebSocketScope } from "../../src/protocol/asgi.js";
import { App, HTTPException, type Middleware, Request, StreamingResponse } from "../../src/index.js";
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
  rateLimit,
  requestId,
  securityHeaders,
  sessionOf,
  sessions,
  timeLimit,
  trustedHost,
} from "../../src/middleware/index.js";
import { call as callInMemory } from "../../../test/support/call.js";
import { served } from "../platforms/node/_http.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { describeMatrix } from "../../../test/support/matrix.js";

const SECRET = "0123456789abcdef0123456789abcdef";

const ALL: [name: string, middleware: Middleware][] = [
  ["bodyLimit", bodyLimit(1)],
  ["cors", cors({ allowOrigins: "*" })],
  ["csrf", csrf()],
  ["decompress", decompress()],
  ["gzip", compress()],
  ["httpMiddleware", httpMiddleware(() => undefined)],
  ["httpsRedirect", httpsRedirect()],
  ["idempotency", idempotency({ store: memoryStore() })],
  ["requestId", requestId()],
  ["securityHeaders", securityHeaders()],
  ["sessions", sessions({ secret: SECRET })],
  ["sessions in a store", sessions({ store: memoryStore() })],
  ["timeLimit", timeLimit(1)],
  ["trustedHost", trustedHost({ allowedHosts: ["a.example"] })],
];

const SOCKET: WebSocketScope = {
  type: "websocket",
  path: "/",
  headers: [[Buffer.from("host"), Buffer.from("evil.example")]],
};

/** Each WebSocket gets an id from `requestId`. */
const passesSockets = (name: string) => name !== "requestId";

describe.each(ALL)("%s", (name, middleware) => {
  it.each<LifespanScope | WebSocketScope>([
    { type: "lifespan" },
    ...(passesSockets(name) ? [SOCKET] : []),
    { type: "carrier-pigeon" } as never,
  ])("passes on scopes other than HTTP unchanged: %j", async (scope) => {
    const receive: Receive = () => Promise.reject(new Error("not read"));
    const send: Send = () => {};
    const calls: unknown[][] = [];
    const result = Promise.resolve();
    const app: ASGIApp = (...given) => {
      calls.push(given);
      return result;
    };
    expect(middleware(app)(scope, receive, send)).toBe(result);
    expect(calls).toHaveLength(1);
    for (const [index, given] of [scope, receive, send].entries()) expect(calls[0]?.[index]).toBe(given);
  });
});

/** Records when a request enters and when the head of its response is sent. */
const tracing =
  (name: string, notes: string[], middleware: Middleware): Middleware =>
  (app) => {
    const wrapped = middleware(app);
    return (scope, receive, send) => {
      if (scope.type !== "http") return wrapped(scope, receive, send);
      notes.push(`into ${name}`);
      return wrapped(scope, receive, (message) => {
        if (message.type === "http.response.start") notes.push(`out of ${name}`);
        return send(message);
      });
    };
  };

describe("an exception handler", () => {
  const create = (middleware: Middleware) => {
    const app = new App({ logger: new KeptLog(), middleware: [middleware] });
    app.exceptionHandler(HTTPException, ({ statusCode }) => ({ own: statusCode }));
    app.post("/", { params: { request: Request } }, async ({ request }) => {
      for await (const _ of request.stream());
    });
    return app;
  };
  const rates = rateLimit({ limit: 1, windowSeconds: 60, key: () => "all" });
  const preflight = { origin: "http://b", "access-control-request-method": "PUT" };
  const rejections: [name: string, middleware: Middleware, status: number, sent: Record<string, string>][] = [
    ["bodyLimit", bodyLimit(1), 413, { "content-length": "2" }],
    ["cors", cors({ allowOrigins: [] }), 400, preflight],
    ["csrf", csrf(), 403, { "sec-fetch-site": "cross-site" }],
    ["decompress", decompress(), 415, { "content-encoding": "unknown" }],
    ["idempotency", idempotency({ store: memoryStore() }), 400, { "idempotency-key": "" }],
    ["rateLimit", rates, 429, {}],
    ["timeLimit", timeLimit(1), 504, {}],
    ["trustedHost", trustedHost({ allowedHosts: ["a.example"] }), 400, { host: "b.example" }],
  ];

  it.each(rejections)("does not receive the rejection of %s", async (name, middleware, statusCode, headers) => {
    const app = create(middleware);
    const method = headers === preflight ? "OPTIONS" : "POST";
    if (middleware === rates) await callInMemory(app, method, "/");
    // Without its body, a request takes longer than any limit.
    const sent = { headers: Object.entries(headers), ...(name === "timeLimit" && { chunks: [] }) };
    const { status, json } = await callInMemory(app, method, "/", sent);
    expect({ status, json }).toEqual({ status: statusCode, json: { detail: expect.any(String) } });
  });

  it("receives the error of bodyLimit if the handler reads too much, and an HTTPException that a middleware throws", async () => {
    const app = create(bodyLimit(1));
    expect((await callInMemory(app, "POST", "/", { chunks: [Buffer.alloc(2)] })).json).toEqual({ own: 413 });
    app.addMiddleware(httpMiddleware(() => Promise.reject(new HTTPException(418))));
    expect((await callInMemory(app, "POST", "/")).json).toEqual({ own: 418 });
  });
});

describeMatrix("the chain of cors, gzip and trustedHost", ({ call }) => {
  const create = () => {
    const notes: string[] = [];
    const app = new App({ logger: new KeptLog() });
    app.addMiddleware(tracing("cors", notes, cors({ allowOrigins: ["https://a.example"] })));
    app.addMiddleware(tracing("gzip", notes, compress()));
    app.addMiddleware(tracing("trustedHost", notes, trustedHost({ allowedHosts: ["a.example"] })));
    app.get("/", async () => {
      notes.push("handler");
      return "x".repeat(2000);
    });
    return { app, notes };
  };

  it("is passed from the last registered to the first, and back", async () => {
    const { app, notes } = create();
    const headers = [
      ["host", "a.example"],
      ["origin", "https://a.example"],
      ["accept-encoding", "br"],
    ] as const;
    const answer = await call(app, "GET", "/", { headers });
    expect(notes).toEqual([
      "into trustedHost",
      "into gzip",
      "into cors",
      "handler",
      "out of cors",
      "out of gzip",
      "out of trustedHost",
    ]);
    expect(answer.headers).toMatchObject({
      "access-control-allow-origin": "https://a.example",
      "content-encoding": "br",
      vary: "Origin, Accept-Encoding",
    });
    expect(JSON.parse(brotliDecompressSync(answer.body).toString())).toBe("x".repeat(2000));
  });

  it("ends at the middleware that responds", async () => {
    const { app, notes } = create();
    expect((await call(app, "GET", "/", { headers: [["host", "evil.example"]] })).status).toBe(400);
    expect(notes).toEqual(["into trustedHost", "out of trustedHost"]);
  });
});

describeMatrix("a request that is under way", ({ call }) => {
  it("uses the chain from its start, and the next one uses the new chain", async () => {
    const app = new App({ logger: new KeptLog() });
    const marking = (name: string) =>
      httpMiddleware(async (_request, next) => void (await next()).headers.append("x-passed", name));
    let leave = () => {};
    let entered = () => {};
    const isIn = new Promise<void>((resolve) => (entered = resolve));
    const mayLeave = new Promise<void>((resolve) => (leave = resolve));
    app.addMiddleware(marking("old"));
    app.get("/slow", async () => {
      entered();
      await mayLeave;
    });
    app.get("/quick", async () => null);
    const slow = call(app, "GET", "/slow");
    await isIn;
    app.addMiddleware(marking("new"));
    const quick = await call(app, "GET", "/quick");
    leave();
    const passed = ({ headerLines }: Awaited<ReturnType<typeof call>>) =>
      headerLines
        .filter(([name]) => name === "x-passed")
        .map(([, value]) => value)
        .join(", ");
    expect(passed(quick)).toBe("old, new");
    expect(passed(await slow)).toBe("old");
  });
});

describeMatrix("all middleware together", ({ call }) => {
  const create = () => {
    const log = new KeptLog();
    const app = new App({
      logger: log,
      middleware: [
        sessions({ secret: SECRET, secure: false }),
        httpMiddleware(async (_request, next) => void (await next()).headers.set("x-timed", "yes")),
        compress({ minimumSize: 0 }),
        cors({ allowOrigins: ["https://a.example"] }),
        securityHeaders(),
        bodyLimit(100),
        decompress(),
        timeLimit(60_000),
        requestId(),
        trustedHost({ allowedHosts: ["*"] }),
      ],
    });
    app.get("/", { params: { request: Request } }, async ({ request }) => {
      sessionOf<{ seen?: boolean }>(request).seen = true;
      return new StreamingResponse(["one ", "two"], { mediaType: "text/plain" });
    });
    app.post("/", { params: { request: Request } }, async ({ request }) => (await request.body()).length);
    return { app, log };
  };
  const headers = [
    ["host", "a.example"],
    ["origin", "https://a.example"],
    ["accept-encoding", "br"],
  ] as const;

  it.each(["GET", "HEAD"])("each adds its own headers to a stream, for %s", async (method) => {
    const { app, log } = create();
    const answer = await call(app, method, "/", { headers });
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.headers).toSorted()).toEqual([
      "access-control-allow-origin",
      "content-encoding",
      "content-security-policy",
      "content-type",
      "referrer-policy",
      "set-cookie",
      "vary",
      "x-content-type-options",
      "x-frame-options",
      "x-request-id",
      "x-timed",
    ]);
    expect(answer.headers["vary"]).toBe("Cookie, Accept-Encoding, Origin");
    if (method === "GET") expect(brotliDecompressSync(answer.body).toString()).toBe("one two");
    expect(log.lines).toEqual([]);
  });

  it.each([
    ["POST", "/", 5, 200],
    ["POST", "/", 101, 413],
    ["GET", "/none", 0, 404],
    ["DELETE", "/", 0, 405],
  ])("a response to %s %s with %i bytes, %i, has the headers of all", async (method, path, bytes, status) => {
    const { app } = create();
    const body = Buffer.alloc(bytes);
    const answer = await call(app, method, path, bytes > 0 ? { headers, chunks: [body] } : { headers });
    expect(answer).toMatchObject({
      status,
      headers: {
        "access-control-allow-origin": "https://a.example",
        "content-encoding": "br",
        "x-frame-options": "DENY",
        "x-request-id": expect.any(String),
      },
    });
  });
});

it("a disconnect in the middle of a stream ends it through all of them, without an error in the log", async () => {
  let isClosed = () => {};
  const closed = new Promise<void>((resolve) => (isClosed = resolve));
  const app = new App({
    middleware: [
      compress(),
      httpMiddleware(async (_request, next) => next()),
      sessions({ secret: SECRET }),
      cors({ allowOrigins: "*" }),
      bodyLimit(0),
      timeLimit(60_000),
    ],
  });
  app.get("/", async function* () {
    try {
      for (;;) yield "x".repeat(10_000);
    } finally {
      isClosed();
    }
  });
  await using server = await served(app);
  const sending = get(server.url, { headers: { "accept-encoding": "gzip" }, agent: false });
  const [response] = (await once(sending, "response")) as [IncomingMessage];
  await once(response, "data");
  response.destroy();
  await closed;
  await server.close();
  expect(server.logger.at("error")).toEqual([]);
  expect(server.logger.at("warn")).toEqual([]);
});
