/**
 * Sends the requests of a suite from this process and prints the report.
 *
 * `node dist/suite/client.js LOAD`, where LOAD is a {@link SuiteLoad} as JSON.
 *
 * @module
 */
import { accountCases, LOGIN, REFUSALS, tokenOf } from "../database/accounts.js";
import { faultOfStored, QUERY_CASES, UPDATES, type World, worldsOf } from "../database/cases.js";
import { onPrisma } from "../database/prisma.js";
import { sendMany, type Shot } from "../http/send.js";
import { MIDDLEWARE_CASES } from "../middleware/cases.js";
import { PEERS } from "../paths.js";
import { HTTPS_CASES, PAYLOAD_CASES } from "../payloads/cases.js";
import { runScript } from "../processes.js";
import { printReport, type Row } from "../report.js";
import { ask } from "./ask.js";
import { type Case, faultOfReply } from "./case.js";
import type { SuiteLoad } from "./load.js";

const databaseCases = async (): Promise<readonly Case[]> => [
  ...QUERY_CASES,
  ...accountCases(tokenOf((await ask(load.url, LOGIN)).body)),
];

const SUITES: Readonly<Record<SuiteLoad["suite"], () => Promise<readonly Case[]>>> = {
  database: databaseCases,
  prisma: async () => (await databaseCases()).map(onPrisma),
  middleware: async () => MIDDLEWARE_CASES,
  payloads: async () => PAYLOAD_CASES,
  https: async () => HTTPS_CASES,
};

const load = JSON.parse(process.argv[2] ?? "{}") as SuiteLoad;
const rows: Row[] = [];
const faults: string[] = [];

for (const one of await SUITES[load.suite]()) {
  const result = await measure(one);
  if (typeof result === "string") {
    faults.push(result);
  } else {
    rows.push(result);
  }
}
if (load.databaseUrl !== undefined) {
  const fault = await faultOfUpdates(load.databaseUrl);
  if (fault !== null) faults.push(`${UPDATES.name}: ${fault}`);
  const refusals = await Promise.all(REFUSALS.map(async (one) => faultOfReply(one, await ask(load.url, one))));
  faults.push(...refusals.filter((refusal) => refusal !== null));
}
printReport({ rows, faults });

/** Checks an answer whole, warms up, and measures. Gives what is wrong where something is. */
async function measure(one: Case): Promise<Row | string> {
  const reply = await ask(load.url, one);
  const fault = faultOfReply(one, reply);
  if (fault !== null) return fault;
  const { name, method, path, headers, body, status } = one;
  const isRight = (text: string): boolean => one.check({ ...reply, body: text }) === null;
  const shot: Shot = { name, method, path, headers, body, status, expected: one.isConstant ? reply.body : isRight };
  const amountOf = (requests: number) => ({ requests: Math.ceil(requests * one.share), pipelining: 1 });
  const connections = Math.min(load.connections, one.connections ?? load.connections);
  const warm = await sendMany({ ...load, connections }, shot, amountOf(load.warmUp));
  if (typeof warm === "string") return warm;
  const figures = await sendMany({ ...load, connections }, shot, amountOf(load.requests));
  return typeof figures === "string" ? figures : { name, figures };
}

/** Updates rows, and reads them past the server. */
async function faultOfUpdates(databaseUrl: string): Promise<string | null> {
  const worlds = worldsOf((await ask(load.url, UPDATES)).body);
  const ids = worlds.map(({ id }) => id).join(",");
  const { stdout } = await runScript(new URL("database/read.js", PEERS), [databaseUrl, ids]);
  return faultOfStored(worlds, JSON.parse(stdout) as readonly World[]);
}
