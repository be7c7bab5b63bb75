/**
 * A message to all subscribers, who are spread over two processes: latency, memory and processor time, of `@tsgi/broadcast`
 * and of others. Redis connects the processes. One process publishes; clients in separate processes count and measure.
 *
 *     npm run build --prefix framework && node framework/bench/broadcast/run.mjs [subscribers, 10000] [messages, 30] [names]
 *
 * Latency is from `publish` to the moment at which a client has read the message from its socket. On a machine with few
 * processors the clients compete with the servers, so compare figures of one run only.
 */
import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync } from "node:fs";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { startRedis } from "./redis.mjs";

const [subscribers = "10000", messages = "30", ...words] = process.argv.slice(2);
const TOTAL = Number(subscribers);
const MESSAGES = Number(messages);
const PEERS = path.resolve(import.meta.dirname, "../../../.cache/broadcast-peers");
const VERSIONS = {
  "socket.io": "4.8.3",
  "@socket.io/redis-adapter": "8.3.0",
  ioredis: "6.0.0",
  ws: "8.21.3",
  crossws: "0.4.17",
  srvx: "1.0.8",
  "@orpc/server": "1.14.7",
  "@orpc/experimental-publisher": "1.14.7",
};

/** After the last subscriber: some subscribe only after their response has begun. */
const SETTLE_MS = 1_000;

/** Each with the kinds of its subscribers: half of them each. Socket.IO and ws have no server-sent events. */
const CONTENDERS = {
  tsgi: ["websocket", "sse"],
  crossws: ["websocket", "sse"],
  orpc: ["orpc-websocket", "orpc-sse"],
  "tsgi, WebSockets": ["websocket", "websocket"],
  "crossws, WebSockets": ["websocket", "websocket"],
  "orpc, WebSockets": ["orpc-websocket", "orpc-websocket"],
  "socket.io": ["socket.io", "socket.io"],
  "ws by hand": ["websocket", "websocket"],
  "tsgi, server-sent events": ["sse", "sse"],
  "crossws, server-sent events": ["sse", "sse"],
  "orpc, server-sent events": ["orpc-sse", "orpc-sse"],
};

function installPeers() {
  const isThere = Object.keys(VERSIONS).every((name) => existsSync(path.join(PEERS, "node_modules", name)));
  if (isThere) return;
  process.stderr.write("Installing the others …\n");
  mkdirSync(PEERS, { recursive: true });
  const packages = Object.entries(VERSIONS).map(([name, version]) => `${name}@${version}`);
  const args = ["install", "--prefix", PEERS, "--no-save", "--no-package-lock", "--no-audit", "--ignore-scripts"];
  execFileSync("npm", [...args, ...packages], { stdio: "ignore" });
}

/** Sends an order to a process, and waits for its reply. */
async function ask(child, order) {
  child.send(order);
  const [reply] = await once(child, "message");
  return reply;
}

async function measure(name, redisPort) {
  const file = (one) => path.join(import.meta.dirname, one);
  const options = { env: { ...process.env, REDIS_PORT: String(redisPort), PEERS, CONTENDER: name } };
  const servers = [0, 1].map(() => fork(file("server.mjs"), [], { ...options, execArgv: ["--expose-gc"] }));
  const clients = [0, 1].map(() => fork(file("clients.mjs"), [], options));
  try {
    const ports = await Promise.all(servers.map(async (server) => (await once(server, "message"))[0].port));
    const before = await Promise.all(servers.map((server) => ask(server, "memory")));
    const half = TOTAL / 2;
    await Promise.all(
      clients.map((client, index) => ask(client, { connect: half, port: ports[index], kind: CONTENDERS[name][index] })),
    );
    await wait(SETTLE_MS);
    const after = await Promise.all(servers.map((server) => ask(server, "memory")));
    await Promise.all(servers.map((server) => ask(server, "start clock")));
    const expected = clients.map((client) => ask(client, { expect: half * MESSAGES }));
    const [publisher] = servers;
    await ask(publisher, { publish: MESSAGES, everyMs: Math.max(200, TOTAL / 10) });
    const latencies = (await Promise.all(expected)).flat().toSorted((a, b) => a - b);
    const cpu = (await Promise.all(servers.map((server) => ask(server, "stop clock")))).reduce(
      (sum, ms) => sum + ms,
      0,
    );
    const at = (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))];
    const bytes = after.reduce((sum, one, index) => sum + one - before[index], 0);
    return {
      contender: name,
      "p50 ms": at(0.5).toFixed(0),
      "p99 ms": at(0.99).toFixed(0),
      "µs of processor time per delivery": ((cpu * 1_000) / (TOTAL * MESSAGES)).toFixed(1),
      "KiB per subscriber": (bytes / TOTAL / 1_024).toFixed(1),
      lost: TOTAL * MESSAGES - latencies.length,
    };
  } finally {
    for (const child of [...servers, ...clients]) child.kill("SIGKILL");
  }
}

installPeers();
const names = Object.keys(CONTENDERS).filter((name) => words.length === 0 || words.includes(name));
const redis = await startRedis();
const rows = [];
try {
  for (const name of names) {
    process.stderr.write(`${name} …\n`);
    rows.push(await measure(name, redis.port));
  }
} finally {
  redis.stop();
}
console.table(rows);
