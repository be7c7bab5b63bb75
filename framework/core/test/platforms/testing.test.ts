import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { Readable } from "node:stream";
import { describe, expect, it, jest } from "@jest/globals";
import type { ASGIApp, SendMessage } from "../../src/protocol/asgi.js";
import {
  App,
  Depends,
  HTTPException,
  Request,
  Response,
  Router,
  StreamingResponse,
  WebSocketException,
  withParams,
} from "../../src/index.js";
import { sessionOf, sessions } from "../../src/middleware/index.js";
import { ProtocolError } from "../../src/node.js";
import { TestClient, WebSocketRefusedError } from "../../src/platforms/testing/index.js";
import { KeptLog } from "../../../test/support/kept-log.js";

const create = (options: ConstructorParameters<typeof App>[0] = {}) => {
  const log = new KeptLog();
  return { app: new App({ logger: log, ...options }), log };
};

describe("TestClient", () => {
  it("runs the lifespan around its requests, and hands its state on", async () => {
    const notes: string[] = [];
    const app = new App({
      async *lifespan() {
        notes.push("starts");
        yield { db: "open" };
        notes.push("ends");
      },
    });
    app.get("/", { params: { request: Request } }, async ({ request }) => request.state["db"]);
    app.websocket("/ws", async ({ ws }) => {
      await ws.accept();
      await ws.sendJson(ws.state);
      ws.state["db"] = "changed";
    });
    {
      await using client = await TestClient.open(app);
      await client.get("/").expect(200, '"open"');
      for (let count = 0; count < 2; count++) {
        expect(await (await client.websocket("/ws")).receiveJson()).toEqual({ db: "open" });
      }
      expect(notes).toEqual(["starts"]);
    }
    expect(notes).toEqual(["starts", "ends"]);
  });

  it.each(["get", "post", "put", "patch", "delete", "options", "head", "trace"] as const)(
    "has the verb %s",
    async (verb) => {
      const { app } = create();
      app.route("/", { methods: [verb.toUpperCase()] }, async () => verb);
      await using client = await TestClient.open(app);
      const answer = await client[verb]("/").expect(200);
      expect(answer.text).toBe(verb === "head" ? undefined : JSON.stringify(verb));
    },
  );

  it("serves, and closes, while the timers of a test are faked", async () => {
    jest.useFakeTimers();
    try {
      const app = new App();
      app.get("/", async () => "ok");
      app.get("/stream", async () => new StreamingResponse(Readable.from(["a", "b"])));
      app.websocket("/ws", async ({ ws }) => {
        await ws.accept();
        await ws.receiveText().catch(() => {});
      });
      const client = await TestClient.open(app);
      await client.get("/").expect(200, `"ok"`);
      await client.get("/stream").expect(200);
      await client.websocket("/ws");
      await client.close();
      await app.fetch(new globalThis.Request("http://localhost/"));
      await app.fetch.close();
    } finally {
      jest.useRealTimers();
    }
  });

  it("keeps and sends Secure cookies, such as a session's, in requests and handshakes", async () => {
    const app = new App();
    app.addMiddleware(sessions({ secret: "x".repeat(32) }));
    app.post("/count", { params: { request: Request } }, async ({ request }) => {
      const session = sessionOf<{ count?: number }>(request);
      session.count = (session.count ?? 0) + 1;
      return session.count;
    });
    app.websocket("/count", async ({ ws }) => {
      await ws.accept();
      await ws.sendJson(ws.cookies);
      await ws.close();
    });
    await using client = await TestClient.open(app);
    await client
      .post("/count")
      .expect("set-cookie", /; Secure/)
      .expect(200, "1");
    await client.post("/count").expect(200, "2");
    const ws = await client.websocket("/count");
    expect(Object.keys((await ws.receiveJson()) as object)).toEqual(["__Host-session"]);
  });

  it("ends cookies by Max-Age, which wins over Expires, in requests and handshakes", async () => {
    const { app } = create();
    const set = [
      "short=1; Path=/; Max-Age=60",
      "long=2; Path=/; Max-Age=3600; Expires=Thu, 01 Jan 1970 00:00:00 GMT",
      "endless=3; Path=/; max-age=99999999999999999999",
      "gone=; Path=/; Max-Age=0; Expires=Fri, 31 Dec 9999 23:59:59 GMT",
      "before=; Path=/; Max-Age=-1",
      "text=4; Path=/; Max-Age=soon",
    ].map((cookie): [string, string] => ["set-cookie", cookie]);
    app.get("/start", async () => new Response(null, { headers: [["set-cookie", "gone=5; Path=/"]] }));
    app.get("/set", async () => new Response(null, { headers: set }));
    app.get("/get", { params: { request: Request } }, async ({ request }) => request.cookies);
    app.websocket("/set", async ({ ws }) => ws.accept({ headers: set }));
    for (const over of ["a request", "a handshake"]) {
      await using client = await TestClient.open(app);
      await client.get("/start");
      await client.get("/get").expect({ gone: "5" });
      if (over === "a request") await client.get("/set");
      else await client.websocket("/set");
      await client.get("/get").expect({ short: "1", long: "2", endless: "3", text: "4" });
      const now = Date.now();
      const clock = jest.spyOn(Date, "now").mockImplementation(() => now + 61_000);
      try {
        await client.get("/get").expect({ long: "2", endless: "3", text: "4" });
      } finally {
        clock.mockRestore();
      }
    }
  });

  it("keeps cookies from one request to the next", async () => {
    const app = new App();
    app.get("/set", { params: { response: Response } }, async ({ response }) => response.setCookie("seen", "yes"));
    app.get("/get", { params: { request: Request } }, async ({ request }) => request.cookies);
    await using client = await TestClient.open(app);
    await client.get("/set").expect(200);
    await client.get("/get").expect(200, { seen: "yes" });
    await using other = await TestClient.open(app);
    await other.get("/get").expect(200, {});
  });

  it("sends the headers that it was opened with, which a request may replace", async () => {
    const { app } = create();
    app.get("/", { params: { request: Request } }, async ({ request }) => request.headers["x-user"]);
    app.websocket("/ws", async ({ ws }) => {
      await ws.accept();
      await ws.sendText(ws.headers["x-user"] ?? "nobody");
    });
    await using client = await TestClient.open(app, { headers: { "x-user": "ada" } });
    await client.get("/").expect(200, '"ada"');
    await client.get("/").set("x-user", "eve").expect(200, '"eve"');
    expect(await (await client.websocket("/ws")).receiveText()).toBe("ada");
    expect(await (await client.websocket("/ws", { headers: { "X-User": "eve" } })).receiveText()).toBe("eve");
  });

  it("fails to open when startup fails, and closes once", async () => {
    const { app: failing } = create();
    failing.onStartup(() => {
      throw new Error("no database");
    });
    await expect(TestClient.open(failing)).rejects.toThrow("no database");
    let stops = 0;
    const { app } = create();
    app.onShutdown(() => stops++);
    const client = await TestClient.open(app);
    await Promise.all([client.close(), client.close()]);
    await client.close();
    await client[Symbol.asyncDispose]();
    expect(stops).toBe(1);
    await expect(client.get("/")).rejects.toThrow(/ECONNREFUSED/);
  });

  it("rejects when the shutdown fails", async () => {
    const { app } = create();
    app.onShutdown(() => {
      throw new Error("stuck");
    });
    const client = await TestClient.open(app, { logger: new KeptLog() });
    await expect(client.close()).rejects.toThrow("stuck");
  });

  it("returns the 500 that a client sees for an unhandled error of the application", async () => {
    const { app, log } = create();
    app.get("/", async () => {
      throw new Error("boom");
    });
    await using client = await TestClient.open(app);
    await client.get("/").expect(500, { detail: "Internal Server Error" });
    expect(log.lines).toEqual(["error GET / failed: Error: boom"]);
  });

  it("lists the overrides that were never used, of nested dependencies and WebSockets too", async () => {
    const { app } = create();
    const [unused, used, nested, socket] = [0, 1, 2, 3].map((value) => async () => value);
    const outer = withParams({ inner: Depends(nested as () => Promise<number>) }, async ({ inner }) => inner);
    const router = new Router({ prefix: "/r" });
    router.get("/", { params: { a: Depends(used as () => Promise<number>), b: Depends(outer) } }, async ({ a, b }) => [
      a,
      b,
    ]);
    app.includeRouter(router);
    app.websocket("/ws", { params: { a: Depends(socket as () => Promise<number>) } }, async ({ ws }) => ws.accept());
    for (const original of [unused, used, nested, socket]) {
      app.dependencyOverrides.set(original as () => Promise<number>, async () => 10);
    }
    await using client = await TestClient.open(app);
    expect(client.unusedOverrides()).toEqual([unused, used, nested, socket]);
    await client.get("/r/").expect(200, [10, 10]);
    expect(client.unusedOverrides()).toEqual([unused, socket]);
    await (await client.websocket("/ws")).close();
    expect(client.unusedOverrides()).toEqual([unused]);
  });

  it("serves any ASGI application, one without a lifespan too", async () => {
    const app: ASGIApp = async (scope, receive, send) => {
      if (scope.type === "lifespan") throw new Error("none");
      await receive();
      if (scope.type === "websocket") return send({ type: "websocket.close", code: 4100, reason: "raw" });
      await send({ type: "http.response.start", status: 204 });
      await send({ type: "http.response.body" });
    };
    await using client = await TestClient.open(app);
    await client.get("/").expect(204);
    await expect(client.websocket("/")).rejects.toMatchObject({ code: 4100, reason: "raw" });
    expect(client.unusedOverrides()).toEqual([]);
  });

  it("runs non-async handlers in the process of the test", async () => {
    const { app } = create();
    app.get("/", () => process.pid);
    await using client = await TestClient.open(app);
    await client.get("/").expect(200, String(process.pid));
  });

  it("marks every scope as a test's", async () => {
    const seen: unknown[] = [];
    const app: ASGIApp = async (scope) => void seen.push([scope.type, scope.extensions]);
    await using client = await TestClient.open(app, { logger: new KeptLog() });
    await client.get("/").expect(500);
    await client.websocket("/").catch(() => {});
    expect(seen).toEqual([
      ["lifespan", { "tsgi.testing": {} }],
      ["http", { "tsgi.testing": {} }],
      ["websocket", { "websocket.http.response": {}, "tsgi.websocket.message_limit": {}, "tsgi.testing": {} }],
    ]);
  });
});

