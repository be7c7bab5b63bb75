import { describe, expect, it } from "@jest/globals";
import {
  App,
  BackgroundTasks,
  ClientDisconnect,
  Depends,
  EventSourceResponse,
  HTTPException,
  JSONResponse,
  PlainTextResponse,
  File,
  Response,
  StreamingResponse,
  withParams,
} from "../../src/index.js";
import { httpMiddleware } from "../../src/middleware/index.js";
import { multipart } from "../../../test/support/multipart.js";
import { refusesConnections, served, Wire } from "../platforms/node/_http.js";
import { MemoryClient } from "../../../test/support/client.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { describeMatrix } from "../../../test/support/matrix.js";

const create = () => {
  const log = new KeptLog();
  return { app: new App({ logger: log }), log };
};

const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

describe("BackgroundTasks", () => {
  it("run in order, one after the other, with their arguments, and those that are added meanwhile", async () => {
    const order: string[] = [];
    const tasks = new BackgroundTasks();
    tasks.addTask(
      async (name: string, count: number) => {
        order.push(`${name} ${count}`);
        await new Promise((resolve) => setImmediate(resolve));
        order.push("first done");
        tasks.addTask(() => void order.push("third"));
      },
      "first",
      1,
    );
    tasks.addTask(() => void order.push("second"));
    expect(tasks.size).toBe(2);
    await tasks.run();
    expect(order).toEqual(["first 1", "first done", "second", "third"]);
    expect(tasks.size).toBe(0);
  });

  it("are functions: their result is rejected when it is added", () => {
    expect(() => new BackgroundTasks().addTask(undefined as never)).toThrow(
      /addTask\(\) takes a function.*, not undefined/,
    );
  });

  it("run on when one fails, which is logged with its name", async () => {
    const log = new KeptLog();
    const order: string[] = [];
    const tasks = new BackgroundTasks(log);
    tasks.addTask(function sendMail() {
      throw new Error("no mail");
    });
    tasks.addTask(() => Promise.reject("text"));
    tasks.addTask(() => void order.push("last"));
    await tasks.run();
    expect(order).toEqual(["last"]);
    expect(log.lines).toEqual(["error Background task sendMail failed", "error Background task anonymous failed"]);
  });
});

