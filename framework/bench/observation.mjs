/**
 * The cost of observation: processor time of a server for one small GET over loopback, with and without it, compared
 * with the tracing plugins of other frameworks.
 *
 *     npm run build --prefix framework && node framework/bench/observation.mjs
 *
 * Each framework runs in a separate process. They are asked in turn, in batches, so that all of them have the same
 * moments of a busy machine. It compares a ratio within one framework: the median over the rounds of the time with
 * observation, divided by the time without.
 *
 * `no SDK`: tracing is on, and the program has set no provider. `no-op tracer`: its provider creates spans without
 * effect. `not sampled`: the SDK samples no request. `recording`: the SDK records each span and drops it.
 */
import { execFileSync, fork } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const ROUNDS = Number(process.env["ROUNDS"] ?? 40);
const BATCH = 2_000;
const CONNECTIONS = 8;
const HOME = path.resolve(import.meta.dirname, "../../.cache/observation-bench");
const PACKAGES = [
  "fastify@5.12.8",
  "@fastify/otel@0.21.2",
  "hono@4.13.19",
  "@hono/node-server@2.1.8",
  "@hono/otel@1.1.2",
  "@opentelemetry/api@1.9.1",
];

const load = async (name) => import(createRequire(`${HOME}/`).resolve(name));

/** Sets up the framework's provider, for every copy of the library: they share the global provider. */
async function setUp(option) {
  if (option === "no-op tracer") {
    const { INVALID_SPAN_CONTEXT, trace } = await import("@opentelemetry/api");
    const span = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
    const startActiveSpan = (_name, ...rest) => rest.at(-1)(span);
    trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan: () => span, startActiveSpan }) });
  }
  if (option !== "not sampled" && option !== "recording") return;
  const { AlwaysOffSampler, NodeTracerProvider } = await import("@opentelemetry/sdk-trace-node");
  new NodeTracerProvider(option === "recording" ? {} : { sampler: new AlwaysOffSampler() }).register();
}

const SERVERS = {
  async tsgi(option) {
    const { App } = await import("../core/dist/index.js");
    const { serve } = await import("../core/dist/node.js");
    const { accessLog } = await import("../core/dist/middleware/index.js");
    const { openTelemetry } = await import("../otel/dist/index.js");
    const { prometheus } = await import("../metrics/dist/index.js");
    const makers = {
      none: () => [],
      accessLog: () => [accessLog({ write: () => {} })],
      prometheus: () => [prometheus()],
    };
    const instrumentation = (makers[option] ?? (() => [openTelemetry()]))();
    const app = new App(instrumentation.length === 0 ? {} : { instrumentation });
    app.get("/items/{id}", async ({ id }) => ({ id, name: "one" }));
    return (await serve(app, { port: 0 })).url;
  },
  async fastify(option) {
    const { default: fastify } = await load("fastify");
    const app = fastify();
    if (option !== "none") {
      const { default: FastifyOtel } = await load("@fastify/otel");
      await app.register(new FastifyOtel.FastifyOtelInstrumentation().plugin());
    }
    app.get("/items/:id", async ({ params }) => ({ id: params.id, name: "one" }));
    return app.listen({ port: 0, host: "127.0.0.1" });
  },
  async hono(option) {
    const [{ Hono }, { serve }] = [await load("hono"), await load("@hono/node-server")];
    const app = new Hono();
    if (option !== "none") app.use((await load("@hono/otel")).httpInstrumentationMiddleware());
    app.get("/items/:id", (c) => c.json({ id: c.req.param("id"), name: "one" }));
    return new Promise((resolve) => {
      serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => resolve(`http://127.0.0.1:${port}`));
    });
  },
};

/** A server in a separate process, which reports how much processor time it has used. */
async function start(framework, option) {
  const child = fork(import.meta.filename, [framework, option], { stdio: ["ignore", "ignore", "ignore", "ipc"] });
  const next = () => new Promise((resolve) => void child.once("message", resolve));
  child.once("exit", (code) => code && process.exit(code));
  const url = await next();
  const cpu = () => {
    const answer = next();
    child.send("cpu");
    return answer;
  };
  return { framework, option, url, cpu, child, times: [] };
}

if (process.argv[2] !== undefined) {
  const [framework, option] = process.argv.slice(2);
  await setUp(option);
  process.send(await SERVERS[framework](option));
  process.on("message", () => {
    const { user, system } = process.cpuUsage();
    process.send(user + system);
  });
} else {
  const { Pool } = await import("undici");
  const isThere = (name) => existsSync(path.join(HOME, "node_modules", name.slice(0, name.lastIndexOf("@"))));
  if (!PACKAGES.every(isThere)) {
    execFileSync("npm", ["install", "--prefix", HOME, "--no-save", "--no-package-lock", "--no-audit", ...PACKAGES]);
  }
  const options = { tsgi: ["accessLog", "prometheus"], fastify: [], hono: [] };
  const contenders = [];
  for (const [framework, own] of Object.entries(options)) {
    for (const option of ["none", "no SDK", "no-op tracer", "not sampled", "recording", ...own]) {
      const contender = await start(framework, option);
      contenders.push({ ...contender, pool: new Pool(contender.url, { connections: CONNECTIONS }) });
    }
  }

  /** Microseconds of processor time a request. */
  const batch = async ({ pool, cpu }) => {
    const before = await cpu();
    let left = BATCH;
    const client = async () => {
      while (left-- > 0) await (await pool.request({ path: "/items/5", method: "GET" })).body.dump();
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, client));
    return ((await cpu()) - before) / BATCH;
  };
  for (const contender of contenders) for (let index = 0; index < 3; index++) await batch(contender);
  for (let round = 0; round < ROUNDS; round++) {
    for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
      contender.times.push(await batch(contender));
    }
  }
  const median = (list) => list.toSorted((left, right) => left - right)[Math.floor(list.length / 2)];
  for (const { framework, option, times } of contenders) {
    const base = contenders.find((one) => one.framework === framework && one.option === "none").times;
    const ratio = median(times.map((time, round) => time / base[round]));
    console.log(
      `${framework.padEnd(8)} ${option.padEnd(12)} ${median(times).toFixed(1).padStart(6)} µs  ${ratio.toFixed(3)}`,
    );
  }
  for (const { pool, child } of contenders) {
    await pool.destroy();
    child.disconnect();
    child.kill();
  }
}
