/**
 * Bytes of memory that an idle WebSocket takes: `node --expose-gc _idle-websockets.mjs ws|tsgi COUNT`. The clients run
 * in a separate process. Prints one line of JSON.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { WebSocket, WebSocketServer } from "ws";

/** Handshakes at the same time: fewer than a listener's backlog. */
const AT_ONCE = 100;

const [, , role, count, url] = process.argv;

/** Opens the WebSockets, echoes once through each when told to, and ends. */
async function runClients() {
  const clients = [];
  while (clients.length < Number(count)) {
    const batch = Array.from({ length: AT_ONCE }, () => new WebSocket(url));
    await Promise.all(batch.map((client) => once(client, "open")));
    clients.push(...batch);
  }
  process.send(clients.length);
  await once(process, "message");
  const echoes = clients.map((client) => once(client, "message"));
  for (const client of clients) client.send("x");
  await Promise.all(echoes);
  process.send(echoes.length);
}

async function serveWs() {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
  server.on("connection", (client) =>
    client.on("message", (data, isBinary) => client.send(data, { binary: isBinary })),
  );
  await once(server, "listening");
  return `ws://127.0.0.1:${server.address().port}/`;
}

async function serveTsgi() {
  const { App } = await import("../../../dist/index.js");
  const { serve } = await import("../../../dist/node.js");
  const app = new App();
  app.websocket("/", async ({ ws }) => {
    await ws.accept();
    for await (const message of ws) await ws.send(message);
  });
  const server = await serve(app, {
    port: 0,
    signals: false,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  return `${server.url.replace("http", "ws")}/`;
}

function residentBytes() {
  globalThis.gc();
  return process.memoryUsage().rss;
}

if (role === "clients") {
  await runClients();
} else {
  const address = await (role === "ws" ? serveWs() : serveTsgi());
  const before = residentBytes();
  const clients = fork(fileURLToPath(import.meta.url), ["clients", count, address], { execArgv: [] });
  const [open] = await once(clients, "message");
  const bytesOpen = (residentBytes() - before) / open;
  clients.send("echo");
  const [alive] = await once(clients, "message");
  console.log(JSON.stringify({ open, alive, bytesOpen, bytesUsed: (residentBytes() - before) / alive }));
  process.exit();
}
