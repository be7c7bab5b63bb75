/** OpenTelemetry and Prometheus on other runtimes. Slow, because the runtimes are fetched. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { installPackages } from "../support/packages.js";
import { onEach } from "./_program.js";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT = "00f067aa0ba902b7";
const PACKAGES = [
  "tsgi",
  "@tsgi/otel",
  "@tsgi/metrics",
  "@opentelemetry/api",
  "@opentelemetry/sdk-metrics",
  "@opentelemetry/sdk-trace-node",
  "prom-client",
];

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: string | null;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: number;
}

interface Measured {
  readonly name: string;
  readonly points: readonly { readonly attributes: Readonly<Record<string, unknown>>; readonly count: number }[];
}

onEach("%s", (name, command) => {
  let folder: string;
  let url: string;
  let stop: () => Promise<void>;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tsgi-observed-"));
    await installPackages(folder, PACKAGES);
    await writeFile(path.join(folder, "package.json"), '{ "type": "module" }');
    await cp(path.join(import.meta.dirname, "observed.mjs"), path.join(folder, "observed.mjs"));
    const [file = "", ...args] = command;
    const stdio = ["ignore", "pipe", "pipe"] as const;
    const child = spawn(file, [...args, path.join(folder, "observed.mjs"), "serve"], {
      cwd: folder,
      stdio: [...stdio],
    });
    let stderr = "";
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    const ended = once(child, "close");
    stop = async () => {
      child.kill("SIGTERM");
      await ended;
    };
    const said = await Promise.race([once(child.stdout, "data") as Promise<[Buffer]>, ended]);
    if (!Buffer.isBuffer(said[0])) throw new Error(`${name} ended before it listened: ${stderr}`);
    url = said[0].toString().trim();
  });

  afterAll(async () => {
    await stop();
    await rm(folder, { recursive: true });
  });

  const get = async <T>(target: string): Promise<T> => {
    const headers = { traceparent: `00-${TRACE}-${PARENT}-01` };
    return (await (await fetch(url + target, { headers })).json()) as T;
  };
  const spanOf = async (target: string): Promise<Span | undefined> =>
    (await get<Span[]>("/spans")).findLast(({ attributes }) => attributes["url.path"] === target);

  describe("@tsgi/otel", () => {
    it("continues the trace of the client, and is current in the handler after it has waited", async () => {
      const current = await get<{ traceId: string; spanId: string }>("/items/1");
      const span = await spanOf("/items/1");
      expect(span).toMatchObject({ name: "GET /items/{id}", traceId: TRACE, parent: PARENT, status: 0 });
      expect(current).toMatchObject({ traceId: TRACE, spanId: span?.spanId });
      expect(span?.attributes).toMatchObject({ "http.response.status_code": 200, "http.route": "/items/{id}" });
    });

    it("marks the span of an unexpected error, but not the span of a 404", async () => {
      await get("/items/broken");
      await get("/items/missing");
      expect(await spanOf("/items/broken")).toMatchObject({ status: 2 });
      expect(await spanOf("/items/missing")).toMatchObject({ status: 0 });
    });

    it("makes the server span current in a worker of the pool", async () => {
      const current = await get<{ traceId: string; spanId: string; isRemote?: boolean }>("/plain");
      const span = await spanOf("/plain");
      expect(current).toMatchObject({ traceId: TRACE, spanId: span?.spanId, isRemote: true });
    });

    it("measures the duration of requests by route and status", async () => {
      await get("/items/2");
      const measured = await get<Measured[]>("/measured");
      const durations = measured.find((one) => one.name === "http.server.request.duration");
      const ok = durations?.points.find(
        ({ attributes }) =>
          attributes["http.route"] === "/items/{id}" && attributes["http.response.status_code"] === 200,
      );
      expect(ok?.count).toBeGreaterThan(0);
    });
  });

  describe("@tsgi/metrics", () => {
    it("counts requests, and measures the event loop", async () => {
      await get("/items/3");
      const text = await (await fetch(`${url}/metrics`)).text();
      expect(text).toMatch(/^http_requests_total\{method="GET",route="\/items\/\{id\}",status="2xx"\} \d+$/m);
      expect(text).toMatch(/^http_request_duration_seconds_count\{/m);
      expect(text).toMatch(/^tsgi_event_loop_utilization \d/m);
    });
  });
});
