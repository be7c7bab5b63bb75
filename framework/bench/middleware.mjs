/**
 * The cost of each middleware for a small request, in memory without a server: microseconds a request, best of five
 * rounds, and the difference to none.
 *
 *     npm run build --prefix framework && node framework/bench/middleware.mjs
 *
 * It does not show what a server adds (some 30 µs), nor what larger bodies cost gzip.
 */
import { App } from "../core/dist/index.js";
import * as middleware from "../core/dist/middleware/index.js";

const ROUNDS = 5;
const REQUESTS = 20_000;
const SECRET = "0123456789abcdef0123456789abcdef";

const CASES = {
  none: [],
  trustedHost: [middleware.trustedHost({ allowedHosts: ["example.com"] })],
  cors: [middleware.cors({ allowOrigins: ["https://example.com"] })],
  "gzip, too small": [middleware.compress()],
  "gzip, 2 KiB": [middleware.compress()],
  requestId: [middleware.requestId()],
  securityHeaders: [middleware.securityHeaders()],
  sessions: [middleware.sessions({ secret: SECRET })],
  bodyLimit: [middleware.bodyLimit(1000)],
  timeLimit: [middleware.timeLimit(1000)],
  httpMiddleware: [
    middleware.httpMiddleware(async (_request, next) => {
      const response = await next();
      response.headers.set("x-added", "yes");
    }),
  ],
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

async function measure(name, layers) {
  const app = new App({ middleware: layers });
  const answer = name.endsWith("2 KiB") ? { text: "lorem ipsum ".repeat(170) } : { status: "ok" };
  app.get("/", async () => answer);
  const round = async () => {
    const start = performance.now();
    for (let count = 0; count < REQUESTS; count++) {
      await app({ type: "http", method: "GET", path: "/", headers: HEADERS }, receive, send);
    }
    return ((performance.now() - start) / REQUESTS) * 1000;
  };
  let best = Infinity;
  for (let count = 0; count < ROUNDS; count++) best = Math.min(best, await round());
  return best;
}

let baseline = 0;
for (const [name, layers] of Object.entries(CASES)) {
  const cost = await measure(name, layers);
  baseline ||= cost;
  console.log(`${name.padEnd(18)} ${cost.toFixed(2).padStart(7)} µs  +${(cost - baseline).toFixed(2)}`);
}
