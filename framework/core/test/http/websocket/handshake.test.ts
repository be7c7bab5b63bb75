/** From the handshake to its response. */
import { describe, expect, it } from "@jest/globals";
import { cors, compress } from "../../../src/middleware/index.js";
import {
  App,
  Depends,
  Header,
  HTTPException,
  Query,
  t,
  WebSocket,
  WebSocketException,
  withParams,
} from "../../../src/index.js";
import { KeptLog } from "../../../../test/support/kept-log.js";
import { describeSocketMatrix } from "../../../../test/support/socket-matrix.js";

const create = (options: ConstructorParameters<typeof App>[0] = {}) => {
  const log = new KeptLog();
  return { app: new App({ logger: log, ...options }), log };
};

describeSocketMatrix("a handshake", ({ connect, refused }) => {
  it("allows the handler to read headers, cookies, query, path, subprotocols and address", async () => {
    const { app } = create();
    app.websocket("/rooms/{room}", async ({ ws }) => {
      await ws.accept();
      await ws.sendJson({
        header: ws.headers["x-user"],
        cookies: ws.cookies,
        query: ws.queryParams.getAll("n"),
        pathParams: ws.pathParams,
        subprotocols: ws.subprotocols,
        client: ws.client?.host,
        state: ws.state,
        path: ws.url.pathname + ws.url.search,
        scheme: ws.url.protocol,
        app: ws.app === app,
      });
      await ws.receive();
    });
    const ws = await connect(app, "/rooms/a%2Fb%20%C3%A9?n=1&n=2", {
      headers: { "x-user": "ada", cookie: "a=1; b=2" },
    });
    expect(await ws.receiveJson()).toEqual({
      header: "ada",
      cookies: { a: "1", b: "2" },
      query: ["1", "2"],
      pathParams: { room: "a/b é" },
      subprotocols: [],
      client: "127.0.0.1",
      state: {},
      path: "/rooms/a%2Fb%20%C3%A9?n=1&n=2",
      scheme: "ws:",
      app: true,
    });
    await ws.close();
  });

  it("is accepted with one of the subprotocols that the client offers, and with headers", async () => {
    const { app } = create();
    app.websocket("/ws", async ({ ws }) => {
      await ws.accept({
        subprotocol: ws.subprotocols[1] as string,
        headers: [
          ["X-Room", "7"],
          ["set-cookie", "a=1"],
        ],
      });
    });
    const ws = await connect(app, "/ws", { subprotocols: ["chat", "v2.chat"] });
    expect(ws.subprotocol).toBe("v2.chat");
    expect(ws.headers).toMatchObject({ "x-room": "7" });
    expect(String(ws.headers["set-cookie"])).toBe("a=1");
    expect((await ws.closed).code).toBe(1000);
  });

  it.each<[string, Parameters<WebSocket["accept"]>[0]]>([
    ["a subprotocol that the client does not offer", { subprotocol: "other" }],
    ["a header value with CR and LF", { headers: { "x-a": "b\r\nset-cookie: c" } }],
    ["a header value with NUL", { headers: { "x-a": "b\0" } }],
    ["a header value above U+00FF", { headers: { "x-a": "Ā" } }],
    ["a header name with LF", { headers: { "x-a\nset-cookie": "b" } }],
  ])("is not accepted with %s: 500 and a log line", async (_what, options) => {
    const { app, log } = create();
    app.websocket("/ws", async ({ ws }) => ws.accept(options));
    expect(await refused(app, "/ws", { subprotocols: ["chat"] })).toMatchObject({
      statusCode: 500,
      body: '{"detail":"Internal Server Error"}',
    });
    expect(log.lines).toEqual([expect.stringMatching(/^error WEBSOCKET \/ws failed: TypeError: /)]);
  });

  it("is rejected with an HTTPException from 500 on, which is logged if it has a cause", async () => {
    const { app, log } = create();
    app.websocket("/busy", async () => Promise.reject(new HTTPException(503)));
    app.websocket("/ws", async () => Promise.reject(new HTTPException(503, "No database", { cause: new Error("x") })));
    expect((await refused(app, "/busy")).statusCode).toBe(503);
    expect((await refused(app, "/ws")).statusCode).toBe(503);
    expect(log.lines).toEqual(["error WEBSOCKET /ws failed: HTTPException: No database"]);
  });

  it.each<[string, (ws: WebSocket) => Promise<unknown>]>([
    ["sendText", (ws) => ws.sendText("x")],
    ["sendBytes", (ws) => ws.sendBytes(new Uint8Array(1))],
    ["sendJson", (ws) => ws.sendJson({})],
    ["receive", (ws) => ws.receive()],
    ["receiveText", (ws) => ws.receiveText()],
    ["receiveBytes", (ws) => ws.receiveBytes()],
    ["receiveJson", (ws) => ws.receiveJson()],
    ["iteration", async (ws) => ws[Symbol.asyncIterator]().next()],
  ])("is closed immediately if it is not accepted before %s, and the call rejects", async (_name, use) => {
    const { app, log } = create();
    let thrown: unknown;
    let later: unknown;
    app.websocket("/ws", async ({ ws }) => {
      await use(ws).catch((error: unknown) => (thrown = error));
      await ws.accept().catch((error: unknown) => (later = error));
    });
    expect((await refused(app, "/ws")).statusCode).toBe(403);
    expect(thrown).toBeInstanceOf(WebSocketException);
    expect(thrown).toMatchObject({ code: 1011, reason: expect.stringContaining("connecting") });
    expect(later).toBeInstanceOf(WebSocketException);
    expect(log.lines).toEqual([]);
  });

  it("may be accepted by a dependency", async () => {
    const { app } = create();
    const accepted = withParams({ ws: WebSocket }, async ({ ws }) => {
      await ws.accept();
      return "by a dependency";
    });
    app.websocket("/ws", { params: { how: Depends(accepted) } }, async ({ ws, how }) => ws.sendText(how));
    const ws = await connect(app, "/ws");
    expect(await ws.receiveText()).toBe("by a dependency");
  });

  it("passes the middleware of HTTP untouched", async () => {
    const { app } = create({ middleware: [cors({ allowOrigins: ["https://a.example"] }), compress()] });
    app.websocket("/ws", async ({ ws }) => {
      await ws.accept();
      await ws.sendText("x".repeat(5000));
    });
    const ws = await connect(app, "/ws", { headers: { origin: "https://evil.example", "accept-encoding": "gzip" } });
    expect(await ws.receiveText()).toHaveLength(5000);
    expect(Object.keys(ws.headers).filter((name) => /access-control|encoding|vary/.test(name))).toEqual([]);
  });
});

