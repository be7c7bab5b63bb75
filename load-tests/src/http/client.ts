/**
 * Loads a server from this process and prints the report.
 *
 * `node dist/http/client.js URL [REQUESTS] [WARM_UP]`
 *
 * @module
 */
import autocannon from "autocannon";
import { EXAMPLES, faultOf, PROOFS, type Answer, type Example } from "../examples.js";
import { printReport, type Row } from "../report.js";

/** Requests in flight at the same time, each on a connection of its own: autocannon's default. */
const CONNECTIONS = 10;

/** autocannon looks this often whether it is done; its default of a second would round every time up to seconds. */
const SAMPLE_MS = 10;

const [url = "", requests = "50000", warmUp = "500"] = process.argv.slice(2);
const rows: Row[] = [];
const faults: string[] = [];

for (const example of EXAMPLES) {
  const answer = await ask(example);
  const fault = faultOf(example, answer) ?? (await load(example, answer, Number(warmUp))).fault;
  const measured = fault === null ? await load(example, answer, Number(requests)) : { fault, figures: {} };
  if (measured.fault === null) {
    rows.push({ name: example.name, figures: measured.figures });
  } else {
    faults.push(measured.fault);
  }
}
for (const proof of PROOFS) {
  const fault = faultOf(proof, await ask(proof));
  if (fault !== null) {
    faults.push(fault);
  }
}
printReport({ rows, faults });

async function ask({ method, path, body }: Example): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    body,
    ...(body === null ? {} : { headers: { "content-type": "application/json" } }),
  });
  return {
    status: response.status,
    contentType: response.headers.get("content-type") ?? "",
    body: await response.text(),
  };
}

/** Sends one example many times. autocannon compares the body of each answer, and counts each status. */
async function load(
  { name, method, path, body }: Example,
  right: Answer,
  amount: number,
): Promise<{ fault: string | null; figures: Record<string, number> }> {
  const before = process.cpuUsage();
  const started = performance.now();
  let answered = 0;
  let finished = started;
  const options: autocannon.Options = {
    url: url + path,
    method,
    connections: CONNECTIONS,
    pipelining: 1,
    amount,
    expectBody: right.body,
    sampleInt: SAMPLE_MS,
    ...(body === null ? {} : { body, headers: { "content-type": "application/json" } }),
  };
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const run = autocannon(options, (error: Error | null, whole) => (error === null ? resolve(whole) : reject(error)));
    run.on("response", () => {
      answered++;
      finished = answered === amount ? performance.now() : finished;
    });
  });
  const used = process.cpuUsage(before);
  const seconds = (finished - started) / 1_000;
  const good = result.statusCodeStats?.[`${right.status}`]?.count ?? 0;
  const wrong = amount - good + result.mismatches + result.errors + result.timeouts;
  return wrong > 0
    ? { fault: `${name}: ${wrong} of ${amount} answers over HTTP were wrong or missing`, figures: {} }
    : {
        fault: null,
        figures: {
          perSecond: amount / seconds,
          p99Ms: result.latency.p99,
          clientLoad: (used.user + used.system) / 1e6 / seconds,
        },
      };
}