describe("a WebSocket of the TestClient", () => {
  const echo = (app: App) =>
    app.websocket("/echo", async ({ ws }) => {
      await ws.accept({ subprotocol: ws.subprotocols[0] as string });
      for await (const message of ws) await ws.send(message);
    });

  it("sends and receives text, bytes and JSON", async () => {
    const { app } = create();
    echo(app);
    await using client = await TestClient.open(app);
    await using ws = await client.websocket("/echo", { subprotocols: ["chat", "other"] });
    expect(ws.subprotocol).toBe("chat");
    await ws.sendText("héllo");
    expect(await ws.receiveText()).toBe("héllo");
    await ws.sendBytes(Uint8Array.of(1, 2));
    expect([...(await ws.receiveBytes())]).toEqual([1, 2]);
    await ws.sendJson({ a: [1] });
    expect(await ws.receiveJson()).toEqual({ a: [1] });
    await ws.send("either");
    await ws.send(Uint8Array.of(3));
    expect([await ws.receive(), [...((await ws.receive()) as Uint8Array)]]).toEqual(["either", [3]]);
  });

  it("waits for its handler's cleanup when it closes, and iterates until then", async () => {
    const { app } = create();
    const notes: string[] = [];
    app.websocket("/ws", async ({ ws }) => {
      await ws.accept();
      await ws.sendText("a");
      await ws.sendText("b");
      for await (const message of ws) notes.push(String(message));
      await new Promise((resolve) => setImmediate(resolve));
      notes.push("cleaned");
    });
    app.websocket("/short", async ({ ws }) => {
      await ws.accept();
      await ws.sendText("only");
    });
    await using client = await TestClient.open(app);
    const ws = await client.websocket("/ws");
    await ws.sendText("x");
    await ws.close();
    await ws.close();
    expect(notes).toEqual(["x", "cleaned"]);
    const got: unknown[] = [];
    for await (const message of await client.websocket("/short")) got.push(message);
    expect(got).toEqual(["only"]);
    await expect(ws.sendText("late")).rejects.toMatchObject({ name: "WebSocketException", code: 1000 });
    await expect((async () => ws.close(1005))()).rejects.toThrow(RangeError);
  });

  it("distinguishes text and bytes", async () => {
    const { app } = create();
    echo(app);
    await using client = await TestClient.open(app);
    await using ws = await client.websocket("/echo", { subprotocols: ["a"] });
    await ws.sendText("text");
    await expect(ws.receiveBytes()).rejects.toThrow('Expected bytes, received "text".');
    await ws.sendBytes(new Uint8Array(3));
    await expect(ws.receiveText()).rejects.toThrow("Expected text, received 3 bytes.");
  });

  it("rejects with status, headers and body when the handshake is rejected", async () => {
    const { app } = create();
    app.websocket("/ws", async () => {
      throw new HTTPException(401, "no", { headers: { "WWW-Authenticate": "Bearer" } });
    });
    await using client = await TestClient.open(app);
    const refusal: unknown = await client.websocket("/ws").catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(WebSocketRefusedError);
    expect(refusal).toBeInstanceOf(WebSocketException);
    expect(refusal).toMatchObject({ statusCode: 401, code: 1006, headers: { "www-authenticate": "Bearer" } });
    expect((refusal as WebSocketRefusedError).json()).toEqual({ detail: "no" });
    expect(String(refusal)).toContain('The WebSocket /ws was refused with status 401. {"detail":"no"}');
    await expect(client.websocket("/none")).rejects.toMatchObject({ statusCode: null, code: 4004, reason: "No route" });
  });

  it("shows the error of an application that lets it escape", async () => {
    const error = new Error("boom");
    const app: ASGIApp = async (scope, receive, send) => {
      if (scope.type !== "websocket") throw new Error("none");
      await receive();
      if (scope.path === "/open") await send({ type: "websocket.accept" });
      throw error;
    };
    await using client = await TestClient.open(app);
    await expect(client.websocket("/")).rejects.toMatchObject({ statusCode: 500, cause: error });
    const ws = await client.websocket("/open");
    expect(await ws.closed).toMatchObject({ code: 1011, cause: error });
  });

  it.each<[string, SendMessage[]]>([
    ["send before accept", [{ type: "websocket.send", text: "x" }]],
    ["an answer of HTTP", [{ type: "http.response.start", status: 200 }]],
    ["accept twice", [{ type: "websocket.accept" }, { type: "websocket.accept" }]],
    ["a message of nothing", [{ type: "websocket.accept" }, { type: "websocket.send" }]],
  ])("is as strict with an application as a server is: %s", async (_what, messages) => {
    const app: ASGIApp = async (scope, receive, send) => {
      if (scope.type !== "websocket") throw new Error("none");
      await receive();
      for (const message of messages) await send(message);
    };
    await using client = await TestClient.open(app);
    const end: unknown = await client.websocket("/").then(
      (ws) => ws.closed,
      (error: unknown) => error,
    );
    expect(end).toMatchObject({ cause: expect.any(ProtocolError) });
  });

  it("shares the cookies of the requests", async () => {
    const { app } = create();
    app.get("/set", { params: { response: Response } }, async ({ response }) => response.setCookie("a", "1"));
    app.get("/get", { params: { request: Request } }, async ({ request }) => request.cookies);
    app.websocket("/ws", async ({ ws }) => {
      await ws.accept({
        headers: [
          ["set-cookie", "b=2; Path=/"],
          ["set-cookie", "c=3"],
        ],
      });
      await ws.sendJson(ws.cookies);
    });
    await using client = await TestClient.open(app);
    await client.get("/set").expect(200);
    expect(await (await client.websocket("/ws")).receiveJson()).toEqual({ a: "1" });
    await client.get("/get").expect(200, { a: "1", b: "2", c: "3" });
  });

  it("is closed with 1012 before the shutdown if it is open when the client closes", async () => {
    const notes: unknown[] = [];
    const { app } = create();
    app.onShutdown(() => notes.push("shutdown"));
    app.websocket("/ws", async ({ ws }) => {
      await ws.accept();
      await ws.receive().catch((error: unknown) => notes.push((error as WebSocketException).code));
    });
    const client = await TestClient.open(app);
    const ws = await client.websocket("/ws");
    await client.close();
    expect(notes).toEqual([1012, "shutdown"]);
    expect((await ws.closed).code).toBe(1012);
  });
});

