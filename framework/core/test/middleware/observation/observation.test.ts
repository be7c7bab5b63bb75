import { describe, expect, it } from "@jest/globals";
import {
  App,
  BackgroundTasks,
  ClientDisconnect,
  Depends,
  HTTPException,
  type Instrumentation,
  PlainTextResponse,
  Query,
  Request,
  Router,
  StreamingResponse,
  t,
  withParams,
} from "../../../src/index.js";
import { httpMiddleware, requestId } from "../../../src/middleware/index.js";
import { observedOf } from "../../../src/middleware/observation/observed.js";
import { TestClient } from "../../../src/platforms/testing/index.js";
import { describeMatrix } from "../../../../test/support/matrix.js";
import { KeptLog } from "../../../../test/support/kept-log.js";
import { describeSocketMatrix } from "../../../../test/support/socket-matrix.js";
import { Recorder } from "./_recorder.js";

const create = (...others: readonly Instrumentation[]) => {
  const log = new KeptLog();
  const seen = new Recorder();
  return { log, seen, app: new App({ logger: log, instrumentation: [seen, ...others] }) };
};

describeMatrix("an observed request", ({ call, transport }) => {
  it("is reported from its start to its end, with each step by name", async () => {
    const { app, seen } = create();
    const getUser = withParams({ name: t.String() }, async function getUser({ name }) {
      return name;
    });
    const notify = () => {};
    app.post(
      "/items/{id}",
      {
        name: "save",
        params: { id: t.Integer(), item: t.Object({ n: t.Integer() }), user: Depends(getUser), tasks: BackgroundTasks },
        returns: t.Object({ id: t.Integer() }),
      },
      async function saveItem({ id, tasks }) {
        tasks.addTask(notify);
        return { id };
      },
    );
    const answer = await call(app, "POST", "/items/5?name=ada", { json: { n: 1 } });
    expect(answer).toMatchObject({ status: 200, json: { id: 5 }, headers: { "x-seen": "yes" } });
    expect(seen.lines).toEqual([
      "start http /items/5",
      "route /items/{id} save",
      "begin validation saveItem",
      "end validation saveItem",
      "begin validation getUser",
      "end validation getUser",
      "begin dependency getUser",
      "end dependency getUser",
      "begin validation saveItem",
      "end validation saveItem",
      "begin handler saveItem",
      "end handler saveItem",
      "begin serialization saveItem",
      "end serialization saveItem",
      "response 200 application/json",
      "begin background notify",
      "end background notify",
      "over",
    ]);
  });

  it("names anonymous functions by their parameters, guards by their position, and the handler by its route", async () => {
    const { app, seen, log } = create();
    const guard = withParams({ key: Query() }, async ({ key }) => key);
    const settings = withParams({}, async function* () {
      yield 1;
      throw new Error("busy");
    });
    const router = new Router({ dependencies: [Depends(guard)] });
    const limit = withParams({ settings: Depends(settings) }, async (args) => args.settings);
    router.get("/items", { params: { limit: Depends(limit), page: Query() } }, async ({ page }) => page);
    app.includeRouter(router);
    await call(app, "GET", "/items?page=1&key=k");
    expect(seen.of("route", "begin")).toEqual([
      "route /items GET /items",
      "begin validation guard 1",
      "begin dependency guard 1",
      "begin validation GET /items",
      "begin dependency settings",
      "begin dependency limit",
      "begin handler GET /items",
      "begin serialization GET /items",
    ]);
    expect(log.lines).toEqual([expect.stringContaining("The cleanup of the dependency settings failed")]);
  });

  it("has its context in middleware, guards, dependencies, the handler, its stream, tasks and cleanup", async () => {
    const { app, seen } = create();
    const places: string[] = [];
    const note = (place: string) => void places.push(`${place} ${seen.current.getStore()}`);
    async function* open() {
      await Promise.resolve();
      note("open");
      yield 1;
      note("close");
    }
    async function guard() {
      await new Promise((resolve) => setImmediate(resolve));
      note("guard");
    }
    app.addMiddleware(httpMiddleware(async (_request, next) => void (note("middleware"), await next())));
    app.get(
      "/s",
      { dependencies: [Depends(guard)], params: { one: Depends(open), tasks: BackgroundTasks } },
      async function* ({ tasks }) {
        tasks.addTask(async () => {
          await Promise.resolve();
          note("task");
        });
        note("handler");
        yield 1;
        await new Promise((resolve) => setImmediate(resolve));
        note("stream");
        yield 2;
      },
    );
    expect((await call(app, "GET", "/s")).text).toBe("1\n2\n");
    expect(places).toEqual(
      ["middleware", "guard", "open", "handler", "stream", "task", "close"].map((place) => `${place} /s`),
    );
  });

  it("ends when a stream has ended, and not before", async () => {
    const { app, seen } = create();
    const during: number[] = [];
    app.get("/s", async function* items() {
      yield 1;
      await Promise.resolve();
      during.push(seen.ended);
      yield 2;
    });
    await call(app, "GET", "/s");
    expect(during).toEqual([0]);
    expect(seen.lines.slice(2)).toEqual([
      "begin handler items",
      "end handler items",
      "begin serialization items",
      "response 200 application/jsonl",
      "end serialization items",
      "over",
    ]);
  });

  it("has no route if no pattern matches, and no error if the status is below 500", async () => {
    const { app, seen } = create();
    app.get("/teapot", async function brew() {
      throw new HTTPException(418);
    });
    app.get("/typed/{n}", { params: { n: t.Integer() } }, async function typed() {});
    for (const [target, status] of [
      ["/none", 404],
      ["/teapot", 418],
      ["/typed/x", 422],
    ] as const) {
      seen.lines.length = 0;
      expect(await call(app, "GET", target)).toMatchObject({ status });
      expect(seen.of("route", "response", "over")).toEqual([
        ...(status === 404 ? [] : [status === 418 ? "route /teapot brew" : "route /typed/{n} typed"]),
        `response ${status} application/json`,
        "over",
      ]);
    }
    expect(seen.of("end validation")).toEqual([expect.stringMatching(/^end validation typed RequestValidationError/)]);
  });

  it("ends with an error that results in a status of 500 or more, even by an exception handler", async () => {
    const { app, seen } = create();
    class Away extends Error {}
    class Gone extends Error {}
    app.exceptionHandler(Away, () => new PlainTextResponse("away", { statusCode: 503 }));
    app.exceptionHandler(Gone, () => new PlainTextResponse("gone", { statusCode: 410 }));
    const errors = {
      boom: new Error("boom"),
      away: new Away("db"),
      gone: new Gone("it"),
      late: new HTTPException(504),
    };
    app.get("/{name}", async ({ name }) => {
      throw errors[name as keyof typeof errors];
    });
    for (const name of Object.keys(errors)) await call(app, "GET", `/${name}`);
    expect(seen.of("over")).toEqual([
      "over Error: boom",
      "over Error: db",
      "over",
      expect.stringMatching(/^over HTTP/),
    ]);
    expect(seen.of("response")).toEqual([
      "response 500 application/json",
      "response 503 text/plain; charset=utf-8",
      "response 410 text/plain; charset=utf-8",
      "response 504 application/json",
    ]);
  });

  it("ends with an error of a middleware, or with an error after the head", async () => {
    const { app, seen } = create();
    app.get("/s", async function* () {
      yield 1;
      throw new Error("late");
    });
    app.get("/m", async () => 1);
    app.addMiddleware((inner) => (scope, ...rest) => {
      if (scope.type === "http" && scope.path === "/m") throw new Error("middleware");
      return inner(scope, ...rest);
    });
    await call(app, "GET", "/s").catch(() => {});
    expect(await call(app, "GET", "/m")).toMatchObject({ status: 500 });
    expect(seen.of("over")).toEqual(["over Error: late", "over Error: middleware"]);
  });

  it("has the whole pattern of a route, with the prefixes of routers and mounts", async () => {
    const { app, seen } = create();
    const inner = new App({ logger: new KeptLog() });
    const router = new Router({ prefix: "/v1" });
    router.get("/items/{id}", async function readItem() {});
    inner.includeRouter(router);
    inner.get("/", async function root() {});
    app.mount("/api", inner);
    app.get("/", async function home() {});
    for (const path of ["/", "/api", "/api/v1/items/5", "/api/none"]) await call(app, "GET", path);
    expect(seen.of("route")).toEqual(["route / home", "route /api root", "route /api/v1/items/{id} readItem"]);
    expect(seen.of("response")).toHaveLength(4);
    expect(seen.of("start")).toHaveLength(4);
  });

  it("is seen by the instrumentations of both Apps below a mount, by each once, by a common one too", async () => {
    const outer = new Recorder("outer");
    const own = new Recorder("inner");
    const common = new Recorder("common");
    const inner = new App({ logger: new KeptLog(), instrumentation: [own, common] });
    inner.get("/x", async function x() {
      throw new Error("both");
    });
    const app = new App({ logger: new KeptLog(), instrumentation: [outer, common] });
    app.mount("/api", inner);
    const answer = await call(app, "GET", "/api/x");
    for (const { name, lines } of [outer, own, common]) {
      expect(lines).toEqual(
        [
          "start http /api/x",
          "route /api/x x",
          "begin handler x",
          "end handler x Error: both",
          "response 500 application/json",
          "over Error: both",
        ].map((line) => name + line),
      );
    }
    const added = answer.headerLines.filter(([name]) => name === "x-seen").map(([, value]) => value);
    expect(added.join(", ")).toBe("inner, outer, common");
  });

  it("nests the contexts of several instrumentations in the order of the list", async () => {
    const order: string[] = [];
    const nesting = (name: string): Instrumentation => ({
      start: () => ({
        run: (fn) => {
          order.push(name);
          return fn();
        },
      }),
    });
    const app = new App({ instrumentation: [nesting("a"), { start: () => undefined }, nesting("b")] });
    app.get("/", async () => void order.push("handler"));
    await call(app, "GET", "/");
    expect(order).toEqual(["a", "b", "handler"]);
  });

  it("is served as ever when every method fails: each is logged once", async () => {
    const fail = () => {
      throw new Error("mine");
    };
    const later = (() => Promise.reject(new Error("mine"))) as () => never;
    let turn = 0;
    const { app, log } = create(
      { start: fail },
      { start: () => ({ run: fail, route: fail, step: fail, response: fail, end: fail }) },
      { start: () => ({ step: () => fail }) },
      { start: () => ({ route: later, response: later, end: later, step: () => later, run: later }) },
      {
        start: () => ({
          run: (fn) => {
            fn();
            return fail();
          },
        }),
      },
    );
    app.get("/", async () => ++turn);
    for (const n of [1, 2]) expect(await call(app, "GET", "/")).toMatchObject({ status: 200, json: n });
    await new Promise((resolve) => setImmediate(resolve));
    const counts = (name: string) => log.lines.filter((line) => line.startsWith(`error ${name}() of an instr`)).length;
    expect(["start", "run", "route", "step", "response", "end"].map(counts)).toEqual([1, 3, 2, 3, 2, 2]);
    expect(log.lines).toHaveLength(13);
  });

  it("keeps a separate context while other requests are served concurrently", async () => {
    const { app, seen } = create();
    app.get("/{name}", async ({ name }) => {
      await new Promise((resolve) => setImmediate(resolve));
      return [name, seen.current.getStore()];
    });
    const answers = await Promise.all(["a", "b", "c"].map((name) => call(app, "GET", `/${name}`)));
    expect(answers.map(({ json }) => json)).toEqual(["a", "b", "c"].map((name) => [name, `/${name}`]));
  });

  it("counts the bytes of the body, and has the id of the request", async () => {
    const notes: unknown[] = [];
    const { app } = create({
      start: (scope) => ({
        end: () => {
          const observed = observedOf(scope);
          notes.push([observed?.bytesSent, observed?.requestId]);
        },
      }),
    });
    let number = 0;
    app.addMiddleware(requestId({ generate: () => `id-${++number}` }));
    app.get("/json", async () => "é");
    app.get("/text", async () => "plain");
    app.get("/stream", async () => new StreamingResponse(["ab", "cd"]));
    await call(app, "GET", "/json");
    await call(app, "GET", "/text");
    await call(app, "GET", "/stream");
    await call(app, "HEAD", "/text");
    expect(notes).toEqual([
      [4, "id-1"],
      [7, "id-2"],
      [4, "id-3"],
      [0, "id-4"],
    ]);
  });

  if (transport === "memory") {
    it("has a step for the pool within the step of a non-async handler", async () => {
      const { app, seen } = create();
      app.get("/", function plain() {
        return 1;
      });
      await using client = await TestClient.open(app);
      expect((await client.get("/")).statusCode).toBe(200);
      expect(seen.of("begin", "end")).toEqual([
        "begin handler plain",
        "begin pool plain",
        "end pool plain",
        "end handler plain",
        "begin serialization plain",
        "end serialization plain",
      ]);
    });

    it("ends without an error if the client disconnects, before the response or in the middle of it", async () => {
      const { app, seen, log } = create();
      app.post("/b", { params: { request: Request } }, async ({ request }) => request.json());
      app.get("/s", async function* () {
        for (;;) yield new Promise((resolve) => setImmediate(() => resolve(1)));
      });
      const scope = { type: "http", path: "/b", method: "POST" } as const;
      await app(
        scope,
        async () => ({ type: "http.disconnect" }),
        () => {},
      );
      expect(seen.lines.splice(0)).toEqual([
        "start http /b",
        "route /b POST /b",
        "begin handler POST /b",
        expect.stringMatching(/^end handler POST \/b ClientDisconnect/),
        "over",
      ]);
      await app(
        { ...scope, path: "/s", method: "GET" },
        async () => ({ type: "http.disconnect" }),
        () => {},
      );
      expect(seen.of("over")).toEqual(["over"]);
      expect(log.lines).toEqual([]);
    });

    it("ends after the background tasks of a stream that fails in its middle", async () => {
      const { app, seen } = create();
      const over = new Promise<void>((resolve) => {
        app.get("/", { params: { tasks: BackgroundTasks } }, async function* stream({ tasks }) {
          tasks.addTask(function last() {
            void new Promise(setImmediate).then(() => resolve());
          });
          yield 1;
          throw new Error("broken");
        });
      });
      await expect(call(app, "GET", "/")).rejects.toThrow("broken");
      await over;
      expect(seen.lines.slice(-3)).toEqual(["begin background last", "end background last", "over Error: broken"]);
    });

    it("ends without an error if a mounted application throws because the client has disconnected", async () => {
      const { app, seen } = create();
      app.mount("/foreign", async () => {
        throw new ClientDisconnect();
      });
      const receive = async () => ({ type: "websocket.connect" }) as const;
      await expect(app({ type: "websocket", path: "/foreign" }, receive, () => {})).rejects.toThrow(ClientDisconnect);
      expect(seen.lines).toEqual(["start websocket /foreign", "over"]);
    });

    it("does not modify the scope, and starts the instrumentation with the canonical path", async () => {
      const { app, seen } = create();
      app.get("/a/b", async () => 1);
      const scope = Object.freeze({ type: "http", path: "//a//b", method: "GET" } as const);
      await app(
        scope,
        async () => ({ type: "http.request" }),
        () => {},
      );
      expect(seen.of("start", "route")).toEqual(["start http /a/b", "route /a/b GET /a/b"]);
    });
  }
});

