// Cold starts of tsgi, Hono and Fastify in AWS Lambda and in workerd: `npm run cold-start --prefix framework`, after a
// build, on Linux. Each start is a new process with a minified bundle; the frameworks take turns. Writes the medians into
// `docs/platforms.md`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { arch, cpus } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { gatewayOf, RUNTIME_CLIENT, startLambda } from "../test/platforms/_lambda.ts";
import { createHome, removeHome } from "../test/platforms/_platform.ts";
import { binaryOf, installOnDemand } from "../test/support/on-demand.ts";

const ROUNDS = Number(process.argv[2] ?? 15);
const PAGE = path.join(import.meta.dirname, "../docs/platforms.md");
const [BEGIN, END] = ["<!-- cold starts -->", "<!-- end of cold starts -->"];
const PEERS = ["fastify@5.12.8", "@fastify/aws-lambda@6.4.1", "hono@4.13.19", "@hono/zod-openapi@1.6.3", "zod@4.6.7"];

const EXPECTED = '{"hello":"world"}';

/** The same with a schema and an OpenAPI document, as tsgi has them. */
const OPENAPI_HONO = `import { OpenAPIHono, createRoute, z } from "@hono/zod-openapi";
  const app = new OpenAPIHono();
  const schema = z.object({ hello: z.string() });
  const responses = { 200: { description: "OK", content: { "application/json": { schema } } } };
  app.openapi(createRoute({ method: "get", path: "/", responses }), (c) => c.json({ hello: "world" }));
  app.doc31("/openapi.json", { openapi: "3.1.0", info: { title: "Shop", version: "1" } });`;

/** A route that returns JSON, in each framework, as a function of Lambda and as a Worker. */
const APPS = {
  "no framework": {
    lambda: `const headers = { "content-type": "application/json" };
      export const handler = async () => ({ statusCode: 200, headers, body: JSON.stringify({ hello: "world" }) });`,
    workerd: `export default { fetch: async () => Response.json({ hello: "world" }) };`,
  },
  tsgi: {
    lambda: `import { App } from "tsgi"; import { toLambda } from "@tsgi/lambda";
      const app = new App({ docsUrl: null, redocUrl: null });
      app.get("/", async () => ({ hello: "world" }));
      export const handler = toLambda(app);`,
    workerd: `import { App } from "tsgi";
      const app = new App({ docsUrl: null, redocUrl: null });
      app.get("/", async () => ({ hello: "world" }));
      export default { fetch: app.fetch };`,
  },
  Hono: {
    lambda: `import { Hono } from "hono"; import { handle } from "hono/aws-lambda";
      const app = new Hono();
      app.get("/", (c) => c.json({ hello: "world" }));
      export const handler = handle(app);`,
    workerd: `import { Hono } from "hono";
      const app = new Hono();
      app.get("/", (c) => c.json({ hello: "world" }));
      export default app;`,
  },
  "Hono, zod-openapi": {
    lambda: `${OPENAPI_HONO}
      import { handle } from "hono/aws-lambda";
      export const handler = handle(app);`,
    workerd: `${OPENAPI_HONO}
      export default app;`,
  },
  Fastify: {
    lambda: `import fastify from "fastify"; import awsLambdaFastify from "@fastify/aws-lambda";
      const app = fastify();
      app.get("/", async () => ({ hello: "world" }));
      export const handler = awsLambdaFastify(app);`,
  },
};

const BUNDLES = {
  // Fastify is CommonJS, which needs a `require` in a module.
  lambda: {
    platform: "node",
    mainFields: ["module", "main"],
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  },
  workerd: { platform: "browser", conditions: ["workerd", "worker", "browser"] },
};

