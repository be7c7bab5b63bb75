import { setImmediate as loopTurn } from "node:timers/promises";
import { afterEach, describe, expect, it, jest } from "@jest/globals";
import { context as otelContext, trace } from "@opentelemetry/api";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { pino } from "pino";
import {
  App,
  BackgroundTasks,
  ConfigurationError,
  Depends,
  HTTPConnection,
  Request,
  t,
  withParams,
} from "../../src/index.js";
import { httpMiddleware, logContext, requestId } from "../../src/middleware/index.js";
import { openTelemetry } from "@tsgi/otel";
import { describeMatrix } from "../../../test/support/matrix.js";
import { describeSocketMatrix } from "../../../test/support/socket-matrix.js";

type Line = Record<string, unknown>;

/** An App whose log is pino's, and what it has written. */
const create = () => {
  const written: string[] = [];
  const context = logContext();
  const logger = pino(
    { level: "debug", base: null, mixin: context.fields },
    { write: (text: string) => void written.push(text) },
  );
  let ids = 0;
  const app = new App({
    logger,
    instrumentation: context,
    middleware: [requestId({ generate: () => `id-${++ids}` })],
  });
  const lines = () => written.map((text) => JSON.parse(text) as Line);
  const lineOf = (message: string) => lines().find(({ msg }) => msg === message);
  return { app, context, logger, written, lines, lineOf };
};

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const TRACEPARENT = ["traceparent", `00-${TRACE_ID}-00f067aa0ba902b7-01`] as const;
const TIMED = { elapsedMs: expect.any(Number) };