describeMatrix("background tasks of a request", ({ call }) => {
  it.each<[string, () => unknown, number]>([
    ["a JSON answer", () => ({ ok: true }), 200],
    ["a Response", () => new PlainTextResponse("ok"), 200],
    ["a stream", () => new StreamingResponse(["a", "b"]), 200],
    ["events", () => new EventSourceResponse(["a"]), 200],
    [
      "an HTTPException",
      () => {
        throw new HTTPException(403);
      },
      403,
    ],
    [
      "an error",
      () => {
        throw new Error("oh");
      },
      500,
    ],
  ])("run after %s, before the cleanup of its dependencies", async (_what, result, status) => {
    const { app } = create();
    const order: string[] = [];
    async function* connect() {
      try {
        yield "db";
      } catch (error) {
        order.push("saw the error");
        throw error;
      }
      order.push("cleanup");
    }
    app.get("/", { params: { db: Depends(connect), tasks: BackgroundTasks } }, async ({ tasks }) => {
      tasks.addTask(() => void order.push("one"));
      tasks.addTask(async () => void order.push("two"));
      return result();
    });
    expect((await call(app, "GET", "/")).status).toBe(status);
    expect(order).toEqual(status === 200 ? ["one", "two", "cleanup"] : ["saw the error", "one", "two"]);
  });

  it("of a response from an exception handler also run", async () => {
    const { app } = create();
    const order: string[] = [];
    app.exceptionHandler(404, () => {
      const background = new BackgroundTasks();
      background.addTask(() => void order.push("handled"));
      return new JSONResponse({}, { statusCode: 404, background });
    });
    app.get("/", async () => {
      throw new HTTPException(404);
    });
    await call(app, "GET", "/");
    await call(app, "GET", "/no/route");
    expect(order).toEqual(["handled", "handled"]);
  });

  it("do not affect the client if they fail", async () => {
    const { app, log } = create();
    const order: string[] = [];
    app.get("/", { params: { tasks: BackgroundTasks } }, async ({ tasks }) => {
      tasks.addTask(function report() {
        throw new Error("no");
      });
      tasks.addTask(() => void order.push("next"));
      return "ok";
    });
    expect(await call(app, "GET", "/")).toMatchObject({ status: 200, json: "ok" });
    expect(order).toEqual(["next"]);
    expect(log.lines).toEqual(["error Background task report failed"]);
  });

  it("run if the cleanup of a dependency adds them, after a result and after an error", async () => {
    const { app } = create();
    const order: string[] = [];
    const audit = withParams({ tasks: BackgroundTasks }, async function* ({ tasks }) {
      try {
        yield null;
      } finally {
        order.push("cleanup");
        tasks.addTask(() => void order.push("task"));
      }
    });
    app.get("/{how}", { params: { audit: Depends(audit) } }, async ({ how }) => {
      if (how === "error") throw new HTTPException(403);
      return how;
    });
    await call(app, "GET", "/result");
    await call(app, "GET", "/error");
    expect(order).toEqual(["cleanup", "task", "cleanup", "task"]);
  });

  it("run if a task of the response adds them to the request, or a task of the request to the response", async () => {
    const { app } = create();
    const order: string[] = [];
    app.get("/", { params: { tasks: BackgroundTasks, draft: Response } }, async ({ tasks, draft }) => {
      const background = new BackgroundTasks();
      draft.background = new BackgroundTasks();
      draft.background.addTask(() => background.addTask(() => tasks.addTask(() => void order.push("last"))));
      return new PlainTextResponse("ok", { background });
    });
    await call(app, "GET", "/");
    expect(order).toEqual(["last"]);
  });

  async function* failing() {
    yield "part";
    throw new Error("broken");
  }

  it.each<[string, (background: BackgroundTasks) => App]>([
    [
      "a stream that fails in its middle",
      (background) => {
        const { app } = create();
        app.get("/", async () => new StreamingResponse(failing(), { background }));
        return app;
      },
    ],
    [
      "a stream of an exception handler that fails in its middle",
      (background) => {
        const { app } = create();
        app.exceptionHandler(404, () => new StreamingResponse(failing(), { statusCode: 404, background }));
        return app;
      },
    ],
    [
      "a stream that fails in its middle, for an error of a route",
      (background) => {
        const { app } = create();
        app.exceptionHandler(RangeError, () => new StreamingResponse(failing(), { background }));
        app.get("/", async () => Promise.reject(new RangeError()));
        return app;
      },
    ],
    [
      "a stream of a middleware that fails in its middle",
      (background) => {
        const { app } = create();
        app.addMiddleware(httpMiddleware(async () => new StreamingResponse(failing(), { background })));
        return app;
      },
    ],
  ])("run after %s", async (_what, define) => {
    const background = new BackgroundTasks();
    const ran = new Promise<void>((resolve) => background.addTask(resolve));
    await call(define(background), "GET", "/").catch(() => {});
    await ran;
    expect(background.size).toBe(0);
  });

  it("can read an uploaded file after a stream that fails in its middle", async () => {
    const { app } = create();
    const read = new Promise<string>((resolve, reject) => {
      app.post("/", { params: { file: File(), tasks: BackgroundTasks } }, async ({ file, tasks }) => {
        tasks.addTask(() => file.text().then(resolve, reject));
        return new StreamingResponse(failing());
      });
    });
    const { body, headers } = multipart(["file", { filename: "a.txt", content: "content" }]);
    await call(app, "POST", "/", { body, headers }).catch(() => {});
    expect(await read).toBe("content");
  });

  it("do not run and are logged if they are added after the end of the request", async () => {
    const { app, log } = create();
    let kept: BackgroundTasks | undefined;
    app.get("/", { params: { tasks: BackgroundTasks } }, async ({ tasks }) => void (kept = tasks));
    await call(app, "GET", "/");
    kept?.addTask(function sendMail() {});
    expect(log.lines).toEqual([
      "error Background task sendMail was added after the end of its request, and does not run",
    ]);
    expect(kept?.size).toBe(0);
  });
});

