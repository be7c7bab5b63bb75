import { afterAll, afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { context, propagation, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import * as semconv from "@opentelemetry/semantic-conventions";
import { App, BackgroundTasks, Depends, HTTPException, t } from "tsgi";
import { accessLog } from "tsgi/middleware";
import { openTelemetry, type OpenTelemetryOptions } from "../src/index.js";
import { TestClient } from "tsgi/testing";
import { KeptLog } from "../../test/support/kept-log.js";
import { describeMatrix } from "../../test/support/matrix.js";
import { describeSocketMatrix } from "../../test/support/socket-matrix.js";
import { Telemetry } from "./_telemetry.js";

const telemetry = new Telemetry();

beforeAll(() => telemetry.tracerProvider.register());
afterEach(() => void telemetry.takeSpans());
afterAll(() => {
  trace.disable();
  context.disable();
  propagation.disable();
});

const create = (options: OpenTelemetryOptions = {}) =>
  new App({ logger: new KeptLog(), instrumentation: openTelemetry(options) });

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";
const TRACEPARENT = ["traceparent", `00-${TRACE}-${PARENT}-01`] as const;

const activeId = () => trace.getActiveSpan()?.spanContext().spanId;
const later = () => new Promise((resolve) => setImmediate(resolve));

it("makes a span without a status of a request whose client disconnected, even if its handler responds", async () => {
  const app = create();
  const client = new AbortController();
  app.get("/slow", async () => client.abort());
  const kept: Promise<unknown>[] = [];
  const request = new Request("http://localhost/slow", { signal: client.signal });
  await app.fetch(request, { waitUntil: (promise) => void kept.push(promise) });
  await Promise.all(kept);
  const { name, attributes, status } = telemetry.takeSpan();
  expect([name, attributes[semconv.ATTR_HTTP_RESPONSE_STATUS_CODE], status.code]).toEqual([
    "GET /slow",
    undefined,
    SpanStatusCode.UNSET,
  ]);
  await app.fetch.close();
});

describeMatrix("openTelemetry", ({ call, transport }) => {
  it("makes a server span with the attributes of the semantic conventions, and no other", async () => {
    const app = create();
    app.get("/items/{item_id}", { params: { item_id: t.Integer() } }, async ({ item_id }) => ({ item_id }));
    await call(app, "GET", "/items/5?token=secret", {
      headers: [
        ["cookie", "session=secret"],
        ["user-agent", "secret"],
      ],
    });
    const { name, kind, attributes, status, parentSpanContext } = telemetry.takeSpan();
    expect([name, kind, parentSpanContext]).toEqual(["GET /items/{item_id}", SpanKind.SERVER, undefined]);
    expect(status).toEqual({ code: SpanStatusCode.UNSET });
    const { [semconv.ATTR_SERVER_ADDRESS]: server, [semconv.ATTR_SERVER_PORT]: port, ...others } = attributes;
    expect([typeof server, typeof port]).toEqual(
      transport === "memory" ? ["undefined", "undefined"] : ["string", "number"],
    );
    expect(others).toEqual({
      [semconv.ATTR_HTTP_REQUEST_METHOD]: semconv.HTTP_REQUEST_METHOD_VALUE_GET,
      [semconv.ATTR_HTTP_ROUTE]: "/items/{item_id}",
      [semconv.ATTR_HTTP_RESPONSE_STATUS_CODE]: 200,
      [semconv.ATTR_URL_SCHEME]: "http",
      [semconv.ATTR_URL_PATH]: "/items/5",
      ...(transport === "memory"
        ? {}
        : { [semconv.ATTR_NETWORK_PROTOCOL_VERSION]: transport === "http2" ? "2" : "1.1" }),
      [semconv.ATTR_CLIENT_ADDRESS]: "127.0.0.1",
    });
    expect(JSON.stringify(attributes)).not.toContain("secret");
  });

  it("has the span of traceparent as its parent", async () => {
    const app = create();
    app.get("/", async () => 1);
    await call(app, "GET", "/", { headers: [TRACEPARENT, ["tracestate", "vendor=1"]] });
    const span = telemetry.takeSpan();
    expect(span.spanContext().traceId).toBe(TRACE);
    expect(span.parentSpanContext).toMatchObject({ traceId: TRACE, spanId: PARENT, isRemote: true });
    expect(span.spanContext().traceState?.serialize()).toBe("vendor=1");
  });

  it("is active in guards, dependencies, the handler, its stream, cleanup and tasks, even after awaits", async () => {
    const app = create();
    const seen: (string | undefined)[] = [];
    const note = async () => {
      seen.push(activeId());
      await later();
      seen.push(activeId());
    };
    async function* open() {
      await note();
      yield 1;
      await note();
    }
    app.get(
      "/s",
      { dependencies: [Depends(note)], params: { one: Depends(open), tasks: BackgroundTasks } },
      async function* ({ tasks }) {
        tasks.addTask(note);
        await note();
        yield 1;
        await note();
        yield 2;
      },
    );
    await call(app, "GET", "/s");
    const { spanId } = telemetry.takeSpan().spanContext();
    expect(seen).toEqual(Array.from({ length: 12 }, () => spanId));
  });

  it("uses only the method without a route, and HTTP for a method that the conventions do not define", async () => {
    const app = create();
    await call(app, "GET", "/none");
    const missing = telemetry.takeSpan();
    expect([missing.name, missing.attributes[semconv.ATTR_HTTP_ROUTE]]).toEqual(["GET", undefined]);
    expect(missing.attributes[semconv.ATTR_HTTP_RESPONSE_STATUS_CODE]).toBe(404);
    if (transport !== "memory") return;
    await call(app, "PROPFIND", "/");
    const { name, attributes } = telemetry.takeSpan();
    expect(name).toBe("HTTP");
    expect(attributes).toMatchObject({
      [semconv.ATTR_HTTP_REQUEST_METHOD]: semconv.HTTP_REQUEST_METHOD_VALUE_OTHER,
      [semconv.ATTR_HTTP_REQUEST_METHOD_ORIGINAL]: "PROPFIND",
    });
  });

  it("fails only with a status of 500 or more and with an error after the head", async () => {
    class DatabaseError extends Error {}
    const app = create();
    app.get("/{how}", async function* ({ how }) {
      if (how === "refused") throw new HTTPException(403);
      if (how === "unavailable") throw new HTTPException(503);
      if (how === "late") yield 1;
      throw new DatabaseError(how);
    });
    app.get("/response/503", { params: {} }, async () => new Response(null, { status: 503 }));
    const rows = [];
    for (const path of ["/refused", "/unavailable", "/late", "/broken", "/response/503"]) {
      await call(app, "GET", path).catch(() => {});
      const { status, attributes, events } = telemetry.takeSpan();
      rows.push([path, status.code, attributes[semconv.ATTR_ERROR_TYPE], events.length]);
    }
    expect(rows).toEqual([
      ["/refused", SpanStatusCode.UNSET, undefined, 0],
      ["/unavailable", SpanStatusCode.ERROR, "HTTPException", 1],
      ["/late", SpanStatusCode.ERROR, "DatabaseError", 1],
      ["/broken", SpanStatusCode.ERROR, "DatabaseError", 1],
      ["/response/503", SpanStatusCode.ERROR, "503", 0],
    ]);
  });

  it("records an AggregateError with the messages of its errors", async () => {
    const app = create();
    app.get("/", async () =>
      Promise.reject(new AggregateError([new Error("connect ::1:1"), new Error("connect x")], "")),
    );
    await call(app, "GET", "/");
    const { events } = telemetry.takeSpan();
    expect(events[0]?.attributes).toMatchObject({
      [semconv.ATTR_EXCEPTION_TYPE]: "AggregateError",
      [semconv.ATTR_EXCEPTION_MESSAGE]: "connect ::1:1; connect x",
      [semconv.ATTR_EXCEPTION_STACKTRACE]: expect.stringContaining("otel.test.ts"),
    });
  });

  it("makes a child span for each dependency and validation with the option steps", async () => {
    const app = create({ steps: true });
    const getUser = async () => "ada";
    const refuse = async () => {
      throw new HTTPException(401);
    };
    app.get("/", { params: { n: t.Integer(), user: Depends(getUser) } }, async function read() {});
    app.get("/refused", { params: { none: Depends(refuse) } }, async () => {});
    await call(app, "GET", "/?n=1");
    await call(app, "GET", "/refused");
    const [validation, dependency, server, refused] = telemetry.takeSpans();
    expect([validation?.name, dependency?.name, server?.name]).toEqual([
      "validation read",
      "dependency getUser",
      "GET /",
    ]);
    for (const child of [validation, dependency]) {
      expect(child?.kind).toBe(SpanKind.INTERNAL);
      expect(child?.parentSpanContext?.spanId).toBe(server?.spanContext().spanId);
    }
    expect(refused).toMatchObject({
      name: "dependency refuse",
      status: { code: SpanStatusCode.UNSET },
      attributes: { [semconv.ATTR_ERROR_TYPE]: "HTTPException", [semconv.ATTR_CODE_FUNCTION_NAME]: "refuse" },
    });
  });

  it("makes one span for each App below a mount, the inner one the child of the outer one", async () => {
    const inner = create();
    inner.get("/items/{id}", async () => 1);
    const outer = create();
    outer.mount("/api", inner);
    await call(outer, "GET", "/api/items/5", { headers: [TRACEPARENT] });
    const [child, parent] = telemetry.takeSpans();
    expect([child?.name, parent?.name]).toEqual(["GET /api/items/{id}", "GET /api/items/{id}"]);
    expect(child?.parentSpanContext?.spanId).toBe(parent?.spanContext().spanId);
    expect(parent?.parentSpanContext?.spanId).toBe(PARENT);
  });

  it("passes its trace id to the access log", async () => {
    const lines: string[] = [];
    const write = (line: string) => void lines.push(line);
    const app = new App({ instrumentation: [accessLog({ write }), openTelemetry()] });
    await call(app, "GET", "/none");
    expect(JSON.parse(lines[0]!)).toMatchObject({ traceId: telemetry.takeSpan().spanContext().traceId });
  });
});

describeSocketMatrix("openTelemetry of a WebSocket", ({ connect, refused }) => {
  it("makes a server span that lasts as long as the WebSocket, active in its handler", async () => {
    const app = create();
    app.websocket("/ws/{room}", async ({ ws }) => {
      await ws.accept();
      await ws.receive();
      await ws.sendText(String(activeId()));
      await ws.receive();
    });
    const peer = await connect(app, "/ws/a", { headers: { traceparent: TRACEPARENT[1] } });
    await peer.sendText("a");
    const seen = await peer.receiveText();
    expect(telemetry.takeSpans()).toEqual([]);
    await peer.close();
    const span = telemetry.takeSpan();
    const { name, kind, attributes, parentSpanContext } = span;
    expect([name, kind, parentSpanContext?.spanId]).toEqual(["GET /ws/{room}", SpanKind.SERVER, PARENT]);
    expect(seen).toBe(span.spanContext().spanId);
    expect(attributes).toMatchObject({
      [semconv.ATTR_HTTP_REQUEST_METHOD]: "GET",
      [semconv.ATTR_HTTP_RESPONSE_STATUS_CODE]: 101,
      [semconv.ATTR_URL_SCHEME]: "http",
    });
  });

  it("has the status of a rejection", async () => {
    const app = create();
    await refused(app, "/none");
    expect(telemetry.takeSpan().attributes[semconv.ATTR_HTTP_RESPONSE_STATUS_CODE]).toBe(403);
  });
});

describe("the metric of openTelemetry", () => {
  it("is the duration in seconds by method, route, status and error, with the advised bounds", async () => {
    const own = new Telemetry();
    const app = create({ meterProvider: own.meterProvider, tracerProvider: own.tracerProvider });
    app.get("/items/{id}", async ({ id }) => {
      if (id === "broken") throw new TypeError("broken");
      return id;
    });
    app.websocket("/ws", async ({ ws }) => ws.accept());
    const client = await TestClient.open(app);
    for (const id of ["1", "2", "broken"]) await client.get(`/items/${id}`);
    for (let index = 0; index < 20; index++) await client.get(`/none/${index}`);
    const ws = await client.websocket("/ws");
    await ws.closed;
    await client.close();
    const [histogram, ...others] = await own.histograms();
    expect(others).toEqual([]);
    expect([histogram?.name, histogram?.unit]).toEqual([semconv.METRIC_HTTP_SERVER_REQUEST_DURATION, "s"]);
    const common = {
      [semconv.ATTR_HTTP_REQUEST_METHOD]: "GET",
      [semconv.ATTR_URL_SCHEME]: "http",
      [semconv.ATTR_NETWORK_PROTOCOL_VERSION]: "1.1",
    };
    const route = { [semconv.ATTR_HTTP_ROUTE]: "/items/{id}" };
    const status = (code: number) => ({ [semconv.ATTR_HTTP_RESPONSE_STATUS_CODE]: code });
    expect(histogram?.points.map(({ attributes, count }) => [attributes, count])).toEqual([
      [{ ...common, ...route, ...status(200) }, 2],
      [{ ...common, ...route, ...status(500), [semconv.ATTR_ERROR_TYPE]: "TypeError" }, 1],
      [{ ...common, ...status(404) }, 20],
    ]);
    expect(histogram?.points[0]?.bounds).toEqual([
      0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
    ]);
    expect(histogram?.points[0]?.sum).toBeLessThan(10);
  });
});

describe("openTelemetry", () => {
  it("rejects options that cannot work", () => {
    for (const options of [{ steps: 1 }, { tracerProvider: 1 }, { spans: true }]) {
      expect(() => openTelemetry(options as never)).toThrow(/openTelemetry\(\)/);
    }
  });
});
