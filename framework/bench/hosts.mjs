// The cost of `toNodeHandler` in a host: `npm run hosts-bench --prefix framework`, after a build. Each candidate serves
// `GET /hello` in a process; they take turns. Writes the medians into `docs/coexistence.md`.
import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { Agent, createServer, get } from "node:http";
import { cpus } from "node:os";
import path from "node:path";
import express from "express";
import fastify from "fastify";
import { App } from "tsgi";
import { fromNodeHandler, serve, toNodeHandler } from "tsgi/node";

const ROUNDS = Number(process.argv[2] ?? 9);
const [WARM_MS, MEASURED_MS, CONNECTIONS] = [500, 1500, 32];
const PAGE = path.join(import.meta.dirname, "../docs/coexistence.md");
const [BEGIN, END] = ["<!-- cost -->", "<!-- end of cost -->"];

function createApp() {
  const app = new App();
  app.get("/hello", async () => ({ hello: "world" }));
  return app;
}

const listen = async (server) => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server.address().port;
};
const onServe = async (app) => {
  const { url } = await serve(app, { port: 0, signals: false, logger: silent });
  return Number(new URL(url).port);
};
const inExpress = (...handlers) => listen(createServer(express().use(...handlers)));

const CANDIDATES = {
  "`node:http`, its own JSON": () =>
    listen(
      createServer((_req, res) => {
        res.setHeader("content-type", "application/json");
        res.end(JSON.stringify({ hello: "world" }));
      }),
    ),
  "`node:http`, tsgi": () => listen(createServer(toNodeHandler(createApp()))),
  "Express 5, its own route": () => {
    const app = express();
    app.get("/hello", (_req, res) => res.json({ hello: "world" }));
    return listen(createServer(app));
  },
  "Express 5, tsgi": () => inExpress(toNodeHandler(createApp())),
  "Express 5, tsgi with `fallthrough`": () => inExpress(toNodeHandler(createApp(), { fallthrough: true })),
  "Fastify 5, its own route": async () => {
    const app = fastify();
    app.get("/hello", async () => ({ hello: "world" }));
    await app.listen({ port: 0, host: "127.0.0.1" });
    return app.server.address().port;
  },
  "Fastify 5 by `hijack`, tsgi": async () => {
    const app = fastify();
    const handler = toNodeHandler(createApp());
    app.all("/*", (request, reply) => {
      reply.hijack();
      handler(request.raw, reply.raw);
    });
    await app.listen({ port: 0, host: "127.0.0.1" });
    return app.server.address().port;
  },
  "`serve`, tsgi": () => onServe(createApp()),
  "`serve`, a listener by `fromNodeHandler`": () => {
    const app = new App();
    const listener = (_req, res) => {
      res.setHeader("content-type", "application/json");
      res.end(JSON.stringify({ hello: "world" }));
    };
    app.mount("/", fromNodeHandler(listener));
    return onServe(app);
  },
};
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** Requests on each connection, one at a time, until the time is up. Returns the number of responses. */
async function load(port, ms) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const end = performance.now() + ms;
  let count = 0;
  const send = () =>
    new Promise((resolve, reject) => {
      get({ port, host: "127.0.0.1", path: "/hello", agent }, (response) => {
        response.resume().once("end", resolve);
      }).once("error", reject);
    });
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (performance.now() < end) {
        await send();
        count++;
      }
    }),
  );
  agent.destroy();
  return count;
}

/** Microseconds of processor time of the server for each request. */
async function measure(name) {
  const child = fork(import.meta.filename, ["--serve", name], {
    env: { ...process.env, NODE_ENV: "production" },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const [port] = await once(child, "message");
  await load(port, WARM_MS);
  child.send("cpu");
  const [before] = await once(child, "message");
  const count = await load(port, MEASURED_MS);
  child.send("cpu");
  const [after] = await once(child, "message");
  child.kill("SIGKILL");
  await once(child, "exit");
  return (after - before) / count;
}

if (process.argv[2] === "--serve") {
  process.send(await CANDIDATES[process.argv[3]]());
  process.on("message", () => {
    const { user, system } = process.cpuUsage();
    process.send(user + system);
  });
} else {
  const results = Object.fromEntries(Object.keys(CANDIDATES).map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of Object.keys(CANDIDATES)) results[name].push(await measure(name));
  }
  const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
  const rows = Object.entries(results).map(([name, values]) => `| ${name} | ${median(values).toFixed(0)} |`);
  const table = ["| Host, and who responds | µs per request |", "| --- | --: |", ...rows].join("\n");
  const note = `Median of ${ROUNDS} rounds, Node ${process.versions.node}, ${cpus()[0].model.trim()}, ${CONNECTIONS} connections.`;
  process.stdout.write(`${table}\n${note}\n`);
  const page = readFileSync(PAGE, "utf8");
  const [before = ""] = page.split(BEGIN);
  const after = page.split(END)[1] ?? "";
  writeFileSync(PAGE, `${before}${BEGIN}\n\n${table}\n\n${note}\n\n${END}${after}`);
}
