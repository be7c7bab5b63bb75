/** Clients of five kinds. Each function makes one call and throws if its response is not the expected one. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { WebSocket } from "ws";

const ORDER = { article: "bolt", count: 3, tags: ["m4", "steel"] };
const FILE = new Blob([Buffer.alloc(3_000_000, "0123456789abcdef")]);
const JSON_HEADERS = { "content-type": "application/json" };

/** Without it, a request whose response never arrives would not end. */
const LIMIT_MS = 60_000;

const text = async (url, status, init) => {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(LIMIT_MS) });
  const body = await response.text();
  assert.equal(response.status, status, body);
  return body;
};
const post = (url, status, body) =>
  text(url, status, { method: "POST", headers: JSON_HEADERS, body: JSON.stringify(body) });

async function routes(url) {
  const id = Math.floor(Math.random() * 1e9);
  assert.equal(JSON.parse(await text(`${url}/items/${id}?q=a%20b`, 200)).id, id);
  assert.deepEqual(JSON.parse(await post(`${url}/orders`, 200, ORDER)), ORDER);
  await post(`${url}/orders`, 422, { ...ORDER, count: 0 });
  await text(`${url}/items/${"x".repeat(50)}`, 422);
  await text(`${url}/absent/${id}`, 404);
  await text(`${url}/fails`, 500);
  assert.equal(JSON.parse(await text(`${url}/session`, 200, { headers: { cookie: `token=${id}` } })).token, String(id));
}

async function streams(url) {
  assert.equal((await text(`${url}/events`, 200)).split("\n\n").length, 51);
  assert.equal((await text(`${url}/lines`, 200)).trim().split("\n").length, 200);
  // A client that disconnects in the middle.
  const leaving = new AbortController();
  const { body } = await fetch(`${url}/lines`, { signal: leaving.signal });
  await body.getReader().read();
  leaving.abort();
}

async function webSockets(url) {
  const socket = new WebSocket(`${url.replace("http", "ws")}/echo`);
  await once(socket, "open");
  for (let index = 0; index < 20; index++) {
    const message = `${index} `.repeat(200);
    socket.send(message);
    const [data] = await once(socket, "message");
    assert.equal(String(data), message);
  }
  if (Math.random() < 0.5) socket.close();
  else socket.terminate();
  await once(socket, "close");
}

async function uploads(url) {
  const form = new FormData();
  form.set("file", FILE, "file.bin");
  assert.equal(JSON.parse(await text(`${url}/uploads`, 200, { method: "POST", body: form })).bytes, FILE.size);
}

async function jobs(url) {
  const { done } = JSON.parse(await text(`${url}/jobs`, 200));
  for (let index = 0; index < 10; index++) await post(`${url}/jobs`, 200, ORDER);
  const deadline = Date.now() + LIMIT_MS;
  while (JSON.parse(await text(`${url}/jobs`, 200)).done < done + 10) {
    assert.ok(Date.now() < deadline, "10 jobs are not done after a minute");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Clients of one kind: how many there are at a time, and what each does again and again. */
const KINDS = { routes: [4, routes], streams: [4, streams], webSockets: [4, webSockets], uploads: [1, uploads] };
const WITH_JOBS = { ...KINDS, jobs: [1, jobs] };

/**
 * Sends traffic until `signal` aborts.
 *
 * @returns The number of calls of each kind; `ended`, which rejects at the first wrong response; `pause`, which resolves when all
 *   calls have ended; and `resume`.
 */
export function sendTraffic(url, { hasJobs, signal }) {
  const kinds = Object.entries(hasJobs ? WITH_JOBS : KINDS);
  const calls = Object.fromEntries(kinds.map(([kind]) => [kind, 0]));
  let running = 0;
  let [gate, open, onIdle] = [Promise.resolve(), () => {}, () => {}];
  const client = async (kind, call) => {
    for (await gate; !signal.aborted; await gate) {
      running++;
      await call(url);
      calls[kind]++;
      if (--running === 0) onIdle();
    }
  };
  const clients = kinds.flatMap(([kind, [count, call]]) => Array.from({ length: count }, () => client(kind, call)));
  const pause = () => {
    gate = new Promise((resolve) => (open = resolve));
    return running === 0 ? Promise.resolve() : new Promise((resolve) => (onIdle = resolve));
  };
  return { calls, ended: Promise.all(clients), pause, resume: () => open() };
}
