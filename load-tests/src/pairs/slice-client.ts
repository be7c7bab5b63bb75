/**
 * Loads a server in slices: `node dist/pairs/slice-client.js OPTIONS`, with a channel. Its connections stay open from slice
 * to slice: opened for each, they would be a third of the work.
 *
 * @module
 */
import { DATABASE_CASES, faultOfStored, UPDATES, type World, worldsOf } from "../database/cases.js";
import { PROOFS, SOCKET_EXAMPLES } from "../examples.js";
import { ask, type Case, toCase } from "../http/case.js";
import { PEERS } from "../paths.js";
import { runScript } from "../processes.js";
import { Connection, readAnswer, toWire } from "./connection.js";
import { sendMany } from "./loops.js";
import { type SlicedRow, serveSlices } from "./slice-process.js";

/** The work of a client. */
export interface ClientOptions {
  readonly url: string;
  /** Connections that are open at the same time. */
  readonly connections: number;
  /** The database of the server, if its routes are those with a database. */
  readonly databaseUrl: string | null;
}

const { url, connections: count, databaseUrl } = JSON.parse(process.argv[2] ?? "") as ClientOptions;
const [cases, proofs] = databaseUrl === null ? [SOCKET_EXAMPLES.map(toCase), PROOFS.map(toCase)] : [DATABASE_CASES, []];
const faults: string[] = [];
for (const one of [...cases, ...proofs]) note(one.check(await ask(url, one)));
if (databaseUrl !== null) note(await faultOfUpdates(databaseUrl));

let open: { readonly name: string; connections: readonly Connection[] } | null = null;

serveSlices({ rows: cases.map(toRow), faults });

function note(fault: string | null): void {
  if (fault !== null) faults.push(fault);
}

function toRow(one: Case): SlicedRow {
  const { name } = one;
  return {
    name,
    async repeat(requests) {
      const fresh = open?.name === name ? open.connections.filter(({ isFresh }) => isFresh) : [];
      for (const connection of open?.connections ?? []) if (!fresh.includes(connection)) connection.close();
      const expected = one.isConstant && fresh.length < count ? await readAnswer(url, toWire(url, one)) : null;
      const opened = Array.from({ length: count - fresh.length }, () => Connection.open(url, one, expected));
      open = { name, connections: [...fresh, ...(await Promise.all(opened))] };
      if (requests > 0) await sendMany(open.connections, requests);
    },
  };
}

/** Updates rows, and reads them past the server. */
async function faultOfUpdates(database: string): Promise<string | null> {
  const worlds = worldsOf((await ask(url, UPDATES)).body);
  const ids = worlds.map(({ id }) => id).join(",");
  const { stdout } = await runScript(new URL("database/read.js", PEERS), [database, ids]);
  const fault = faultOfStored(worlds, JSON.parse(stdout) as readonly World[]);
  return fault === null ? null : `${UPDATES.name}: ${fault}`;
}
