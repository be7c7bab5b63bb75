import { describe, expect, it } from "@jest/globals";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { startServer } from "../../src/http/server-process.js";
import { runWorker } from "../../src/processes.js";
import type { WorkerReport } from "../../src/report.js";

const dist = (path: string): URL => new URL(`../../dist/http/${path}`, import.meta.url);
const load = (url: string): Promise<WorkerReport> => runWorker(dist("worker.js"), [url, "50", "10"]);

describe("the load of autocannon", () => {
  it("has a rate and a latency for each route of tsgi", async () => {
    const server = await startServer(dist("servers/tsgi.js"));
    try {
      const { rows, faults } = await load(server.url);
      expect(faults).toEqual([]);
      expect(rows.map((row) => row.name)).toEqual([
        "GET /health",
        "GET /users/{id}",
        "POST /users",
        "GET /users/{id} with 1 KB of header lines",
      ]);
      expect(rows.every(({ figures }) => Object.keys(figures).join() === "perSecond,p50,p99")).toBe(true);
      expect(rows.every(({ figures }) => (figures["perSecond"] ?? 0) > 0)).toBe(true);
    } finally {
      await server.stop();
    }
  });

  it.each<[string, RequestListener]>([
    ["status", (_request, response) => response.writeHead(500).end('{"status":"ok"}')],
    ["body", (_request, response) => response.setHeader("content-type", "application/json").end("{}")],
  ])("reports a wrong %s without a rate", async (_what, listener) => {
    const { rows, faults } = await withServer(listener, load);
    expect(rows).toEqual([]);
    expect(faults).toContainEqual(expect.stringMatching(/^GET \/health: expected/));
  });

  it.each([
    ["status", 500, '{"status":"ok"}', "1 of 50"],
    ["body", 200, '{"status":"no"}', "of 50"],
  ])("reports a %s that turns wrong while it is measured", async (_what, status, body, count) => {
    let requests = 0;
    const { faults } = await withServer((request, response) => {
      const isWrong = request.url === "/health" && ++requests === 30;
      response.setHeader("content-type", "application/json");
      response.writeHead(isWrong ? status : 200).end(isWrong ? body : '{"status":"ok"}');
    }, load);
    const fault = faults.find((one) => one.startsWith("GET /health: "));
    expect(fault).toContain(`${count} responses were wrong or missing`);
  });
});

async function withServer<T>(listener: RequestListener, use: (url: string) => Promise<T>): Promise<T> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}
