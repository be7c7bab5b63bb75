/** An application whose processes exit at every start while a file exists: processes of the server, or of the pool. */
import cluster from "node:cluster";
import { existsSync } from "node:fs";
import { App } from "tsgi";
import { serve } from "tsgi/node";

const { deadly, dies, ...options } = JSON.parse(process.argv[2] ?? process.env["DYING_APP"]);
process.env["DYING_APP"] ??= JSON.stringify({ deadly, dies }); // for the pool's processes, which import this file

const isPoolWorker = process.send !== undefined && cluster.isPrimary;
const app = new App({ entry: import.meta.url, pool: { size: 2 } });
app.get("/fast", async () => ({ pid: process.pid }));
app.get("/plain", () => ({ pid: process.pid }));

const role = isPoolWorker ? "pool" : cluster.isWorker ? "server" : "primary";
if (role === dies && existsSync(deadly)) {
  process.stdout.write("died\n");
  process.exit(7);
}
const server = await serve(app, { port: 0, ...options });
if (cluster.isPrimary) process.stdout.write(`url ${server.url}\n`);
