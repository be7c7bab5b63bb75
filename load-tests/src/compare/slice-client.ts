/**
 * Loads a server in slices: `node dist/compare/slice-client.js URL`, with a channel. Its connections stay open from slice to
 * slice: opened for each, they would be a third of the work.
 *
 * @module
 */
import { type Example, faultOf, PROOFS, SOCKET_EXAMPLES } from "../examples.js";
import { Connection, readAnswer, toWire } from "./connection.js";
import { sendMany } from "./loops.js";
import { type SlicedRow, serveSlices } from "./slice-process.js";

const CONNECTIONS = 64;

const url = process.argv[2] ?? "";
const faults: string[] = [];
const rows: SlicedRow[] = [];
let open: { readonly name: string; readonly connections: readonly Connection[] } | null = null;

for (const example of SOCKET_EXAMPLES) rows.push(await toRow(example));
for (const proof of PROOFS) note(faultOf(proof, await readAnswer(url, toWire(url, proof))));
serveSlices({ rows, faults });

function note(fault: string | null): void {
  if (fault !== null) faults.push(fault);
}

async function toRow(example: Example): Promise<SlicedRow> {
  const request = toWire(url, example);
  const expected = await readAnswer(url, request);
  note(faultOf(example, expected));
  const { name } = example;
  return {
    name,
    async repeat(requests) {
      if (open?.name !== name) {
        open?.connections.forEach((connection) => connection.close());
        const opened = Array.from({ length: CONNECTIONS }, () => Connection.open(url, request, expected));
        open = { name, connections: await Promise.all(opened) };
      }
      await sendMany(open.connections, requests);
    },
  };
}
