/** The application under mixed traffic: routes, streams, WebSockets, uploads, and jobs that the same process works on. */
import { App, BackgroundTasks, Body, Cookie, Depends, EventSourceResponse, File, Query, t, withParams } from "tsgi";
import { accessLog, compress, cors, rateLimit, requestId, securityHeaders } from "tsgi/middleware";
import { serve } from "tsgi/node";

const { databaseUrl } = JSON.parse(process.argv[2]);

/** The runner requests two sizes in bytes: the memory of the process, and its live objects. */
process.on("SIGUSR2", () => {
  globalThis.gc();
  // The first collection ends the wait of some buffers, which the second one removes.
  setImmediate(() => {
    globalThis.gc();
    const { rss, heapUsed, external } = process.memoryUsage();
    process.stdout.write(`memory ${rss} ${heapUsed + external}\n`);
  });
});

const Order = t.Object({
  article: t.String({ minLength: 1, maxLength: 40 }),
  count: t.Integer({ minimum: 1, maximum: 1_000 }),
  tags: t.Array(t.String(), { maxItems: 20 }),
});

const ignore = () => {};
const app = new App({
  logger: { debug: ignore, info: ignore, warn: ignore, error: ignore },
  instrumentation: [accessLog()],
  middleware: [
    requestId(),
    securityHeaders(),
    cors({ allowOrigins: ["https://example.com"] }),
    rateLimit({ limit: 1_000_000_000, windowSeconds: 60 }),
    compress(),
  ],
});

const session = withParams({ token: Cookie(t.Optional(t.String())) }, async function* ({ token }) {
  yield { token: token ?? null };
});

async function* numbers(count) {
  for (let index = 0; index < count; index++) {
    await new Promise((resolve) => setImmediate(resolve));
    yield { index, text: "0123456789".repeat(10) };
  }
}

async function* events() {
  for await (const { index, text } of numbers(50)) yield { id: String(index), data: text };
}

app.get("/items/{id}", { params: { id: t.Integer(), q: Query(t.Optional(t.String())) } }, async ({ id, q }) => ({
  id,
  q: q ?? null,
}));
app.post("/orders", { params: { order: Body(Order) }, returns: Order }, async ({ order }) => order);
app.get(
  "/session",
  { params: { session: Depends(session), tasks: BackgroundTasks } },
  async ({ session: { token }, tasks }) => {
    tasks.addTask(async () => {});
    return { token };
  },
);
app.get("/fails", async () => {
  throw new TypeError("on purpose");
});
app.get("/events", async () => new EventSourceResponse(events()));
app.get("/lines", async function* () {
  yield* numbers(200);
});
app.post("/uploads", { params: { file: File() } }, async ({ file }) => {
  let bytes = 0;
  for await (const chunk of file.stream()) bytes += chunk.length;
  return { bytes };
});
app.websocket("/echo", async ({ ws }) => {
  await ws.accept();
  for await (const message of ws) await ws.send(message);
});

if (databaseUrl !== null) {
  const { Jobs } = await import("@tsgi/jobs");
  const jobs = new Jobs({ url: databaseUrl });
  let done = 0;
  const order = jobs.define("order", { payload: Order, concurrency: 4 }, async () => {
    done++;
  });
  app.onStartup(async () => {
    const worker = await jobs.work();
    return () => worker.stop();
  });
  app.post("/jobs", { params: { payload: Body(Order) } }, async ({ payload }) => order.enqueue(payload));
  app.get("/jobs", async () => ({ done }));
}

const server = await serve(app, { port: 0 });
process.stdout.write(`url ${server.url}\n`);
