import { describe, expect, it } from "@jest/globals";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { runWorker } from "../../src/processes.js";
import type { WorkerReport } from "../../src/report.js";
import { startServer } from "../../src/http/server-process.js";

const dist = (path: string): URL => new URL(`../../dist/http/${path}`, import.meta.url);
function load(url: string, pipelining: readonly number[] = [1]): Promise<WorkerReport> {
  const counts = { suite: "routes", connections: 10, pipelining, requests: 50, warmUp: 10 };
  return runWorker(dist("client.js"), [JSON.stringify({ url, serverPid: process.pid, ...counts })]);
}

describe("the load over HTTP", () => {
  it.each(["tsgi", "hand-written", "node-http"])(
    "finds no error in the server %s",
    async (name) => {
      const server = await startServer(dist(`servers/${name}.js`));
      try {
        const { rows, faults } = await load(server.url);
        expect(faults).toEqual([]);
        expect(rows.map((row) => row.name)).toEqual([
          "GET /health",
          "GET /users/{id}",
          "POST /users",
          "GET /users/{id} with 1 KB of header lines",
        ]);
        expect(rows.every(({ figures }) => (figures["perSecond"] ?? 0) > 0)).toBe(true);
      } finally {
        await server.stop();
      }
    },
    30_000,
  );

  it.each<[string, RequestListener]>([
    ["status", (_request, response) => response.writeHead(500).end('{"status":"ok"}')],
    ["body", (_request, response) => response.setHeader("content-type", "application/json").end("{}")],
  ])(
    "reports a wrong %s without a rate",
    async (_what, listener) => {
      const { rows, faults } = await withServer(listener, load);
      expect(rows).toEqual([]);
      expect(faults[0]).toMatch(/^GET \/health: expected/);
    },
    30_000,
  );

  it("pipelines more requests on a connection than the connection's share", async () => {
    const server = await startServer(dist("servers/tsgi.js"));
    try {
      const { rows, faults } = await load(server.url, [10]);
      expect(faults).toEqual([]);
      expect(rows.map((row) => row.name)).toEqual([
        "GET /health, 10 pipelined",
        "GET /users/{id}, 10 pipelined",
        "POST /users, 10 pipelined",
      ]);
    } finally {
      await server.stop();
    }
  }, 30_000);

  it("reports a body that turns wrong while it is measured", async () => {
    let requests = 0;
    const listener: RequestListener = (_request, response) => {
      requests++;
      response
        .setHeader("content-type", "application/json")
        .end(requests === 30 ? '{"status":"no"}' : '{"status":"ok"}');
    };
    const { faults } = await withServer(listener, load);
    expect(faults[0]).toBe("GET /health: 1 of 50 responses over HTTP were wrong or missing");
  }, 30_000);
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
