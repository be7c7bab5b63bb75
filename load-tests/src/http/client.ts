/**
 * Loads a server from this process and prints the report.
 *
 * `node dist/http/client.js LOAD`, where LOAD is a {@link Load} as JSON.
 *
 * @module
 */
import autocannon from "autocannon";
import { faultOf, PROOFS, SOCKET_EXAMPLES, type Answer, type Example } from "../examples.js";
import { printReport, type Row } from "../report.js";
import { type Load, processorSeconds } from "./load.js";

/** autocannon looks this often whether it is done; its default of a second would round every time up to seconds. */
const SAMPLE_MS = 10;

/** A server that is not done by then has hung. */
const MAX_SECONDS = 60;

const load = JSON.parse(process.argv[2] ?? "{}") as Load;
const rows: Row[] = [];
const faults: string[] = [];

for (const example of SOCKET_EXAMPLES) {
  // A browser pipelines nothing.
  for (const pipelining of load.pipelining.filter((depth) => depth === 1 || example.headers === undefined)) {
    const result = await measure(example, pipelining);
    if (typeof result === "string") {
      faults.push(result);
    } else {
      rows.push(result);
    }
  }
}
for (const proof of PROOFS) {
  const fault = faultOf(proof, await ask(proof));
  if (fault !== null) {
    faults.push(fault);
  }
}
printReport({ rows, faults });

async function ask(example: Example): Promise<Answer> {
  const { method, path, body } = example;
  const response = await fetch(load.url + path, { method, body, headers: headersOf(example) });
  return {
    status: response.status,
    contentType: response.headers.get("content-type") ?? "",
    body: await response.text(),
  };
}

function headersOf({ body, headers }: Example): Record<string, string> {
  return { ...headers, ...(body === null ? {} : { "content-type": "application/json" }) };
}

/** Checks an answer whole, warms up, and measures. Gives what is wrong where something is. */
async function measure(example: Example, pipelining: number): Promise<Row | string> {
  const answer = await ask(example);
  const fault = faultOf(example, answer);
  if (fault !== null) {
    return fault;
  }
  const warm = await send(example, answer, load.warmUp, pipelining);
  if (typeof warm === "string") {
    return warm;
  }
  const figures = await send(example, answer, load.requests, pipelining);
  if (typeof figures === "string") {
    return figures;
  }
  return { name: pipelining === 1 ? example.name : `${example.name}, ${pipelining} pipelined`, figures };
}

/**
 * Sends one example many times. autocannon compares the body of each answer, and counts each status.
 *
 * Its own `amount` is of no use here: it cuts a connection that has sent its share, so that pipelined requests lose
 * their answers, and a share below the pipelining never ends. The answers are counted here instead, and end the run.
 */
async function send(
  example: Example,
  right: Answer,
  amount: number,
  pipelining: number,
): Promise<Record<string, number> | string> {
  const { name, method, path, body } = example;
  const before = process.cpuUsage();
  const serverBefore = processorSeconds(load.serverPid);
  const started = performance.now();
  let answered = 0;
  let finished = started;
  const clients: autocannon.Client[] = [];
  const options: autocannon.Options = {
    url: load.url + path,
    method,
    connections: load.connections,
    pipelining,
    duration: MAX_SECONDS,
    expectBody: right.body,
    sampleInt: SAMPLE_MS,
    setupClient: (client) => clients.push(client),
    headers: headersOf(example),
    ...(body === null ? {} : { body }),
  };
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const run = autocannon(options, (error: Error | null, whole) => (error === null ? resolve(whole) : reject(error)));
    run.on("response", () => {
      answered++;
      if (answered === amount) {
        finished = performance.now();
        clients.forEach(cut);
        run.stop();
      }
    });
  });
  const used = process.cpuUsage(before);
  const serverAfter = processorSeconds(load.serverPid);
  const seconds = (finished - started) / 1_000;
  const good = result.statusCodeStats?.[`${right.status}`]?.count ?? 0;
  const wrong = Math.max(amount, answered) - good + result.mismatches + result.errors;
  if (wrong > 0) {
    return `${name}: ${wrong} of ${amount} answers over HTTP were wrong or missing`;
  }
  const serverSeconds = serverBefore === null || serverAfter === null ? 0 : serverAfter - serverBefore;
  return {
    requests: amount,
    perSecond: amount / seconds,
    p50Ms: result.latency.p50,
    p90Ms: result.latency.p90,
    p97_5Ms: result.latency.p97_5,
    p99Ms: result.latency.p99,
    p99_9Ms: result.latency.p99_9,
    clientLoad: (used.user + used.system) / 1e6 / seconds,
    ...(serverSeconds > 0 ? { perCPUSecond: answered / serverSeconds } : {}),
  };
}

/** Ends a connection at once: what stops a run is looked at every few milliseconds only. Not in autocannon's types. */
function cut(client: autocannon.Client): void {
  if ("destroy" in client && typeof client.destroy === "function") Reflect.apply(client.destroy, client, []);
}
