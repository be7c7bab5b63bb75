/** Two workers that respond with their process id. Prints the address in one line. */
import cluster from "node:cluster";
import { serve } from "tsgi/node";

const { url } = await serve(
  async (scope, _receive, send) => {
    if (scope.type !== "http") return;
    await send({ type: "http.response.start", status: 200, headers: [] });
    await send({ type: "http.response.body", body: new TextEncoder().encode(`pid ${process.pid}`) });
  },
  { port: 0, workers: 2 },
);
if (cluster.isPrimary) process.stdout.write(`${url}\n`);
