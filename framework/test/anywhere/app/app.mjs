/** The application of the statements: it needs no module of Node, and is bundled for every platform. */
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { propagation, trace } from "@opentelemetry/api";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import {
  App,
  BackgroundTasks,
  Cookie,
  event,
  EventSourceResponse,
  File,
  Form,
  Header,
  HTMLResponse,
  HTTPException,
  Query,
  RedirectResponse,
  Request,
  Response,
  StaticFiles,
  StreamingResponse,
  t,
} from "tsgi";
import { compress, cors, rateLimit, securityHeaders } from "tsgi/middleware";
import { openTelemetry } from "@tsgi/otel";

const Item = t.Object({
  name: t.String({ minLength: 1, maxLength: 20 }),
  price: t.Number({ minimum: 0 }),
});

const quiet = () => {};
const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The events of one run, by key: what background tasks and streams report. */
class Notes {
  #notes = new Map();
  add(key, text) {
    this.#notes.set(key, [...this.of(key), text]);
  }
  of(key) {
    return this.#notes.get(key) ?? [];
  }
}

function addParameters(app) {
  app.get("/", async () => ({ hello: "world" }));
  app.get(
    "/items/{id}",
    { params: { id: t.Integer({ minimum: 1 }), tag: Query(t.Array(t.String(), { default: [] })) } },
    async ({ id, tag }) => ({ id, tag }),
  );
  app.post("/items", { params: { item: Item }, returns: Item, statusCode: 201 }, async ({ item }) => item);
  app.delete("/items/{id}", { statusCode: 204 }, async () => null);
  app.get("/text/{text}", async ({ text }) => text);
  app.get("/plain/{n}", { params: { n: t.Integer({ maximum: 40 }) } }, ({ n }) => ({ n, fibonacci: fibonacci(n) }));
  app.get("/headers", { params: { one: Header({ alias: "x-one" }), request: Request } }, async ({ one, request }) => ({
    one,
    two: request.headers["x-two"],
  }));
  app.get("/connection", { params: { request: Request } }, async ({ request }) => ({
    client: request.client?.host ?? null,
    scheme: request.scheme,
    host: request.headers.host,
  }));
  app.get("/cookies", { params: { a: Cookie(t.String()), b: Cookie(t.String()) } }, async ({ a, b }) => ({ a, b }));
}

const fibonacci = (n) => (n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2));

function addBodies(app) {
  app.post("/form", { params: { name: Form(), count: Form(t.Integer()) } }, async ({ name, count }) => ({
    name,
    count,
  }));
  app.post("/upload", { params: { title: Form(), file: File() } }, async ({ title, file }) => {
    const bytes = await file.read();
    return { title, name: file.filename, type: file.contentType, size: bytes.length, sum: sumOf(bytes) };
  });
  app.post("/echo", { params: { request: Request } }, async ({ request }) => {
    const type = request.headers["content-type"] ?? "application/octet-stream";
    return new Response(await request.body(), { headers: { "content-type": type } });
  });
  app.post("/count", { params: { request: Request } }, async ({ request }) => {
    let [bytes, sum] = [0, 0];
    for await (const chunk of request.stream()) {
      bytes += chunk.length;
      sum = (sum + sumOf(chunk)) % 65_521;
    }
    return { bytes, sum };
  });
}

const sumOf = (bytes) => bytes.reduce((sum, byte) => (sum + byte) % 65_521, 0);

function addResponses(app) {
  app.get("/cookies/set", { params: { response: Response } }, async ({ response }) => {
    response.setCookie("a", "1", { httpOnly: true });
    response.setCookie("b", "2", { path: "/items", maxAge: 60 });
    return { set: true };
  });
  app.get("/redirect", async () => new RedirectResponse("/items/1?tag=a%20b"));
  app.get("/html", async () => new HTMLResponse("<p>café ☕</p>"));
  app.get("/bytes", async () => new Response(Uint8Array.from({ length: 256 }, (_, index) => index)));
  app.get("/empty", async () => new Response(""));
  app.get("/compressed", { middleware: [compress()] }, async () => "a".repeat(10_000));
  app.get("/large/{kib}", { params: { kib: t.Integer() } }, async ({ kib }) => new StreamingResponse(parts(kib)));
  app.get("/fails", async () => {
    throw new Error("secret");
  });
  app.get("/teapot", async () => {
    throw new HTTPException(418, "short and stout", { headers: { "x-pot": "1" } });
  });
  app.get("/strict", { middleware: [securityHeaders()] }, async () => null);
  app.get(
    "/limited",
    { middleware: [rateLimit({ limit: 2, windowSeconds: 600, key: () => "all" })] },
    async () => null,
  );
  const shared = new App({ middleware: [cors({ allowOrigins: ["https://page.test"], allowMethods: ["PUT"] })] });
  shared.put("/", async () => "shared");
  app.mount("/cors", shared);
}

async function* parts(kib) {
  for (let index = 0; index < kib; index++) yield new Uint8Array(1024).fill(index % 251);
}

function addStreams(app, notes) {
  app.get("/events", { params: { count: t.Integer(), every: t.Integer() } }, async ({ count, every }) => {
    async function* events() {
      for (let number = 1; number <= count; number++) {
        yield event({ data: JSON.stringify({ number, made: Date.now() }), id: String(number) });
        if (number < count) await later(every);
      }
    }
    return new EventSourceResponse(events());
  });
  app.get("/endless/{key}", async ({ key }) => {
    async function* endless() {
      try {
        for (;;) {
          yield new Uint8Array(16_384);
          await later(1); // the timer also keeps a request of workerd alive
        }
      } finally {
        notes.add(key, "closed");
      }
    }
    return new StreamingResponse(endless());
  });
  app.get("/background/{key}", { params: { tasks: BackgroundTasks } }, async ({ key, tasks }) => {
    tasks.addTask(async () => {
      await later(1);
      notes.add(key, "done");
    });
    return "accepted";
  });
  app.get("/notes/{key}", async ({ key }) => notes.of(key));
}

/** Spans in memory, in the form of `<trace id> <name>`. */
function startTracing() {
  const exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  return () => exporter.getFinishedSpans().map((span) => `${span.spanContext().traceId} ${span.name}`);
}

/**
 * Creates the application.
 *
 * @param options.files - The folder of the static files; `null` if the platform has no files.
 * @param options.logger - Defaults to one that is silent.
 */
export function createApp({ files = null, logger, ...options } = {}) {
  const spans = startTracing();
  const notes = new Notes();
  let starts = 0;
  const app = new App({
    title: "Anywhere",
    logger: logger ?? { debug: quiet, info: quiet, warn: quiet, error: quiet },
    instrumentation: openTelemetry(),
    lifespan: async function* () {
      await later(1);
      yield { starts: ++starts };
    },
    ...options,
  });
  app.get("/starts", { params: { request: Request } }, async ({ request }) => request.state.starts);
  app.get("/traces", async () => spans());
  addParameters(app);
  addBodies(app);
  addResponses(app);
  addStreams(app, notes);
  if (files !== null) app.mount("/static", new StaticFiles(files));
  return app;
}
