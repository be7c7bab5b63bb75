// Processor time of the server for a large body, tsgi compared with bare node:http: `node
// framework/bench/large-bodies.mjs [MiB]`, after a build. Fresh processes take turns; the client is a raw socket of
// this process. Prints medians and their ratio.
import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { serve } from "../core/dist/node.js";

const ROUNDS = 9;
const PART = Buffer.alloc(65_536, "Q");
const [, , role] = process.argv;

const servers = {
  async tsgi() {
    const quiet = { debug() {}, info() {}, warn: console.warn, error: console.error };
    const { url } = await serve(application, { port: 0, logger: quiet, signals: false });
    return Number(new URL(url).port);
  },
  async "node:http"() {
    const server = createServer((req, response) => {
      if (req.method === "GET") void download(response, Number(req.url.slice(1)));
      else countBody(req, response);
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    return server.address().port;
  },
};

/** Responds to GET with so many bytes, and to everything else with the number of received bytes. */
async function application({ type, method, path }, receive, send) {
  if (type !== "http") return;
  if (method === "GET") {
    await send({ type: "http.response.start", status: 200, headers: [] });
    for (let left = Number(path.slice(1)); left > 0; left -= PART.length) {
      await send({ type: "http.response.body", body: PART, more_body: true });
    }
    await send({ type: "http.response.body" });
    return;
  }
  let count = 0;
  for (let more = true; more;) {
    const message = await receive();
    count += message.body.length;
    more = message.more_body;
  }
  await send({ type: "http.response.start", status: 200, headers: [] });
  await send({ type: "http.response.body", body: Buffer.from(`<${count}>`) });
}

async function download(response, bytes) {
  for (let left = bytes; left > 0; left -= PART.length) {
    if (!response.write(PART)) await once(response, "drain");
  }
  response.end();
}

function countBody(req, response) {
  let count = 0;
  req.on("data", (chunk) => (count += chunk.length));
  req.on("end", () => response.end(`<${count}>`));
}

/** Serves, and replies to each message with the processor seconds used so far. */
async function runServer() {
  process.on("message", () => {
    const { user, system } = process.cpuUsage();
    process.send((user + system) / 1e6);
  });
  process.send(await servers[role]());
}

const heads = {
  "out, chunked": (bytes) => `GET /${bytes} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
  "in, of a known length": (bytes) =>
    `POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${bytes}\r\n\r\n`,
  "in, chunked": () => "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n",
};

/** Sends one request, with an optional body, and reads the response to its end. */
async function request(port, kind, bytes) {
  const socket = connect(port, "127.0.0.1");
  let received = 0;
  let last = "";
  socket.on("data", (chunk) => {
    received += chunk.length;
    last = chunk.subarray(-20).toString("latin1");
  });
  socket.write(heads[kind](bytes));
  if (kind !== "out, chunked") await upload(socket, bytes, kind === "in, chunked");
  await once(socket, "close");
  const isWhole = kind === "out, chunked" ? received > bytes : last.includes(`<${bytes}>`);
  if (!isWhole) throw new Error(`${kind}: ${received} bytes, at the end ${last}`);
}

async function upload(socket, bytes, isChunked) {
  const part = isChunked ? Buffer.concat([Buffer.from("10000\r\n"), PART, Buffer.from("\r\n")]) : PART;
  for (let left = bytes; left > 0; left -= PART.length) {
    if (!socket.write(part)) await once(socket, "drain");
  }
  if (isChunked) socket.write("0\r\n\r\n");
}

/** Processor seconds that a fresh server takes for one body. */
async function measure(server, kind, bytes) {
  const child = fork(fileURLToPath(import.meta.url), [server], { serialization: "advanced" });
  const answer = async () => (await once(child, "message"))[0];
  const ask = () => {
    child.send("processor time");
    return answer();
  };
  try {
    const port = await answer();
    await request(port, kind, 64 << 20); // warm
    const before = await ask();
    await request(port, kind, bytes);
    return (await ask()) - before;
  } finally {
    child.kill();
    await once(child, "exit");
  }
}

async function compare() {
  const bytes = Number(role ?? 1024) * 1024 * 1024;
  for (const kind of Object.keys(heads)) {
    const seconds = { tsgi: [], "node:http": [] };
    for (let round = 0; round < ROUNDS; round++) {
      for (const server of Object.keys(seconds)) seconds[server].push(await measure(server, kind, bytes));
    }
    const median = (list) => list.toSorted((left, right) => left - right)[ROUNDS >> 1];
    const [ours, bare] = [median(seconds.tsgi), median(seconds["node:http"])];
    console.log(
      `${bytes / 1024 / 1024} MiB ${kind}: ${ours.toFixed(2)} s, node:http ${bare.toFixed(2)} s: ${(ours / bare).toFixed(2)} times`,
    );
  }
}

await (role in servers ? runServer() : compare());