describeSocketMatrix("a rejected handshake", ({ refused }) => {
  const guard = (error: unknown) =>
    Depends(async () => {
      throw error;
    });

  it.each<[string, unknown, object]>([
    [
      "an HTTPException with its status, detail and headers",
      new HTTPException(401, "no", { headers: { "WWW-Authenticate": "Bearer" } }),
      { statusCode: 401, body: '{"detail":"no"}', headers: { "www-authenticate": "Bearer" } },
    ],
    ["403", new HTTPException(403), { statusCode: 403, body: '{"detail":"Forbidden"}' }],
    ["a status of the server's", new HTTPException(503, "later"), { statusCode: 503, body: '{"detail":"later"}' }],
    ["a WebSocketException below 4000", new WebSocketException(1008, "no"), { statusCode: 403 }],
    ["a code of the application's own", new WebSocketException(4001, "no"), { statusCode: null, code: 4001 }],
    ["the last such code", new WebSocketException(4999), { statusCode: null, code: 4999 }],
    ["a code below them", new WebSocketException(3999), { statusCode: 403, code: 1006 }],
  ])("has the response that a dependency throws: %s", async (_what, error, expected) => {
    const { app, log } = create();
    let called = false;
    app.websocket("/ws", { dependencies: [guard(error)] }, async () => void (called = true));
    app.websocket("/deep", { params: { x: guard(error) } }, async () => void (called = true));
    expect(await refused(app, "/ws")).toMatchObject(expected);
    expect(await refused(app, "/deep")).toMatchObject(expected);
    expect(called).toBe(false);
    expect(log.lines).toEqual([]);
  });

  it.each<[string, unknown]>([
    ["an error that nobody expected", new Error("secret")],
    ["a close code that may not be sent", new WebSocketException(1006, "secret")],
    ["a reason that is too long", new WebSocketException(4000, `secret${"x".repeat(200)}`)],
    ["a header that HTTP does not allow", new HTTPException(401, "secret", { headers: { "x-a": "b\r\nc: d" } })],
    ["a detail that JSON cannot write", new HTTPException(401, 5n)],
  ])("results in 500 for %s, with a log entry and without details in the response", async (_what, error) => {
    const { app, log } = create();
    const notes: string[] = [];
    const held = async function* held() {
      try {
        yield 1;
      } finally {
        notes.push("cleaned");
      }
    };
    app.websocket("/ws", { params: { held: Depends(held) } }, async () => {
      throw error;
    });
    const { statusCode, body } = await refused(app, "/ws");
    expect({ statusCode, body }).toEqual({ statusCode: 500, body: '{"detail":"Internal Server Error"}' });
    expect(log.lines).toHaveLength(1);
    expect(notes).toEqual(["cleaned"]);
  });

  it("results in 422 with all errors if parameters do not match", async () => {
    const { app } = create();
    app.websocket("/ws/{id}", { params: { id: t.Integer(), n: Query(t.Integer()), key: Header() } }, async () => {});
    const { statusCode, body, headers } = await refused(app, "/ws/x?n=y");
    expect(statusCode).toBe(422);
    expect(headers["content-type"]).toBe("application/json");
    const { detail } = JSON.parse(body) as { detail: { type: string; loc: string[] }[] };
    expect(detail.map(({ type, loc }) => `${type} ${loc.join(".")}`)).toEqual([
      "int_parsing path.id",
      "int_parsing query.n",
      "missing header.key",
    ]);
  });

  it.each<[string, (ws: WebSocket) => Promise<unknown> | void, object]>([
    ["close()", (ws) => ws.close(), { statusCode: 403, code: 1006 }],
    ["close(1008)", (ws) => ws.close(1008, "policy"), { statusCode: 403, body: '{"detail":"Forbidden"}' }],
    ["close(4000)", (ws) => ws.close(4000, "own"), { statusCode: null, code: 4000 }],
    ["a return without an answer", () => {}, { statusCode: 403 }],
  ])("is how a handler ends by %s before it accepts", async (_what, end, expected) => {
    const { app, log } = create();
    app.websocket("/ws", async ({ ws }) => void (await end(ws)));
    expect(await refused(app, "/ws")).toMatchObject(expected);
    expect(log.lines).toEqual([]);
  });

  it.each(["/none", "/ws/", "//ws", "/%77s/", "/mounted/none", "/http"])(
    "without a route for %s is a close with 4004",
    async (path) => {
      const { app } = create();
      const mounted = new App();
      app.websocket("/ws", async ({ ws }) => ws.accept());
      app.get("/http", async () => null);
      app.mount("/mounted", mounted);
      expect(await refused(app, path)).toMatchObject({ statusCode: null, code: 4004 });
    },
  );

  it("is 400 for a path that is no UTF-8", async () => {
    const { app } = create();
    app.websocket("/{any}", async ({ ws }) => ws.accept());
    expect(await refused(app, "/%FF")).toMatchObject({
      statusCode: 400,
      body: '{"detail":"The path is not valid percent-encoded UTF-8"}',
    });
  });
});

describe("an application behind a server that cannot send HTTP responses to handshakes", () => {
  it.each([
    [401, 1008],
    [422, 1008],
    [500, 1011],
    [503, 1011],
  ])("rejects with a plain close: status %i as code %i", async (statusCode, code) => {
    const { app } = create();
    app.websocket("/ws", async () => {
      throw new HTTPException(statusCode);
    });
    const sent: unknown[] = [];
    await app(
      { type: "websocket", path: "/ws" },
      () => Promise.resolve({ type: "websocket.connect" }),
      (message) => void sent.push(message),
    );
    expect(sent).toEqual([{ type: "websocket.close", code, reason: "" }]);
  });
});
