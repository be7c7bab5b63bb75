/**
 * Registers 1,000 routes with schemas in this process, answers one request, and prints the report.
 *
 * `node dist/startup/register.js [ROUTES]`
 *
 * @module
 */
import { App, t } from "tsgi";
import { ASGICaller } from "../direct/asgi-caller.js";
import { faultOf, type Example } from "../examples.js";
import { printReport } from "../report.js";

const routes = Number(process.argv[2] ?? "1000");

const started = performance.now();
const app = new App();
for (let index = 0; index < routes; index += 2) {
  const fields = { name: t.String({ minLength: 1 }), count: t.Integer({ minimum: 0 }), tags: t.Array(t.String()) };
  const Item = t.Object({ id: t.Integer(), ...fields });
  app.get(
    `/things${index}/{id}`,
    { params: { id: t.Integer(), limit: t.Integer({ default: 10, maximum: 100 }) }, returns: Item },
    async ({ id, limit }) => ({ id, name: "thing", count: limit, tags: [] }),
  );
  app.post(
    `/things${index}`,
    { params: { item: t.Object(fields) }, returns: Item, statusCode: 201 },
    async ({ item }) => ({ id: index, ...item }),
  );
}
const registered = performance.now();
const example: Example = {
  name: "the last route",
  method: "GET",
  path: `/things${routes - 2}/7`,
  body: null,
  status: 200,
  answer: { id: 7, name: "thing", count: 10, tags: [] },
};
const fault = faultOf(example, await new ASGICaller(app, example).ask());
const answered = performance.now();

printReport({
  rows: [
    { name: "registered", figures: { ms: registered - started } },
    { name: "first answer", figures: { ms: answered - started } },
  ],
  faults: fault === null ? [] : [fault],
});
