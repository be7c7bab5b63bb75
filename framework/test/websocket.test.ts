import { describe, expect, it } from "@jest/globals";
import { WebSocket as Client } from "ws";
import type { ASGIApp, ReceiveMessage, SendMessage } from "../src/asgi.js";
import {
  App,
  BackgroundTasks,
  ClientDisconnect,
  ConfigurationError,
  Depends,
  Form,
  Header,
  HTTPException,
  type Params,
  Query,
  Request,
  Router,
  t,
  WebSocket,
  WebSocketException,
  withParams,
} from "../src/index.js";
import { serve } from "../src/node.js";
import { KeptLog } from "./support/probe.js";

const create = (options: ConstructorParameters<typeof App>[0] = {}) => {
  const log = new KeptLog();
  return { app: new App({ logger: log, ...options }), log };
};

const CONNECT: ReceiveMessage = { type: "websocket.connect" };
const text = (value: string): ReceiveMessage => ({ type: "websocket.receive", text: value });
const bytes = (value: string): ReceiveMessage => ({ type: "websocket.receive", bytes: Buffer.from(value) });

/** Opens a WebSocket in memory, gives what the client sends, and what the application sent. */
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

  it("may stand on a router, with its prefix, guards and middleware, and in a mounted App", async () => {
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
  ])("cannot ask for %s", (_what, params) => {
    const { app } = create();
    expect(() => app.websocket("/ws", { params }, async () => {})).toThrow(ConfigurationError);
    expect(() => app.get("/http", { params: { ws: WebSocket } }, async () => null)).toThrow(
      /Register the handler with app.websocket/,
    );
  });

  it("is listed among the routes, and no two have the same pattern", () => {
    const { app } = create();
    app.websocket("/ws", async () => {});
    expect(app.routes).toMatchObject([{ method: "WEBSOCKET", path: "/ws" }]);
    expect(() => app.websocket("/ws", async () => {})).toThrow(/WEBSOCKET \/ws/);
  });
});

describe("accept", () => {
  it("takes a subprotocol that the client offers, and headers", async () => {
    const { app } = create();
    app.websocket("/ws", async ({ ws }) => {
      await ws.accept({ subprotocol: ws.subprotocols[1] as string, headers: { "X-Own": "yes" } });
    });
    const [accept] = await connect(app, "/ws", [], { subprotocols: ["a", "b"] });
    expect(accept).toMatchObject({ type: "websocket.accept", subprotocol: "b" });
    const { headers } = accept as { headers: Iterable<readonly Uint8Array[]> };
    expect([...headers].map((pair) => Buffer.concat(pair).toString())).toEqual(["x-ownyes"]);
  });

  it.each<[string, (ws: WebSocket) => Promise<unknown>]>([
    ["sendText", (ws) => ws.sendText("x")],
    ["receive", (ws) => ws.receive()],
    ["iteration", async (ws) => ws[Symbol.asyncIterator]().next()],
  ])("comes before %s: else the connection is closed at once and the call rejects", async (_name, use) => {
    const { app } = create();
    let thrown: unknown;
    app.websocket("/ws", async ({ ws }) => {
      await use(ws).catch((error: unknown) => (thrown = error));
    });
    expect(types(await connect(app, "/ws"))).toEqual(["close"]);
    expect(thrown).toBeInstanceOf(WebSocketException);
  });

  it("happens once", async () => {
    const { app, log } = create();
    app.websocket("/ws", async ({ ws }) => {
      await ws.accept();
      await ws.accept();
    });
    expect(types(await connect(app, "/ws"))).toEqual(["accept", "close"]);
    expect(log.lines).toEqual([]);
  });
});

describe("messages", () => {
  it("come as text, bytes and JSON, and go out so", async () => {
    const { app } = create();
    const got: unknown[] = [];
    app.websocket("/ws", async ({ ws }) => {
      await ws.accept();
      got.push(await ws.receiveText(), Buffer.from(await ws.receiveBytes()).toString(), await ws.receiveJson());
      await ws.sendText("t");
      await ws.sendBytes(Buffer.from("b"));
      await ws.sendJson({ j: 1 });
    });
    const sent = await connect(app, "/ws", [text("a"), bytes("b"), text('{"c":1}')]);
    expect(got).toEqual(["a", "b", { c: 1 }]);
    expect(sent.slice(1, 4)).toEqual([
      { type: "websocket.send", text: "t" },
      { type: "websocket.send", bytes: Buffer.from("b") },
      { type: "websocket.send", text: '{"j":1}' },
    ]);
  });

  it("are iterated until the client closes", async () => {
    const { app, log } = create();
    const got: unknown[] = [];
    app.websocket("/ws", async ({ ws }) => {
      await ws.accept();
      for await (const message of ws) got.push(message);
      got.push(ws.readyState);
    });
    expect(types(await connect(app, "/ws", [text("a"), text("b")]))).toEqual(["accept"]);
    expect(got).toEqual(["a", "b", "closed"]);
    expect(log.lines).toEqual([]);
  });

  it.each<[string, ReceiveMessage, (ws: WebSocket) => Promise<unknown>]>([
    ["bytes for text", bytes("x"), (ws) => ws.receiveText()],
    ["text for bytes", text("x"), (ws) => ws.receiveBytes()],
    ["text that is no JSON", text("{"), (ws) => ws.receiveJson()],
  ])("of the wrong kind close with 1003: %s", async (_name, message, receive) => {
    const { app, log } = create();
    app.websocket("/ws", async ({ ws }) => {
      await ws.accept();
      await receive(ws);
    });
    expect((await connect(app, "/ws", [message])).at(-1)).toMatchObject({ type: "websocket.close", code: 1003 });
    expect(log.lines).toEqual([]);
  });

  it.each(["12345", "ééé"])("over the limit close with 1009, counted in bytes: %s", async (message) => {
    const { app } = create({ limits: { webSocketMessageBytes: 4 } });
    app.websocket("/ws", async ({ ws }) => {
      await ws.accept();
      await ws.receive();
    });
    expect((await connect(app, "/ws", [text(message)])).at(-1)).toMatchObject({ code: 1009 });
  });
});

