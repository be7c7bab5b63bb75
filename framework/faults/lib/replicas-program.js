// A replica of an application with jobs, live WebSockets and resumable streams, or a worker of its jobs. For Node.js 22 or
// later.
import { setTimeout as sleep } from "node:timers/promises";
import { Pool } from "pg";
import { App, Query, Router, t } from "tsgi";
import { serve } from "tsgi/node";
import { Broadcast, redisBackplane, StreamLog } from "@tsgi/broadcast";
import { Jobs } from "@tsgi/jobs";

const { role, url, redis, port = 0, streamEvents = 0 } = JSON.parse(process.argv[2]);

const pool = new Pool({ connectionString: url, max: 8 });
const jobs = new Jobs({ url });
const broadcast = new Broadcast({ backplane: redisBackplane(redis) });
const log = new StreamLog({ redis });

/** Writes the outcome once, however often the job runs. The lock lets outcomes become visible in the order of their ids. */
async function write(n) {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    await client.query("SELECT pg_advisory_xact_lock(1)");
    const { rows } = await client.query(
      "INSERT INTO done (n) VALUES ($1) ON CONFLICT (n) DO UPDATE SET runs = done.runs + 1 RETURNING id",
      [n],
    );
    await client.query("COMMIT");
    return rows[0].id;
  } finally {
    client.release();
  }
}

const order = jobs.define(
  "order",
  { payload: t.Object({ n: t.Integer() }), concurrency: 8, backoffSeconds: 1 },
  async ({ payload: { n } }) => {
    await sleep((n % 20) * 25);
    await broadcast.publish("done", { id: await write(n) });
  },
);

/** Makes the events of a stream in the worker, so that a restart of a replica does not end them. */
const stream = jobs.define("stream", { payload: t.Object({ id: t.String() }), concurrency: 8 }, async ({ payload }) => {
  const produced = Promise.withResolvers();
  await log.start(payload.id, async function* () {
    try {
      for (let n = 1; n <= streamEvents; n++) {
        yield n;
        await sleep(50);
      }
    } finally {
      produced.resolve();
    }
  });
  await produced.promise;
});

const ordered = t.Object({ n: t.Integer() });

/** Writes the row and the job together. */
async function addOrder({ n }) {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    await client.query("INSERT INTO orders (n) VALUES ($1)", [n]);
    await order.enqueue({ n }, { tx: client });
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  } finally {
    client.release();
  }
}

/** Sends the outcomes after `since`: first those in the database, then each new one. */
async function follow(ws, since, messages) {
  let last = since;
  const send = async (id, isLate = false) => {
    await ws.sendJson({ id, isLate });
    last = id;
  };
  const catchUp = async (isFirst = false) => {
    const { rows } = await pool.query("SELECT id FROM done WHERE id > $1 ORDER BY id", [last]);
    for (const { id } of rows) await send(id, isFirst);
  };
  await catchUp(true);
  for await (const { id } of messages) {
    if (id === last + 1) await send(id);
    else if (id > last) await catchUp();
  }
}

function createApp() {
  const app = new App({ lifespan: jobs.lifespan, docsUrl: null, redocUrl: null });
  app.includeRouter(new Router({ lifespan: broadcast.lifespan }));
  app.includeRouter(new Router({ lifespan: log.lifespan }));
  app.post("/orders", { params: { ordered }, statusCode: 202 }, async (args) => addOrder(args.ordered));
  app.get("/orders", async () => (await pool.query("SELECT count(*)::int AS count FROM orders")).rows[0]);
  app.post("/streams/{id}", { statusCode: 202 }, async ({ id }) => {
    await stream.enqueue({ id });
  });
  app.get("/streams/{id}", { stream: "sse" }, async ({ id }) => {
    while ((await log.status(id)) === "unknown") await sleep(50); // its worker has not started it
    return log.read(id);
  });
  app.websocket("/live", { params: { since: Query(t.Integer()) } }, async ({ ws, since }) => {
    await ws.accept();
    const messages = await broadcast.subscribe("done", { buffer: 10_000 });
    const following = follow(ws, since, messages).catch(() => {}); // the client has disconnected
    for await (const _ of ws);
    await messages.return();
    await following;
  });
  return app;
}

/** A worker has no lifespan, so it connects before its first job. On a busy machine, Redis may be late. */
async function connect() {
  for (;;) {
    try {
      await Promise.all([log.status("none"), broadcast.publish("done", { id: 0 })]);
      return;
    } catch {
      await sleep(100);
    }
  }
}

if (role === "replica") {
  const server = await serve(createApp(), { port });
  process.stdout.write(`url ${server.url}\n`);
} else {
  await connect();
  const worker = await jobs.work();
  const stop = async () => {
    await worker.stop();
    await Promise.all([log.close(), broadcast.close(), pool.end()]);
  };
  process.once("SIGTERM", () => void stop());
  process.stdout.write("url http://127.0.0.1:1\n");
}