describe("a WebSocket of the TestClient that does not end", () => {
  it("is rejected with 1012 if the client closes before it is accepted", async () => {
    const { app } = create();
    const entered = new Promise<void>((resolve) => {
      app.websocket("/ws", async ({ ws }) => {
        resolve();
        await new Promise((open) => setImmediate(open));
        await ws.accept();
      });
    });
    const client = await TestClient.open(app);
    const refusal = client.websocket("/ws").catch((error: unknown) => error);
    await entered;
    await client.close();
    expect(await refusal).toMatchObject({ name: "WebSocketRefusedError", code: 1012 });
  });

  it("makes close() reject with its path, after the shutdown", async () => {
    let end = () => {};
    let stopped = false;
    const { app } = create();
    app.onShutdown(() => (stopped = true));
    app.websocket("/stuck", async ({ ws }) => {
      await ws.accept();
      await new Promise<void>((resolve) => (end = resolve));
    });
    const client = await TestClient.open(app, { shutdownTimeoutMs: 200 });
    await client.websocket("/stuck");
    await expect(client.close()).rejects.toThrow(
      "The client has disconnected from /stuck, but the handler still runs after 200 ms.",
    );
    expect(stopped).toBe(true);
    end();
  });
});

describe("TestClient without supertest", () => {
  it("prints the package to install", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "tsgi-testing-"));
    const door = JSON.stringify(
      pathToFileURL(path.resolve(import.meta.dirname, "../../dist/platforms/testing/index.js")).href,
    );
    const hook = `export const resolve = (specifier, context, next) => next(specifier === "supertest" ? "supertest/absent" : specifier, context)
      .catch((error) => { throw specifier === "supertest" ? Object.assign(new Error("Cannot find package 'supertest'"), { code: "ERR_MODULE_NOT_FOUND" }) : error; });`;
    const main = `import { register } from "node:module";
      register("data:text/javascript," + encodeURIComponent(${JSON.stringify(hook)}));
      const { TestClient } = await import(${door});
      await TestClient.open(async () => {}).catch((error) => console.log(error.message, "|", error.cause.code));`;
    await writeFile(path.join(folder, "main.mjs"), main);
    const { stdout } = await promisify(execFile)(process.execPath, [path.join(folder, "main.mjs")]);
    await rm(folder, { recursive: true });
    expect(stdout).toBe(
      "TestClient needs supertest, which is not installed. Run: npm install --save-dev supertest @types/supertest | ERR_MODULE_NOT_FOUND\n",
    );
  });
});
