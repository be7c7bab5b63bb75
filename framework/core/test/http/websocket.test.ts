import { describe, expect, it } from "@jest/globals";
import type { ASGIApp, ReceiveMessage, SendMessage } from "../../src/protocol/asgi.js";
import {
  App,
  ClientDisconnect,
  ConfigurationError,
  Depends,
  Form,
  Header,
  type Params,
  Request,
  Router,
  t,
  WebSocket,
  withParams,
} from "../../src/index.js";
import { KeptLog } from "../../../test/support/kept-log.js";

const create = (options: ConstructorParameters<typeof App>[0] = {}) => {
  const log = new KeptLog();
  return { app: new App({ logger: log, ...options }), log };
};

const CONNECT: ReceiveMessage = { type: "websocket.connect" };

/** Opens a WebSocket in memory, sends the client's messages, and returns the application's. */
async function connect(app: ASGIApp, path: string, messages: readonly ReceiveMessage[] = [], extra: object = {}) {
  const sent: SendMessage[] = [];
  const waiting: ReceiveMessage[] = [CONNECT, ...messages];
  const [pathname = "/", query = ""] = path.split("?");
  await app(
    {
      type: "websocket",
      path: decodeURIComponent(pathname),
      raw_path: Buffer.from(pathname),
      query_string: Buffer.from(query),
      headers: [[Buffer.from("x-user"), Buffer.from("ada")]],
      ...extra,
    },
    () => Promise.resolve(waiting.shift() ?? { type: "websocket.disconnect", code: 1001, reason: "going" }),
    (message) => void sent.push(message),
  );
  return sent;
}

const ACCEPT = { type: "websocket.accept", subprotocol: null };
const types = (sent: readonly SendMessage[]) => sent.map((message) => message.type.replace("websocket.", ""));

