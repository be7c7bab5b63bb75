/**
 * Registers 1,000 routes with schemas in this process, answers one request, and prints the report.
 *
 * `node dist/startup/register.js MODULE [ROUTES]`: MODULE is the contender's path or URL. It exports its `kind`, as for direct
 * calls, and `register(routes)`, which gives its `handle`.
 *
 * @module
 */
import { createCaller } from "../direct/caller.js";
import { toContender } from "../direct/contender.js";
import { type Example, faultOf } from "../examples.js";
import { toModuleURL } from "../paths.js";
import { printReport } from "../report.js";

const [module = "", count = "1000"] = process.argv.slice(2);
const routes = Number(count);
// Checked by `toContender`, with what it gives.
const { kind, register } = (await import(toModuleURL(module))) as {
  kind: string;
  register: (routes: number) => unknown;
};

const example: Example = {
  name: "the last route",
  method: "GET",
  path: `/things${routes - 2}/7`,
  body: null,
  status: 200,
  answer: { id: 7, name: "thing", count: 10, tags: [] },
};

const started = performance.now();
const contender = toContender({ kind, handle: await register(routes) }, module);
const registered = performance.now();
const fault = faultOf(example, await createCaller(contender, example).ask());
const answered = performance.now();

printReport({
  rows: [
    { name: "registered", figures: { ms: registered - started } },
    { name: "first answer", figures: { ms: answered - started } },
  ],
  faults: fault === null ? [] : [fault],
});
// A framework may hold the process open by a timer of its own.
process.exit();