describe("receiveJson", () => {
  it("drops `__proto__` and refuses what is nested too deeply, as a body is read", async () => {
    const { app } = create();
    const got: unknown[] = [];
    app.websocket("/ws", async ({ ws }) => {
      await ws.accept();
      for (;;) got.push(await ws.receiveJson());
    });
    const sent = await connect(app, "/ws", [text('{"__proto__":{"a":1},"b":2}'), text("[".repeat(200_000))]);
    expect(got).toEqual([{ b: 2 }]);
    expect(Object.hasOwn(got[0] as object, "__proto__")).toBe(false);
    expect(sent.at(-1)).toMatchObject({ code: 1003 });
  });
});

describe("the end", () => {
  it("of the handler closes with 1000, its own close with its own code, once", async () => {
    const { app } = create();
    app.websocket("/a", async ({ ws }) => ws.accept());
    app.websocket("/b", async ({ ws }) => {
      await ws.accept();
      await ws.close(4001, "own");
      await ws.close(4002);
    });
    expect((await connect(app, "/a")).at(-1)).toMatchObject({ code: 1000 });
    expect((await connect(app, "/b")).slice(1)).toEqual([{ type: "websocket.close", code: 4001, reason: "own" }]);
  });

  it("by an error closes with 1011 and a log line, by a WebSocketException with its code", async () => {
    const { app, log } = create();
    app.websocket("/boom", async ({ ws }) => {
      await ws.accept();
      throw new Error("boom");
    });
    app.websocket("/own", async ({ ws }) => {
      await ws.accept();
      throw new WebSocketException(4005, "mine");
    });
    expect((await connect(app, "/boom")).at(-1)).toMatchObject({ code: 1011 });
    expect((await connect(app, "/own")).at(-1)).toMatchObject({ code: 4005, reason: "mine" });
    expect(log.lines).toEqual(["error WEBSOCKET /boom failed: Error: boom"]);
  });

  it("by the client ends a handler that waits for it, without a log line", async () => {
    const { app, log } = create();
    app.websocket("/ws", async ({ ws }) => {
      await ws.accept();
      await ws.receive();
    });
    expect(types(await connect(app, "/ws"))).toEqual(["accept"]);
    expect(log.lines).toEqual([]);
  });

  it("cleans dependencies up in reverse, and runs background tasks", async () => {
    const { app } = create();
    const notes: string[] = [];
    const held = async function* held() {
      try {
        yield 1;
        notes.push("ends");
      } catch (error) {
        notes.push(`sees ${String(error)}`);
        throw error;
      }
    };
    const params = { held: Depends(held), tasks: BackgroundTasks };
    app.websocket("/a", { params }, async ({ ws, tasks }) => {
      tasks.addTask(() => notes.push("task"));
      await ws.accept();
    });
    app.websocket("/b", { params }, async ({ ws }) => {
      await ws.accept();
      throw new Error("boom");
    });
    await connect(app, "/a");
    await connect(app, "/b");
    expect(notes).toEqual(["task", "ends", "sees Error: boom"]);
  });
});

describe("a client that has gone", () => {
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

describe("a refused handshake", () => {
  const refuse = Depends(async () => {
    throw new HTTPException(401, "no", { headers: { "WWW-Authenticate": "Bearer" } });
  });

  it("has the status of the failed dependency or parameter, where the server can answer so", async () => {
    const { app } = create();
    app.websocket("/guarded", { dependencies: [refuse] }, async () => {});
    app.websocket("/query", { params: { n: Query(t.Integer()) } }, async () => {});
    const extensions = { "websocket.http.response": {} };
    expect(await connect(app, "/guarded", [], { extensions })).toMatchObject([
      { type: "websocket.http.response.start", status: 401 },
      { type: "websocket.http.response.body", body: Buffer.from('{"detail":"no"}') },
    ]);
    expect(await connect(app, "/query?n=x", [], { extensions })).toMatchObject([{ status: 422 }, {}]);
    expect(types(await connect(app, "/guarded"))).toEqual(["close"]);
  });
});

describe("over a socket", () => {
  it("speaks to a real client: echo, refusal with its status, 4004", async () => {
    const { app } = create();
    app.websocket("/echo", async ({ ws }) => {
      await ws.accept({ subprotocol: "chat" });
      for await (const message of ws) await ws.send(message);
    });
    app.websocket("/guarded", { params: { key: Query() } }, async ({ ws }) => ws.accept());
    const server = await serve(app, { port: 0, signals: false, logger: new KeptLog() });
    const url = server.url.replace("http", "ws");
    try {
      const echo = new Client(`${url}/echo`, ["chat"]);
      const answer = await new Promise<string>((resolve, reject) => {
        echo.on("open", () => echo.send("hello")).on("error", reject);
        echo.on("message", (data: Buffer) => resolve(`${data.toString()} ${echo.protocol}`));
      });
      expect(answer).toBe("hello chat");
      echo.close(1000);
      const status = await new Promise((resolve) => {
        const client = new Client(`${url}/guarded`);
        client.on("unexpected-response", (_request, response) => resolve(response.statusCode)).on("error", () => {});
      });
      expect(status).toBe(422);
      const code = await new Promise((resolve) => {
        new Client(`${url}/nothing`).on("close", resolve).on("error", () => {});
      });
      expect(code).toBe(4004);
    } finally {
      await server.close();
    }
  });
});