const CONFIG = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "worker", esModule = embed "index.mjs")], compatibilityDate = "2026-11-01",
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`;

/** Bundles a function into a folder. Returns its size after gzip. */
async function bundle(folder, platform, contents, modules) {
  const file = path.join(folder, "index.mjs");
  await build({
    stdin: { contents, resolveDir: path.join(import.meta.dirname, "..") },
    outfile: file,
    bundle: true,
    minify: true,
    format: "esm",
    target: "node22",
    nodePaths: [modules],
    logLevel: "error",
    ...BUNDLES[platform],
  });
  writeFileSync(path.join(folder, "config.capnp"), CONFIG);
  return gzipSync(readFileSync(file), { level: 9 }).length;
}

/** The processor time of all threads of a process in milliseconds, and its memory in bytes. */
function usageOf(pid) {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((id) => Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, "utf8").split(" ")[0]));
  const [, kib] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return { cpu: times.reduce((sum, time) => sum + time) / 1e6, memory: Number(kib) * 1024 };
}

async function requestFrom(url, pid, started) {
  const response = await fetch(url);
  const text = await response.text();
  const wall = performance.now() - started;
  if (text !== EXPECTED) throw new Error(`Expected ${EXPECTED}, not ${response.status} ${text}`);
  return { wall, ...usageOf(pid) };
}

const STARTS = {
  async lambda(folder) {
    const started = performance.now();
    const running = await startLambda(gatewayOf("function URL"), folder);
    try {
      return await requestFrom(running.url, running.child.pid, started);
    } finally {
      await running.close();
    }
  },
  async workerd(folder) {
    const started = performance.now();
    const child = spawn(binary, ["serve", "--control-fd=1", "config.capnp"], {
      cwd: folder,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(child, "close");
    try {
      const [line] = await once(createInterface({ input: child.stdout }), "line");
      return await requestFrom(`http://127.0.0.1:${JSON.parse(line).port}`, child.pid, started);
    } finally {
      child.kill("SIGKILL");
      await ended;
    }
  },
};

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** Starts the functions in turns. Returns a row for each of them. */
async function measure(platform, modules) {
  const names = Object.keys(APPS).filter((name) => platform in APPS[name]);
  const runs = new Map(names.map((name) => [name, { folder: createHome(), samples: [] }]));
  for (const [name, run] of runs) run.size = await bundle(run.folder, platform, APPS[name][platform], modules);
  for (const { folder } of runs.values()) await STARTS[platform](folder); // the files are in memory
  for (let round = 0; round < ROUNDS; round++) {
    for (const { folder, samples } of runs.values()) samples.push(await STARTS[platform](folder));
  }
  return [...runs].map(([name, { folder, samples, size }]) => {
    removeHome(folder);
    const of = (key) => median(samples.map((sample) => sample[key]));
    return [name, of("wall").toFixed(0), of("cpu").toFixed(0), (of("memory") / 2 ** 20).toFixed(0), kib(size)];
  });
}

const kib = (bytes) => (bytes / 1024).toFixed(1);
const row = (cells) => `| ${cells.join(" | ")} |`;
const table = (rows) =>
  [
    row(["", "First response, ms", "Processor time, ms", "Memory, MiB", "Bundle, KiB"]),
    row(["---", "--:", "--:", "--:", "--:"]),
    ...rows.map(row),
  ].join("\n");

const modules = path.join(installOnDemand("cold-start", PEERS), "node_modules");
const binary = binaryOf("workerd");
const tables = { lambda: table(await measure("lambda", modules)), workerd: table(await measure("workerd", modules)) };
const text = `AWS Lambda, by \`${RUNTIME_CLIENT}\` on Node 22:

${tables.lambda}

Cloudflare Workers, by workerd 2026-11-17:

${tables.workerd}

Medians of ${ROUNDS} starts each, on ${cpus().length} processors (${arch()}), with ${PEERS.map((name) => `\`${name}\``).join(", ")}.`;
const page = readFileSync(PAGE, "utf8");
const [before = ""] = page.split(BEGIN);
writeFileSync(PAGE, `${before}${BEGIN}\n\n${text}\n\n${END}${page.split(END)[1] ?? ""}`);
process.stdout.write(`${text}\n`);
