import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "@jest/globals";
import { App } from "tsgi";
import { prometheus } from "../src/index.js";
import { serve } from "tsgi/node";
import { KeptLog } from "../../test/support/kept-log.js";
import { IS_SLOW } from "../../test/support/on-demand.js";
import { isInstalled } from "../../test/support/redis-server.js";

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Prometheus, which scrapes one target every second. */
async function startPrometheus(target: string) {
  const folder = mkdtempSync(path.join(tmpdir(), "prometheus-"));
  const config = path.join(folder, "prometheus.json"); // YAML has JSON in it
  const job = { job_name: "app", scrape_interval: "1s", static_configs: [{ targets: [target] }] };
  writeFileSync(config, JSON.stringify({ scrape_configs: [job] }));
  execFileSync("promtool", ["check", "config", config]);
  const listen = `127.0.0.1:${await freePort()}`;
  const args = [`--config.file=${config}`, `--storage.tsdb.path=${folder}/data`, `--web.listen-address=${listen}`];
  const child: ChildProcess = spawn("prometheus", args, { stdio: "ignore" });
  const exited = once(child, "exit");
  return {
    async query(expression: string): Promise<readonly { metric: Record<string, string>; value: [number, string] }[]> {
      const url = `http://${listen}/api/v1/query?query=${encodeURIComponent(expression)}`;
      const response = await fetch(url).catch(() => null);
      if (response?.status !== 200) return [];
      return ((await response.json()) as { data: { result: [] } }).data.result;
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const describeWithPrometheus = IS_SLOW && isInstalled("prometheus") ? describe : describe.skip;

describeWithPrometheus("prometheus (with TSGI_SLOW=1 and Prometheus installed)", () => {
  it("is scraped by Prometheus, and its own tool accepts the metrics", async () => {
    const metrics = prometheus();
    const app = new App({ logger: new KeptLog(), instrumentation: metrics });
    app.includeRouter(metrics.router());
    app.get("/items/{id}", async ({ id }) => id);
    const server = await serve(app, { port: 0, logger: new KeptLog() });
    try {
      for (const id of [1, 2, 3]) await fetch(`${server.url}/items/${id}`);
      const text = await (await fetch(`${server.url}/metrics`)).text();
      execFileSync("promtool", ["check", "metrics"], { input: text });
      await using scraper = await startPrometheus(new URL(server.url).host);
      const deadline = Date.now() + 60_000;
      let found = await scraper.query("http_requests_total");
      while (found.length === 0 && Date.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 250));
        found = await scraper.query('http_requests_total{route="/items/{id}"}');
      }
      expect(found[0]?.metric).toMatchObject({ job: "app", method: "GET", route: "/items/{id}", status: "2xx" });
      expect(found[0]?.value[1]).toBe("3");
      const [quantile] = await scraper.query("histogram_quantile(0.9, http_request_duration_seconds_bucket)");
      expect(Number(quantile?.value[1])).toBeGreaterThan(0);
    } finally {
      await server.close();
    }
  });
});
