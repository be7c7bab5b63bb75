// An API that writes a row and enqueues a job in one transaction, or a worker of these jobs. For Node.js 22 or later.
import { Pool } from "pg";
import { App, HTTPException, t } from "tsgi";
import { serve } from "tsgi/node";
import { Jobs } from "@tsgi/jobs";
import { Webhooks } from "@tsgi/webhooks";

const { role, url, shutdownTimeoutMs = 10_000 } = JSON.parse(process.argv[2]);

const pool = new Pool({ connectionString: url, max: 8 });
pool.on("error", () => {}); // an idle connection is lost when the database stops; the pool opens another one
const jobs = new Jobs({ url, program: "shop" });

const order = jobs.define(
  "order",
  { payload: t.Object({ n: t.Integer() }), concurrency: 8, attempts: 20, backoffSeconds: 1 },
  async ({ payload: { n } }) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    await pool.query("INSERT INTO runs (n) VALUES ($1)", [n]);
  },
);

const ordered = jobs.event("ordered", { payload: t.Object({ n: t.Integer() }) });
for (const subscriber of ["mail", "stock"]) {
  ordered.subscribe(subscriber, { concurrency: 8, attempts: 20, backoffSeconds: 1 }, async ({ payload: { n } }) => {
    await pool.query("INSERT INTO receipts (n, subscriber) VALUES ($1, $2)", [n, subscriber]);
  });
}

/** The receiver of webhooks, if there is one. */
const { RECEIVER, SECRET } = process.env;
const endpoint = { id: "shop", url: RECEIVER, secrets: [SECRET], events: ["ordered"] };
const webhooks = new Webhooks({
  jobs,
  events: { ordered: t.Object({ n: t.Integer() }) },
  endpoints: () => [endpoint],
  endpoint: () => endpoint,
  allow: ["127.0.0.0/8"],
  attempts: 20,
  backoffSeconds: 1,
});

/** Writes the consequence of an order: a webhook, an event, or a job. */
function follow(n, tx) {
  if (RECEIVER !== undefined) return webhooks.send("ordered", { n }, { owner: "shop", tx });
  return process.env.EVENTS === undefined ? order.enqueue({ n }, { tx }) : ordered.publish({ n }, { tx });
}

/** Hangs in a worker that is about to be killed. */
const hang = jobs.define("hang", { attempts: 1 }, async () => {
  if (process.env.HANG) {
    process.stdout.write("hanging\n");
    await new Promise(() => {});
  }
  await pool.query("INSERT INTO runs (n) VALUES (0)");
});

if (process.env.SCHEDULES) {
  const tick = jobs.define("tick", { payload: t.Object({ schedule: t.Integer() }) }, async ({ payload }) => {
    await pool.query("INSERT INTO ticks (schedule) VALUES ($1)", [payload.schedule]);
  });
  for (let schedule = 0; schedule < Number(process.env.SCHEDULES); schedule++) {
    jobs.schedule(`every-minute-${schedule}`, "* * * * *", tick, { schedule });
  }
}

/** Writes the row once, however often the request is repeated, and its consequence. */
async function write(n, fails) {
  const client = await pool.connect();
  let isBroken = false;
  try {
    await client.query("BEGIN");
    const { rowCount } = await client.query("INSERT INTO orders (n) VALUES ($1) ON CONFLICT DO NOTHING", [n]);
    if (rowCount === 1) await follow(n, client);
    if (fails) throw new HTTPException(409, "rolled back");
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => (isBroken = true));
    throw error;
  } finally {
    client.release(isBroken);
  }
}

if (role === "api") {
  const app = new App({ lifespan: jobs.lifespan, docsUrl: null, redocUrl: null });
  app.post("/orders", { params: { order: t.Object({ n: t.Integer(), fails: t.Boolean() }) } }, async (args) => {
    await write(args.order.n, args.order.fails);
  });
  app.post("/hang", async () => hang.enqueue());
  const server = await serve(app, { port: 0 });
  process.stdout.write(`url ${server.url}\n`);
} else {
  const worker = await jobs.work({ shutdownTimeoutMs });
  process.once("SIGTERM", () => void worker.stop().then(() => pool.end()));
  process.stdout.write("url http://127.0.0.1:1\n");
}
