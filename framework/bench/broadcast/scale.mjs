/**
 * The costs that the page `docs/scale.md` multiplies: of a message in Redis, of an event of a stream log, and of a
 * connection that is opened. All in processor time, which other processes on the machine change less than elapsed time.
 *
 *     npm run build --prefix framework && node framework/bench/broadcast/scale.mjs
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { Redis } from "ioredis";
import { StreamLog } from "../../broadcast/dist/index.js";
import { startRedis } from "./redis.mjs";

const MESSAGE = JSON.stringify({ at: performance.now(), text: "x".repeat(100) });
const PUBLISHED = 20_000;
const EVENTS = 5_000;
const CONNECTIONS = 2_000;

/** Microseconds of processor time of a Redis so far. */
async function usedBy(client) {
  const cpu = await client.info("cpu");
  const seconds = (name) => Number(new RegExp(`${name}:([\\d.]+)`).exec(cpu)?.[1]);
  return (seconds("used_cpu_sys") + seconds("used_cpu_user")) * 1e6;
}

/** Of one message to so many processes, each with a connection that has subscribed. */
async function perMessage(port, processes) {
  const client = new Redis(port);
  const listeners = Array.from({ length: processes }, () => new Redis(port));
  await Promise.all(listeners.map((listener) => listener.subscribe("news")));
  const counts = listeners.map((listener) => {
    const count = { received: 0 };
    listener.on("message", () => count.received++);
    return count;
  });
  const isMissing = () => counts.some(({ received }) => received < PUBLISHED);
  const before = await usedBy(client);
  for (let sent = 0; sent < PUBLISHED; sent += 100) {
    await Promise.all(Array.from({ length: 100 }, () => client.publish("news", MESSAGE)));
  }
  while (isMissing()) await new Promise((resolve) => setImmediate(resolve));
  const used = (await usedBy(client)) - before;
  for (const one of [client, ...listeners]) one.disconnect();
  return used / PUBLISHED;
}

/** Of one event that a producer appends, in Redis and in its process, and its bytes in Redis. */
async function perEvent(port) {
  const client = new Redis(port);
  const log = new StreamLog({ redis: `redis://127.0.0.1:${port}` });
  const before = [await usedBy(client), process.cpuUsage()];
  await log.start("a", async function* () {
    for (let number = 0; number < EVENTS; number++) yield "token";
  });
  while ((await log.status("a")) === "running") await new Promise((resolve) => setTimeout(resolve, 50));
  const { user, system } = process.cpuUsage(before[1]);
  const redis = (await usedBy(client)) - before[0];
  const bytes = await client.memory("USAGE", "tsgi:stream:{a}:events", "SAMPLES", "0");
  await log.close();
  client.disconnect();
  return { redis: redis / EVENTS, producer: (user + system) / EVENTS, bytes: bytes / EVENTS };
}

/** Of one connection that a server accepts and subscribes. */
async function perConnection(port, kind) {
  const file = (name) => path.join(import.meta.dirname, name);
  const env = { ...process.env, REDIS_PORT: String(port), PEERS: import.meta.dirname, CONTENDER: "tsgi" };
  const [server, client] = [fork(file("server.mjs"), [], { env }), fork(file("clients.mjs"))];
  try {
    const [{ port: at }] = await once(server, "message");
    server.send("start clock");
    await once(server, "message");
    client.send({ connect: CONNECTIONS, port: at, kind });
    await once(client, "message");
    server.send("stop clock");
    const [ms] = await once(server, "message");
    return (ms * 1_000) / CONNECTIONS;
  } finally {
    for (const child of [server, client]) child.kill("SIGKILL");
  }
}

const redis = await startRedis();
try {
  const { port } = redis;
  const rows = {};
  for (const processes of [1, 10, 100]) {
    rows[`Redis: a message to ${processes} processes`] = await perMessage(port, processes);
  }
  const event = await perEvent(port);
  rows["Redis: an event of a stream log"] = event.redis;
  rows["producer: an event of a stream log"] = event.producer;
  rows["server: a WebSocket that connects and subscribes"] = await perConnection(port, "websocket");
  rows["server: a stream of events that connects and subscribes"] = await perConnection(port, "sse");
  console.table(Object.entries(rows).map(([cost, us]) => ({ cost, "µs of processor time": us.toFixed(1) })));
  console.log(`Redis keeps ${event.bytes.toFixed(0)} bytes for each event.`);
} finally {
  redis.stop();
}
