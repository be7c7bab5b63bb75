/**
 * Prints the rows of some worlds as JSON, past every server.
 *
 * `node read.js URL ID,ID,…`
 *
 * @module
 */
import { Client } from "pg";

const [connectionString, ids = ""] = process.argv.slice(2);
const client = new Client({ connectionString });
await client.connect();
const { rows } = await client.query("SELECT id, randomnumber FROM tsgi_bench.world WHERE id = ANY($1)", [
  ids.split(",").map(Number),
]);
process.stdout.write(`${JSON.stringify(rows)}\n`);
await client.end();