describeMatrix("logContext", ({ call }) => {
  it("puts the ids, the method, the route and the time into each line of a request", async () => {
    const { app, logger, lines } = create();
    const getUser = withParams({}, async () => {
      await loopTurn();
      logger.info("dependency");
    });
    const layer = httpMiddleware(async (_request, next) => {
      logger.info("before");
      await next();
      logger.info("after");
    });
    app.addMiddleware(layer);
    app.get("/items/{id}", { params: { user: Depends(getUser), tasks: BackgroundTasks } }, async ({ tasks }) => {
      await loopTurn();
      logger.info("handler");
      tasks.addTask(async () => {
        await loopTurn();
        logger.info("task");
      });
    });
    await call(app, "GET", "/items/5?token=secret", { headers: [TRACEPARENT, ["cookie", "session=secret"]] });
    const known = { method: "GET", traceId: TRACE_ID, ...TIMED };
    // The last middleware is outermost: there the request has no id yet.
    expect(lines().map(({ level: _level, time: _time, ...line }) => line)).toEqual([
      { ...known, msg: "before" },
      { ...known, requestId: "id-1", route: "/items/{id}", msg: "dependency" },
      { ...known, requestId: "id-1", route: "/items/{id}", msg: "handler" },
      { ...known, requestId: "id-1", route: "/items/{id}", msg: "after" },
      { ...known, requestId: "id-1", route: "/items/{id}", msg: "task" },
    ]);
    expect(JSON.stringify(lines())).not.toContain("secret");
    const times = lines().map((line) => line["elapsedMs"] as number);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  it("is in the lines of the framework: errors of handlers, of tasks and of cleanup", async () => {
    const { app, lines } = create();
    const failing = withParams({}, async function* failing() {
      yield 1;
      throw new Error("cleanup");
    });
    app.post("/broken/{id}", async () => {
      throw new Error("handler");
    });
    app.get("/late", { params: { value: Depends(failing), tasks: BackgroundTasks } }, async ({ tasks }) => {
      tasks.addTask(async () => {
        throw new Error("task");
      });
    });
    await call(app, "POST", "/broken/5");
    await call(app, "GET", "/late").catch(() => {});
    const errors = lines().filter(({ level }) => level === 50);
    expect(errors.map(({ err, requestId: id, route }) => [(err as Error).message, id, route])).toEqual(
      expect.arrayContaining([
        ["handler", "id-1", "/broken/{id}"],
        ["task", "id-2", "/late"],
        ["cleanup", "id-2", "/late"],
      ]),
    );
    expect(errors.every(({ elapsedMs }) => typeof elapsedMs === "number")).toBe(true);
  });

  it("does not mix concurrent requests", async () => {
    const { app, logger, lines } = create();
    app.get("/{name}", { params: { request: Request } }, async ({ name, request }) => {
      for (let turn = 0; turn < 5; turn++) {
        logger.info({ name, id: request.state["requestId"] }, "turn");
        await loopTurn();
      }
      return name;
    });
    await Promise.all(Array.from({ length: 20 }, (_, index) => call(app, "GET", `/${index}`)));
    expect(lines()).toHaveLength(100);
    expect(lines().filter(({ id, requestId: of }) => id !== of)).toEqual([]);
    expect(new Set(lines().map(({ requestId: of }) => of)).size).toBe(20);
  });

  it("lasts until the end of a stream", async () => {
    const { app, logger, lineOf } = create();
    app.get("/stream", async function* () {
      yield 1;
      await loopTurn();
      logger.info("between");
      yield 2;
    });
    await call(app, "GET", "/stream");
    expect(lineOf("between")).toMatchObject({ requestId: "id-1", route: "/stream" });
  });

  it("adds its fields to a child logger from a dependency, and the whole pattern below a mount", async () => {
    const { app, context, logger, lineOf } = create();
    const getLog = withParams({ connection: HTTPConnection }, async ({ connection }) =>
      logger.child({ path: connection.path }),
    );
    const inner = new App({ logger, instrumentation: context });
    inner.get("/items/{id}", { params: { log: Depends(getLog), id: t.Integer() } }, async ({ log, id }) => {
      log.info({ id }, "read");
    });
    app.mount("/shop", inner);
    await call(app, "GET", "/shop/items/5");
    expect(lineOf("read")).toMatchObject({ requestId: "id-1", route: "/shop/items/{id}", id: 5 });
  });

  it("has the trace that OpenTelemetry has begun", async () => {
    const { app, logger, lineOf } = create();
    const provider = new NodeTracerProvider();
    provider.register();
    const outer = new App({ instrumentation: openTelemetry({ tracerProvider: provider }) });
    app.get("/", async () => {
      logger.info({ active: trace.getActiveSpan()?.spanContext().traceId }, "traced");
    });
    outer.mount("/shop", app);
    await call(outer, "GET", "/shop/");
    const line = lineOf("traced");
    expect(line?.["traceId"]).toMatch(/^[\da-f]{32}$/);
    expect(line?.["traceId"]).toBe(line?.["active"]);
    await provider.shutdown();
    otelContext.disable();
    trace.disable();
  });
});

describeSocketMatrix("logContext of a WebSocket", ({ connect }) => {
  it("lasts as long as the WebSocket, and two are not mixed", async () => {
    const { app, logger, lines } = create();
    app.websocket("/ws/{room}", async ({ ws, room }) => {
      await ws.accept();
      for await (const text of ws) {
        logger.info({ room }, String(text));
        await ws.sendText("done");
      }
    });
    const [first, second] = [
      await connect(app, "/ws/a", { headers: { traceparent: TRACEPARENT[1] } }),
      await connect(app, "/ws/b"),
    ];
    for (const peer of [first, second, first]) {
      await peer.sendText("message");
      await peer.receiveText();
    }
    await first.close();
    await second.close();
    const known = { msg: "message", method: "GET", route: "/ws/{room}", ...TIMED };
    expect(lines()).toMatchObject([
      { ...known, room: "a", traceId: TRACE_ID },
      { ...known, room: "b" },
      { ...known, room: "a", traceId: TRACE_ID },
    ]);
    expect(lines()[1]).not.toHaveProperty("traceId");
  });
});

describe("logContext", () => {
  afterEach(() => void jest.restoreAllMocks());

  it("has no fields outside of requests", () => {
    const { context, logger, lines } = create();
    logger.info("start");
    expect([context.fields(), Object.keys(lines()[0]!)]).toEqual([{}, ["level", "time", "msg"]]);
  });

  it("stays one line of visible text for any id and method", async () => {
    const { app, logger, context, written } = create();
    const seen: unknown[] = [];
    app.addMiddleware((next) => (scope, receive, send) => {
      logger.info("here");
      seen.push(context.fields());
      return next(scope, receive, send);
    });
    await app(
      {
        type: "http",
        method: "GET\u001b[2J\u2028",
        path: "/",
        state: { requestId: "a\r\n\u0085b" },
      },
      async () => ({ type: "http.disconnect" }),
      () => {},
    );
    expect(written.join("").trimEnd()).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
    expect(seen).toMatchObject([{ method: "GET\\u001b[2J\\u2028", requestId: "a\\r\\n\\u0085b" }]);
  });

  it("rejects a platform without AsyncLocalStorage", () => {
    jest.spyOn(process, "getBuiltinModule").mockReturnValue(undefined);
    expect(() => logContext()).toThrow(ConfigurationError);
    expect(() => logContext()).toThrow(/logContext\(\).*node:async_hooks/);
  });
});
