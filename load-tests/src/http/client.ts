/**
 * Loads a server from this process and prints the report.
 *
 * `node dist/http/client.js LOAD`, where LOAD is a {@link Load} as JSON.
 *
 * @module
 */
import { DATABASE_CASES, faultOfStored, onPrisma, UPDATES, type World, worldsOf } from "../database/cases.js";
import { PROOFS, SOCKET_EXAMPLES } from "../examples.js";
import { PEERS } from "../paths.js";
import { runScript } from "../processes.js";
import { printReport, type Row } from "../report.js";
import { ask, type Case, toCase } from "./case.js";
import { type Load, sendMany, type Shot } from "./send.js";

/** The cases of a suite, and what proves, untimed, that their server does the work. */
interface Suite {
  readonly cases: readonly Case[];
  readonly prove: () => Promise<readonly (string | null)[]>;
}

const SUITES: Readonly<Record<Load["suite"], Suite>> = {
  routes: {
    cases: SOCKET_EXAMPLES.map(toCase),
    prove: () => Promise.all(PROOFS.map(toCase).map(async (one) => one.check(await ask(load.url, one)))),
  },
  pg: { cases: DATABASE_CASES, prove: faultsOfUpdates },
  prisma: { cases: DATABASE_CASES.map(onPrisma), prove: faultsOfUpdates },
};

const load = JSON.parse(process.argv[2] ?? "{}") as Load;
const rows: Row[] = [];
const faults: string[] = [];
const { cases, prove } = SUITES[load.suite];

for (const one of cases) {
  // A browser, whose request has header lines, does not pipeline.
  for (const pipelining of load.pipelining.filter((depth) => depth === 1 || !("cookie" in one.headers))) {
    const result = await measure(one, pipelining);
    if (typeof result === "string") faults.push(result);
    else rows.push(result);
  }
}
faults.push(...(await prove()).filter((fault) => fault !== null));
printReport({ rows, faults });

/** Checks a response completely, warms up, and measures. Returns the error, if there is one. */
async function measure(one: Case, pipelining: number): Promise<Row | string> {
  const reply = await ask(load.url, one);
  const fault = one.check(reply);
  if (fault !== null) return fault;
  const isRight = (body: string): boolean => one.check({ ...reply, body }) === null;
  const shot: Shot = { ...one, status: reply.status, expected: one.isConstant ? reply.body : isRight };
  const connections = Math.min(load.connections, one.connections ?? load.connections);
  const send = (requests: number) =>
    sendMany({ ...load, connections }, shot, { requests: Math.ceil(requests * one.share), pipelining });
  const warm = await send(load.warmUp);
  if (typeof warm === "string") return warm;
  const figures = await send(load.requests);
  if (typeof figures === "string") return figures;
  return { name: pipelining === 1 ? one.name : `${one.name}, ${pipelining} pipelined`, figures };
}

/** Updates rows, and reads them past the server. */
async function faultsOfUpdates(): Promise<readonly (string | null)[]> {
  const worlds = worldsOf((await ask(load.url, UPDATES)).body);
  const ids = worlds.map(({ id }) => id).join(",");
  const { stdout } = await runScript(new URL("database/read.js", PEERS), [load.databaseUrl ?? "", ids]);
  const fault = faultOfStored(worlds, JSON.parse(stdout) as readonly World[]);
  return [fault === null ? null : `${UPDATES.name}: ${fault}`];
}