describe("background tasks of a server", () => {
  it("run after the client has its response, and the connection accepts the next request meanwhile", async () => {
    const { app } = create();
    let finish = () => {};
    const finished = new Promise<void>((resolve) => (finish = resolve));
    app.get("/", { params: { tasks: BackgroundTasks } }, async ({ tasks }) => {
      tasks.addTask(() => finished);
      return "answered";
    });
    await using server = await served(app);
    await using wire = new Wire(server.port);
    await wire.write(GET).until(/answered/);
    expect(await wire.write(GET).until(/answered[^]*answered/)).toMatch(/200 OK[^]*200 OK/);
    finish();
  });

  it.each(["json", "stream"])("are waited for when the server stops: %s", async (kind) => {
    const { app } = create();
    const order: string[] = [];
    let finish = () => {};
    const finished = new Promise<void>((resolve) => (finish = resolve));
    app.onShutdown(() => void order.push("shutdown"));
    app.get("/", { params: { tasks: BackgroundTasks } }, async ({ tasks }) => {
      tasks.addTask(async () => {
        await finished;
        order.push("task");
      });
      return kind === "json" ? "answered" : new StreamingResponse(["answered"]);
    });
    await using server = await served(app);
    await using wire = new Wire(server.port);
    await wire.write(GET).until(/answered/);
    const closed = server.close();
    await refusesConnections(server.port);
    expect(order).toEqual([]);
    finish();
    await closed;
    expect(order).toEqual(["task", "shutdown"]);
  });

  it("run after a stream that fails: its client sees the cut first, and a server that stops waits for them", async () => {
    const { app } = create();
    const order: string[] = [];
    let finish = () => {};
    const finished = new Promise<void>((resolve) => (finish = resolve));
    app.onShutdown(() => void order.push("shutdown"));
    app.get("/", { params: { tasks: BackgroundTasks } }, async function* ({ tasks }) {
      tasks.addTask(async () => {
        await finished;
        order.push("task");
      });
      yield "part";
      throw new Error("broken");
    });
    await using server = await served(app);
    await using wire = new Wire(server.port);
    expect(await wire.write(GET).closed).toMatch(/part/);
    const closed = server.close();
    await refusesConnections(server.port);
    finish();
    await closed;
    expect(order).toEqual(["task", "shutdown"]);
  });

  it("run even if the client did not wait for its response", async () => {
    const { app, log } = create();
    let run = () => {};
    const ran = new Promise<void>((resolve) => (run = resolve));
    let answer = () => {};
    const gone = new Promise<void>((resolve) => (answer = resolve));
    app.get("/", { params: { tasks: BackgroundTasks } }, async ({ tasks }) => {
      tasks.addTask(run);
      await gone;
      return "nobody reads this";
    });
    let call = () => {};
    const called = new Promise<void>((resolve) => (call = resolve));
    await using server = await served((scope, receive, send) => {
      if (scope.type === "http") {
        call();
        void receive().then(receive).then(answer);
      }
      return app(scope, receive, send);
    });
    await using wire = new Wire(server.port);
    wire.write(GET);
    await called;
    wire.socket.resetAndDestroy();
    await ran;
    expect([...log.lines, ...server.logger.at("error")]).toEqual([]);
  });

  it("run after an error that the client did not wait for", async () => {
    const { app, log } = create();
    const order: string[] = [];
    app.get("/", { params: { tasks: BackgroundTasks } }, async ({ tasks }) => {
      tasks.addTask(() => void order.push("task"));
      throw new HTTPException(404);
    });
    await app(
      { type: "http", method: "GET", path: "/" },
      () => Promise.resolve({ type: "http.disconnect" }),
      () => Promise.reject(new ClientDisconnect()),
    );
    expect(order).toEqual(["task"]);
    expect(log.lines).toEqual([]);
  });

  it("run if the handler fails because its client has disconnected", async () => {
    const { app, log } = create();
    const order: string[] = [];
    app.get("/", { params: { tasks: BackgroundTasks } }, async ({ tasks }) => {
      tasks.addTask(() => void order.push("task"));
      throw new ClientDisconnect();
    });
    await app(
      { type: "http", method: "GET", path: "/" },
      () => Promise.resolve({ type: "http.disconnect" }),
      () => {},
    );
    expect(order).toEqual(["task"]);
    expect(log.lines).toEqual([]);
  });

  it("run after the response of a middleware whose client has disconnected", async () => {
    const { app, log } = create();
    const background = new BackgroundTasks();
    const ran = new Promise<void>((resolve) => background.addTask(resolve));
    app.addMiddleware(httpMiddleware(async () => new PlainTextResponse("ok", { background })));
    await app(
      { type: "http", method: "GET", path: "/" },
      () => Promise.resolve({ type: "http.disconnect" }),
      () => Promise.reject(new ClientDisconnect()),
    );
    await ran;
    expect(log.lines).toEqual([]);
  });

  it("run after a stream whose client has disconnected", async () => {
    const { app, log } = create();
    const order: string[] = [];
    app.get("/", { params: { tasks: BackgroundTasks } }, async ({ tasks }) => {
      tasks.addTask(() => void order.push("task"));
      return new StreamingResponse(
        (async function* () {
          for (;;) yield "x";
        })(),
      );
    });
    const client = new MemoryClient(app, "GET", "/");
    await client.received(3);
    client.leave();
    await client.ended;
    expect(order).toEqual(["task"]);
    expect(log.lines).toEqual([]);
  });
});
