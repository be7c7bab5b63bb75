/** The application that the fault injections use. Writes the lines to stdout that a fault injection waits for. */
import cluster from "node:cluster";
import { App, BackgroundTasks, Body, EventSourceResponse, File, Request, Response, StreamingResponse } from "tsgi";
import { compress } from "tsgi/middleware";
import { serve } from "tsgi/node";

process.on("SIGUSR2", () => globalThis.gc?.());
const say = (text) => process.stdout.write(`${text}\n`);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const { fails = false, zips = false, limits, shed, ...options } = JSON.parse(process.argv[2] ?? "{}");

const app = new App({
  limits: { uploadBytes: 2 ** 31, ...limits },
  shed,
  ...(zips ? { middleware: [compress()] } : {}),
});
let cleanedUp = 0;
let aborted = 0;

app.onStartup(async () => {
  say("first started");
  return async () => say("first stopped");
});
app.onStartup(async () => {
  say("second started");
  return async () => say("second stopped");
});
if (fails) {
  app.onStartup(async () => {
    throw new Error("no database");
  });
}
app.onShutdown(async () => say("shutdown hook ran"));

app.get("/fast", async () => ({ ok: true }));
app.get("/spin", async () => {
  const until = performance.now() + 10;
  while (performance.now() < until);
  return { ok: true };
});
app.get("/slow", async () => {
  await sleep(2000);
  return { ok: true };
});
app.post("/slow", async () => {
  await sleep(2000);
  return { ok: true };
});
app.get("/stuck/{id}", async () => {
  say("stuck");
  await new Promise(() => {});
});
app.get("/task", { params: { tasks: BackgroundTasks } }, async ({ tasks }) => {
  tasks.addTask(async () => {
    await sleep(1000);
    say("task ran");
  });
  return { ok: true };
});
app.get("/events", async () => new EventSourceResponse(events()));
async function* events() {
  for (let id = 0; ; id++) {
    yield { id: String(id), data: "tick" };
    await sleep(50);
  }
}
app.get("/prices", async () => new EventSourceResponse(prices()));
async function* prices() {
  for (;;) {
    yield { data: "price" };
    await sleep(50);
  }
}
app.post("/tokens", async () => new EventSourceResponse(tokens()));
async function* tokens() {
  for (let index = 0; index < 30; index++) {
    yield { data: `token ${index}` };
    await sleep(50);
  }
  yield { event: "done", data: "" };
}
app.post("/endless", async () => new EventSourceResponse(prices()));
app.get("/lines", { whenStopping: "end" }, async function* () {
  for (;;) {
    yield "line";
    await sleep(50);
  }
});
app.get("/download", { params: { request: Request } }, async ({ request }) => {
  request.signal.addEventListener("abort", () => aborted++);
  return new StreamingResponse(download());
});
async function* download() {
  try {
    for (let index = 0; index < 20; index++) {
      yield Buffer.alloc(50_000, "d");
      await sleep(5);
    }
  } finally {
    cleanedUp++;
  }
}
app.get("/big", { params: { request: Request } }, async ({ request }) => {
  const mebibytes = Number(request.queryParams.get("mib"));
  return new StreamingResponse(
    (async function* () {
      const chunk = Buffer.alloc(1 << 20, "0123456789abcdef");
      for (let index = 0; index < mebibytes; index++) yield chunk;
    })(),
    { mediaType: "text/plain" },
  );
});
app.get("/whole", async () => new Response(Buffer.alloc(1 << 20, "w")));
app.get("/whole/8", async () => new Response(Buffer.alloc(8 << 20, "w")));
app.post("/count", { params: { request: Request }, limits: { bodyBytes: 2 ** 31 } }, async ({ request }) => {
  let bytes = 0;
  for await (const chunk of request.stream()) bytes += chunk.length;
  return { bytes };
});
app.post("/upload", { params: { file: File() } }, async ({ file }) => ({ size: file.size }));
app.get("/counts", async () => ({ cleanedUp, aborted }));
app.post("/echo", { params: { body: Body() } }, async ({ body }) => body);
app.websocket("/ws", async ({ ws }) => {
  await ws.accept();
  for await (const message of ws) await ws.sendText(String(message));
});

const server = await serve(app, { port: 0, ...options });
if (cluster.isPrimary) say(`url ${server.url}`);
