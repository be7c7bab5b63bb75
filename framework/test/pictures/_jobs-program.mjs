// An application with a job page and jobs in each state, for its picture. For Node.js 22 or later.
import { App, t } from "tsgi";
import { serve } from "tsgi/node";
import { DeadJobError, Jobs } from "@tsgi/jobs";

const [url, schema] = process.argv.slice(2);
const logger = { debug() {}, info() {}, warn() {}, error() {} };
const jobs = new Jobs({ url, schema, program: "shop", logger });
const paid = jobs.event("order.paid", { payload: t.Object({ orderId: t.Integer() }) });
paid.subscribe("receipt", {}, async () => {});
paid.subscribe("stock", {}, async ({ payload }) => {
  if (payload.orderId === 2) throw new DeadJobError("The warehouse does not know the order 2");
});
const options = { payload: t.Object({ to: t.String() }), params: { signal: AbortSignal } };
const mail = jobs.define("welcome-mail", options, async ({ signal }) => {
  await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
});
for (const orderId of [1, 2]) await paid.publish({ orderId });
await mail.enqueue({ to: "bob@example.com" }, { delaySeconds: 3_600 });
await mail.enqueue({ to: "ada@example.com" });
const worker = await jobs.work();
const app = new App({ lifespan: jobs.lifespan });
app.includeRouter(jobs.router());
const server = await serve(app, { port: 0 });
process.stdout.write(`Ready on ${server.url}\n`);
process.once("SIGTERM", () => void Promise.all([server.close(), worker.stop({ timeoutMs: 0 })]));
