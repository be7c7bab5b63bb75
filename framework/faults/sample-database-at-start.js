import { demand } from "./lib/outcome.js";
import { startPostgreSQL, startSample } from "./lib/sample.js";

export const fault = "the sample application: PostgreSQL stopped, or hung, when it starts";
export const pass = "exit 1 within 5 s with one line and no password in it; starts once PostgreSQL is there";

export async function run() {
  const cluster = await startPostgreSQL();
  const url = new URL(cluster.url);
  url.password = "a-secret";
  const env = { DATABASE_URL: url.href };
  try {
    const figures = [];
    for (const { name, breakIt, mendIt } of [
      { name: "stopped", breakIt: () => cluster.stop(), mendIt: () => cluster.start() },
      { name: "hung", breakIt: () => cluster.freeze(), mendIt: () => cluster.thaw() },
    ]) {
      await breakIt();
      const startedAt = performance.now();
      const server = await startSample(env).catch((error) => error.server);
      const { status } = await server.exited;
      const ms = performance.now() - startedAt;
      await mendIt();
      figures.push(`${name}: exit ${status} after ${(ms / 1000).toFixed(1)} s`);
      const isOneLine = /^[^\n]+\n$/.test(server.stderr) && !server.stderr.includes("a-secret");
      demand(status === 1 && ms < 5000 && isOneLine && server.stdout === "", `${figures.join(", ")}; ${server.stderr}`);
    }
    const server = await startSample(env);
    const { status } = await fetch(`${server.url}/ready`);
    await server.stop();
    figures.push(`then ready: ${status}`);
    demand(status === 200, figures.join(", "));
    return figures.join(", ");
  } finally {
    await cluster[Symbol.asyncDispose]();
  }
}
