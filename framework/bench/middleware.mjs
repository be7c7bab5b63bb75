/**
 * The cost of each middleware for a small request, in memory without a server: microseconds per request, and the
 * difference to no middleware. The cases take turns in each round, so that a machine that gets slower slows all of
 * them; the best round counts.
 *
 *     npm run build --prefix framework && node framework/bench/middleware.mjs [words of the names of cases]
 *
 * It does not include the cost of a server (about 16 µs), of gzip for larger bodies, or of a remote store.
 */
import { App, Request } from "../core/dist/index.js";
import * as middleware from "../core/dist/middleware/index.js";

const ROUNDS = 9;
const REQUESTS = 5_000;
const SECRET = "0123456789abcdef0123456789abcdef";
const ID = "A".repeat(43);
const store = middleware.memoryStore();

const CASES = {
  none: {},
  trustedHost: { layer: middleware.trustedHost({ allowedHosts: ["example.com"] }) },
  cors: { layer: middleware.cors({ allowOrigins: ["https://example.com"] }) },
  "csrf, Sec-Fetch-Site": { layer: middleware.csrf(), method: "PUT", headers: [["sec-fetch-site", "same-origin"]] },
  "csrf, Origin": { layer: middleware.csrf(), method: "PUT" },
  "gzip, too small": { layer: middleware.compress() },
  "gzip, 2 KiB": { layer: middleware.compress(), answer: { text: "lorem ipsum ".repeat(170) } },
  requestId: { layer: middleware.requestId() },
  securityHeaders: { layer: middleware.securityHeaders() },
  "sessions, signed, no cookie": { layer: middleware.sessions({ secret: SECRET }) },
  "sessions, signed": { layer: middleware.sessions({ secret: SECRET }), login: true },
  "sessions, store, no cookie": { layer: middleware.sessions({ store }) },
  "sessions, store, unknown": { layer: middleware.sessions({ store }), headers: [["cookie", `__Host-session=${ID}`]] },
  "sessions, store": { layer: middleware.sessions({ store }), login: true },
  "idempotency, no key": { layer: middleware.idempotency({ store }), method: "PUT" },
  "idempotency, a new key": { layer: middleware.idempotency({ store }), method: "PUT", freshKey: true },
  "idempotency, a repeat": {
    layer: middleware.idempotency({ store }),
    method: "PUT",
    headers: [["idempotency-key", "same"]],
  },
  "etag: true": { etag: true },
  "etag: true, 304": { etag: true, headers: [["if-none-match", "*"]] },
  bodyLimit: { layer: middleware.bodyLimit(1000) },
  timeLimit: { layer: middleware.timeLimit(1000) },
  httpMiddleware: {
    layer: middleware.httpMiddleware(async (_request, next) => {
      const response = await next();
      response.headers.set("x-added", "yes");
    }),
  },
};

const bytes = (text) => Buffer.from(text, "latin1");
const HEADERS = [
  ["host", "example.com"],
  ["origin", "https://example.com"],
  ["accept", "application/json"],
  ["accept-encoding", "gzip, deflate, br"],
  ["user-agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"],
].map(([name, value]) => [bytes(name), bytes(value)]);

const receive = async () => ({ type: "http.request", body: new Uint8Array(0), more_body: false });
const send = () => {};

/** Opens a case: a function that sends so many requests, and returns the microseconds of one. */
async function open({
  layer,
  answer = { status: "ok" },
  headers = [],
  login = false,
  method = "GET",
  etag = false,
  freshKey = false,
}) {
  const app = new App({ middleware: layer ? [layer] : [] });
  app.get("/", { etag }, async () => answer);
  app.put("/", async () => answer);
  app.post("/", { params: { request: Request } }, async ({ request }) => {
    middleware.sessionOf(request).user = "ada";
  });
  const cookie = login ? [["cookie", await cookieOf(app)]] : [];
  const lines = [...HEADERS, ...[...headers, ...cookie].map(([name, value]) => [bytes(name), bytes(value)])];
  return async () => {
    const start = performance.now();
    for (let count = 0; count < REQUESTS; count++) {
      await app({ type: "http", method, path: "/", headers: freshKey ? [...lines, keyLine()] : lines }, receive, send);
    }
    return ((performance.now() - start) / REQUESTS) * 1000;
  };
}

let keys = 0;
const keyLine = () => [bytes("idempotency-key"), bytes(String(++keys))];

/** The cookie that a login gets. */
async function cookieOf(app) {
  let cookie = "";
  await app({ type: "http", method: "POST", path: "/", headers: HEADERS }, receive, (message) => {
    for (const [name, value] of message.headers ?? []) {
      if (String(name) === "set-cookie") cookie = String(value).split(";", 1)[0];
    }
  });
  return cookie;
}

const words = process.argv.slice(2);
const chosen = Object.entries(CASES).filter(
  ([name]) => name === "none" || words.length === 0 || words.some((word) => name.includes(word)),
);
const runs = await Promise.all(chosen.map(async ([name, given]) => ({ name, run: await open(given), best: Infinity })));
for (let round = 0; round < ROUNDS; round++) for (const one of runs) one.best = Math.min(one.best, await one.run());
const [{ best: baseline }] = runs;
for (const { name, best } of runs) {
  const [cost, added] = [best, best - baseline].map((number) => number.toFixed(2).padStart(7));
  console.log(`${name.padEnd(28)} ${cost} µs  +${added.trim()}  ${(best / baseline).toFixed(2)}×`);
}
