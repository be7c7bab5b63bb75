/**
 * Loads a server from this process and prints the report.
 *
 * `node dist/http/client.js LOAD`, where LOAD is a {@link Load} as JSON.
 *
 * @module
 */
import { faultOf, PROOFS, SOCKET_EXAMPLES, type Answer, type Example } from "../examples.js";
import { printReport, type Row } from "../report.js";
import type { Load } from "./load.js";
import { sendMany } from "./send.js";

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
  const { method, path, body } = example;
  const shot = { name: example.name, method, path, body, headers: headersOf(example), status: answer.status } as const;
  const send = (requests: number) => sendMany(load, { ...shot, expected: answer.body }, { requests, pipelining });
  const warm = await send(load.warmUp);
  if (typeof warm === "string") {
    return warm;
  }
  const figures = await send(load.requests);
  if (typeof figures === "string") {
    return figures;
  }
  return { name: pipelining === 1 ? example.name : `${example.name}, ${pipelining} pipelined`, figures };
}