describeSocketMatrix("an observed WebSocket", ({ connect, refused }) => {
  it("is reported from its start to its end, with 101, in its context", async () => {
    const { app, seen } = create();
    const getUser = () => seen.current.getStore();
    app.websocket(
      "/ws/{room}",
      { params: { user: Depends(getUser), tasks: BackgroundTasks } },
      async function chat({ ws, user, tasks }) {
        tasks.addTask(function leave() {});
        await ws.accept({ headers: { "x-mine": "1" } });
        await ws.sendJson([user, await ws.receiveText(), seen.current.getStore()]);
      },
    );
    const peer = await connect(app, "/ws/a");
    expect(peer.headers).toMatchObject({ "x-mine": "1", "x-seen": "yes" });
    await peer.sendText("hi");
    expect(await peer.receiveJson()).toEqual(["/ws/a", "hi", "/ws/a"]);
    await peer.settled();
    expect(seen.lines).toEqual([
      "start websocket /ws/a",
      "route /ws/{room} chat",
      "begin validation chat",
      "end validation chat",
      "begin dependency getUser",
      "end dependency getUser",
      "begin handler chat",
      "response 101",
      "end handler chat",
      "begin background leave",
      "end background leave",
      "over",
    ]);
  });

  it.each<[string, string, RegExp[]]>([
    ["has the status of its refusal", "/forbidden", [/^response 401 application\/json$/, /^over$/]],
    ["has 500 and the error where a dependency fails", "/broken", [/^response 500 /, /^over Error: broken$/]],
    ["has 403 where it is closed before it is accepted", "/closed", [/^response 403$/, /^over$/]],
    ["has no route and 403 where none matches", "/none", [/^response 403$/, /^over$/]],
  ])("%s", async (_, path, expected) => {
    const { app, seen } = create();
    const dependency = () => {
      if (path === "/broken") throw new Error("broken");
      if (path === "/forbidden") throw new HTTPException(401);
    };
    for (const route of ["/forbidden", "/broken", "/closed"]) {
      app.websocket(route, { params: { none: Depends(dependency) } }, async ({ ws }) => ws.close());
    }
    await refused(app, path);
    expect(seen.of("response", "over")).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
    expect(seen.of("route")).toHaveLength(path === "/none" ? 0 : 1);
  });

  it("ends with the error of its handler, and without one if the client disconnects", async () => {
    const { app, seen } = create();
    app.websocket("/{how}", async ({ ws, how }) => {
      await ws.accept();
      await ws.receive();
      if (how === "throw") throw new Error("handler");
      await ws.receive();
    });
    const failing = await connect(app, "/throw");
    await failing.sendText("go");
    await failing.closed;
    await failing.settled();
    const leaving = await connect(app, "/leave");
    await leaving.terminate();
    await leaving.settled();
    expect(seen.of("over")).toEqual(["over Error: handler", "over"]);
  });
});

describe("the option instrumentation", () => {
  it("accepts one or an array, and rejects a value without `start`", async () => {
    const seen = new Recorder();
    const app = new App({ instrumentation: seen });
    app.get("/", async () => 1);
    await using client = await TestClient.open(app);
    await client.get("/");
    expect(seen.of("over")).toEqual(["over"]);
    for (const wrong of [{}, [seen, {}], () => {}, "otel", null]) {
      expect(() => new App({ instrumentation: wrong as never })).toThrow(/instrumentation should be an object with/);
    }
  });
});
