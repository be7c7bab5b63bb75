/**
 * Loads one server with autocannon from this process and prints the report.
 *
 * `node dist/http/worker.js URL [REQUESTS] [WARM_UP]`: for each route, WARM_UP requests are untimed and REQUESTS are measured.
 *
 * @module
 */
import autocannon from "autocannon";
import { PROOFS, SOCKET_EXAMPLES } from "../examples.js";
import { printReport, type Row } from "../report.js";
import { ask, type Case, type Reply, toCase } from "./case.js";

/** One request is in flight on each. */
const CONNECTIONS = 64;

/** autocannon looks this often whether it is done; its default of a second would round every time up to seconds. */
const SAMPLE_MS = 10;

const [url = "", requests = "50000", warmUp = "500"] = process.argv.slice(2);

const rows: Row[] = [];
const faults: string[] = [];
for (const one of PROOFS.map(toCase)) note(one.check(await ask(url, one)));
for (const one of SOCKET_EXAMPLES.map(toCase)) {
  const reply = await ask(url, one);
  const fault = one.check(reply);
  note(fault);
  if (fault !== null) continue;
  await send(one, reply, Number(warmUp));
  const figures = await send(one, reply, Number(requests));
  rows.push({ name: one.name, figures });
}
printReport({ rows, faults });

function note(fault: string | null): void {
  if (fault !== null) faults.push(fault);
}

/** Sends the request of a case many times. autocannon compares the body of each response, and counts each status. */
async function send(
  { name, method, path, headers, body }: Case,
  expected: Reply,
  amount: number,
): Promise<Row["figures"]> {
  const result = await autocannon({
    url: url + path,
    method,
    headers: { ...headers },
    ...(body === null ? {} : { body }),
    expectBody: expected.body,
    connections: Math.min(CONNECTIONS, amount),
    amount,
    bailout: 1, // a server that hangs ends the run after one timeout, not after one for each request
    sampleInt: SAMPLE_MS,
  });
  const right = (result.statusCodeStats?.[`${expected.status}`]?.count ?? 0) - result.mismatches;
  if (right !== amount || result.errors > 0)
    note(`${name}: ${amount - right} of ${amount} responses were wrong or missing`);
  const { p50, p99 } = result.latency;
  return { perSecond: amount / result.duration, p50, p99 };
}