describe("a WebSocket route", () => {
  it("gets ws, the names of its pattern, params and dependencies", async () => {
    const { app } = create();
    const getUser = withParams({ xUser: Header(), ws: WebSocket }, async ({ xUser, ws }) => `${xUser} at ${ws.path}`);
    app.websocket(
      "/rooms/{room}",
      { params: { n: t.Integer(), user: Depends(getUser) } },
      async ({ ws, room, n, user }) => {
        await ws.accept();
        await ws.sendJson({ room, n, user, same: ws.pathParams["room"] === room });
      },
    );
    const sent = await connect(app, "/rooms/a%2Fb?n=5");
    expect(sent).toMatchObject([
      ACCEPT,
      { type: "websocket.send", text: '{"room":"a/b","n":5,"user":"ada at /rooms/a%2Fb","same":true}' },
      { type: "websocket.close", code: 1000 },
    ]);
  });

  it("matches exactly: a trailing slash counts, and so does a doubled one", async () => {
    const { app } = create();
    const saying =
      (name: string) =>
      async ({ ws }: { ws: WebSocket }) => {
        await ws.accept();
        await ws.sendText(name);
      };
    app.websocket("/ws", saying("without"));
    app.websocket("/both", saying("without"));
    app.websocket("/both/", saying("with"));
    const answers = async (path: string) =>
      (await connect(app, path)).map((message) =>
        "text" in message ? message.text : (message as { code?: number }).code,
      );
    expect(await answers("/ws")).toEqual([undefined, "without", 1000]);
    expect(await answers("/ws/")).toEqual([4004]);
    expect(await answers("//ws")).toEqual([4004]);
    expect(await answers("/both")).toEqual([undefined, "without", 1000]);
    expect(await answers("/both/")).toEqual([undefined, "with", 1000]);
    expect(await answers("/nothing")).toEqual([4004]);
  });

  it("can be on a router, with its prefix, guards and middleware, and in a mounted App", async () => {
    const { app } = create();
    const notes: string[] = [];
    const router = new Router({
      prefix: "/{tenant}",
      dependencies: [Depends(async () => void notes.push("guard"))],
      middleware: [
        (inner) => (scope, receive, send) => (notes.push(`middleware ${scope.type}`), inner(scope, receive, send)),
      ],
    });
    router.websocket("/ws", async ({ ws, tenant }) => {
      await ws.accept();
      await ws.sendText(tenant);
    });
    const mounted = new App();
    mounted.includeRouter(router);
    app.mount("/sub", mounted);
    expect(await connect(app, "/sub/acme/ws")).toMatchObject([ACCEPT, { text: "acme" }, { code: 1000 }]);
    expect(notes).toEqual(["middleware websocket", "guard"]);
  });

  it("may carry its params, ws among them", async () => {
    const { app } = create();
    app.websocket(
      "/ws",
      withParams({ ws: WebSocket }, async ({ ws }) => ws.accept()),
    );
    expect(types(await connect(app, "/ws"))).toEqual(["accept", "close"]);
  });

  it("of a mounted App passes the middleware of the router that mounts it", async () => {
    const { app } = create();
    const notes: string[] = [];
    const router = new Router({
      middleware: [(inner) => (scope, receive, send) => (notes.push(scope.type), inner(scope, receive, send))],
    });
    const mounted = new App();
    mounted.websocket("/ws", async ({ ws }) => ws.accept());
    router.mount("/in", mounted);
    app.includeRouter(router);
    expect(types(await connect(app, "/in/ws"))).toEqual(["accept", "close"]);
    expect(notes).toEqual(["websocket"]);
  });

  it.each<[string, Params]>([
    ["a body", { body: t.Object({}) }],
    ["a form", { f: Form() }],
    ["the Request", { request: Request }],
  ])("cannot have %s", (_what, params) => {
    const { app } = create();
    expect(() => app.websocket("/ws", { params }, async () => {})).toThrow(ConfigurationError);
    expect(() => app.get("/http", { params: { ws: WebSocket } }, async () => null)).toThrow(
      /Register the handler with app.websocket/,
    );
  });

  it.each<[string, string, Params, (...args: never[]) => unknown, RegExp]>([
    [
      "a generator",
      "/ws",
      {},
      async function* generator() {},
      /WEBSOCKET \/ws: A WebSocket handler sends with ws\.send/,
    ],
    ["a plain function", "/ws", {}, () => {}, /WEBSOCKET \/ws: .*Make the handler async/],
    [
      "a name of the pattern for its ws",
      "/{ws}",
      {},
      async () => {},
      /WEBSOCKET \/\{ws\}: The name "ws" is reserved for the/,
    ],
    [
      "a parameter for its ws",
      "/ws",
      { ws: t.Integer() },
      async () => {},
      /The name "ws" is reserved for the WebSocket/,
    ],
  ])("cannot have %s", (_what, path, params, handler, message) => {
    const { app } = create();
    expect(() => app.websocket(path, { params }, handler as () => Promise<void>)).toThrow(message);
  });

  it("is listed among the routes, and no two have the same pattern", () => {
    const { app } = create();
    app.websocket("/ws", async () => {});
    expect(app.routes).toMatchObject([{ method: "WEBSOCKET", path: "/ws" }]);
    expect(() => app.websocket("/ws", async () => {})).toThrow(/WEBSOCKET \/ws/);
  });
});

describe("a client that has disconnected", () => {
  it("leaves no generator open and no line in the log, though the close fails", async () => {
    const { app, log } = create();
    const notes: string[] = [];
    const held = async function* held() {
      try {
        yield 1;
      } finally {
        notes.push("ends");
      }
    };
    app.websocket("/ws", { params: { held: Depends(held) } }, async () => {});
    app.websocket("/send", { params: { held: Depends(held) } }, async ({ ws }) => {
      await ws.accept();
      await ws.sendText("x");
    });
    for (const path of ["/ws", "/send"]) {
      await app(
        { type: "websocket", path },
        () => Promise.resolve(CONNECT),
        () => Promise.reject(new ClientDisconnect()),
      );
    }
    expect(notes).toEqual(["ends", "ends"]);
    expect(log.lines).toEqual([]);
  });
});
