import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import path from "node:path";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";
import { orderUnderFaults, REQUESTS, Shop } from "./lib/jobs.js";
import { demand } from "./lib/outcome.js";
import { eventually } from "./lib/wire.js";

export const fault = "webhooks: kill -9 of the API and of workers, and a restart of PostgreSQL, during 1,000 requests";
export const pass =
  "500 rows, and a verified webhook for each of them, and for no other, although a tenth is refused at first";
export const limitMs = 240_000;

const FIXTURES = path.resolve(import.meta.dirname, "../core/test/platforms/node/fixtures");
const CERTIFICATE = path.join(FIXTURES, "localhost.cert.pem");
const SECRET = Buffer.alloc(32, 7).toString("base64");

/** Collects the bodies of verified webhooks, by their ids. */
async function openReceiver() {
  const received = new Map();
  const verifier = new Webhook(SECRET);
  const tls = { cert: readFileSync(CERTIFICATE), key: readFileSync(path.join(FIXTURES, "localhost.key.pem")) };
  let count = 0;
  const server = createServer(tls, (request, response) => {
    text(request).then(
      (body) => {
        const isRefused = ++count % 10 === 0;
        if (!isRefused) received.set(request.headers["webhook-id"], verifier.verify(body, request.headers).data.n);
        response.writeHead(isRefused ? 503 : 204, isRefused ? { "retry-after": "1" } : {}).end();
      },
      () => response.destroy(), // its worker was killed
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { received, url: `https://localhost:${server.address().port}/`, close: () => server.close() };
}

export async function run() {
  const shop = await Shop.open();
  const receiver = await openReceiver();
  try {
    const env = { RECEIVER: receiver.url, SECRET, NODE_EXTRA_CA_CERTS: CERTIFICATE };
    const kills = await orderUnderFaults(shop, env);
    await eventually(() => receiver.received.size >= REQUESTS / 2, 120_000);
    const undone = () => shop.count("tsgi_webhook_deliveries WHERE state <> 'delivered'");
    await eventually(
      () =>
        undone().then(
          (left) => left === 0,
          () => false,
        ),
      60_000,
    );
    const orders = new Set((await shop.pool.query("SELECT n FROM orders")).rows.map(({ n }) => n));
    const delivered = new Set(receiver.received.values());
    const strays = [...delivered].filter((n) => !orders.has(n)).length;
    const attempts = await shop.count("(SELECT generate_series(1, attempts) FROM tsgi_webhook_deliveries) AS made");
    const figure = `${orders.size} rows, ${delivered.size} delivered in ${attempts} attempts, ${strays} of rolled-back requests; ${kills} processes killed`;
    demand(orders.size === REQUESTS / 2 && delivered.size === orders.size && strays === 0, figure);
    return figure;
  } finally {
    receiver.close();
    await shop.close();
  }
}
