import { afterEach, describe, expect, it, jest } from "@jest/globals";
import { Counter, Registry } from "prom-client";
import { App, HTTPException } from "tsgi";
import { prometheus, type PrometheusOptions } from "../src/index.js";
import { KeptLog } from "../../test/support/kept-log.js";
import { call } from "../../test/support/call.js";
import { describeMatrix } from "../../test/support/matrix.js";
import { describeSocketMatrix } from "../../test/support/socket-matrix.js";
import { parseExposition, type Sample } from "./_exposition.js";

const create = (options: PrometheusOptions = {}) => {
  const metrics = prometheus(options);
  const app = new App({ logger: new KeptLog(), instrumentation: metrics });
  app.includeRouter(metrics.router());
  app.get("/items/{id}", async ({ id }) => {
    if (id === "broken") throw new Error("broken");
    if (id === "missing") throw new HTTPException(404);
    return id;
  });
  return { app, metrics };
};

const scrape = async ({ register }: { readonly register: Registry }) => parseExposition(await register.metrics());
const labelled = (samples: readonly Sample[], name: string) =>
  samples.filter((sample) => sample.name === name).map(({ labels, value }) => [labels, value]);

describeMatrix("prometheus", ({ call: callApp }) => {
  it("counts and times requests by method, pattern and class of the status", async () => {
    const { app, metrics } = create();
    for (const id of ["1", "2", "broken", "missing"]) await callApp(app, "GET", `/items/${id}`);
    await callApp(app, "POST", "/items/1");
    const samples = await scrape(metrics);
    const expected = [
      [{ method: "GET", route: "/items/{id}", status: "2xx" }, 2],
      [{ method: "GET", route: "/items/{id}", status: "5xx" }, 1],
      [{ method: "GET", route: "/items/{id}", status: "4xx" }, 1],
      [{ method: "POST", route: "none", status: "4xx" }, 1],
    ];
    expect(labelled(samples, "http_requests_total")).toEqual(expected);
    expect(labelled(samples, "http_request_duration_seconds_count")).toEqual(expected);
    const [[labels, sum] = []] = labelled(samples, "http_request_duration_seconds_sum");
    expect(labels).toEqual(expected[0]?.[0]);
    expect(sum).toBeLessThan(10);
    expect(labelled(samples, "http_requests_in_progress")).toEqual([[{}, 0]]);
  });

  it("responds to a scrape with the metrics, including running requests, with the content type of the format", async () => {
    const { app } = create();
    const { status, headers, text } = await callApp(app, "GET", "/metrics");
    expect([status, headers["content-type"]]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
    const samples = parseExposition(text);
    expect(labelled(samples, "http_requests_in_progress")).toEqual([[{}, 1]]);
    const names = new Set(samples.map(({ name }) => name));
    for (const name of ["tsgi_pool_size", "tsgi_pool_calls_queued", "tsgi_event_loop_utilization"]) {
      expect(names).toContain(name);
    }
    expect((app.openapi() as { paths: object }).paths).not.toHaveProperty("/metrics");
  });
});

describeSocketMatrix("prometheus and WebSockets", ({ connect }) => {
  it("counts the open ones, without durations", async () => {
    const { app, metrics } = create();
    app.websocket("/ws/{room}", async ({ ws }) => {
      await ws.accept();
      await ws.receive();
    });
    const peer = await connect(app, "/ws/a");
    expect(labelled(await scrape(metrics), "websockets_in_progress")).toEqual([[{}, 1]]);
    await peer.close();
    const samples = await scrape(metrics);
    expect(labelled(samples, "websockets_in_progress")).toEqual([[{}, 0]]);
    expect(labelled(samples, "http_requests_total")).toEqual([
      [{ method: "GET", route: "/ws/{room}", status: "1xx" }, 1],
    ]);
    expect(labelled(samples, "http_request_duration_seconds_count")).toEqual([]);
  });
});

describe("the series of prometheus", () => {
  it("do not grow after 10,000 random paths, methods and hosts, and contain no input", async () => {
    const { app, metrics } = create();
    app.post("/items/{id}", async () => 1);
    const random = () => Math.random().toString(36).slice(2);
    const send = (method: string, target: string) =>
      call(app, method, target, {
        headers: [
          ["host", `secret${random()}`],
          ["cookie", `secret=${random()}`],
        ],
        text: '"secret"',
      });
    for (const method of ["GET", "POST", "BREW"]) for (const path of ["/items/1", "/none"]) await send(method, path);
    const before = (await scrape(metrics)).length;
    for (let index = 0; index < 10_000; index++) {
      const method = ["GET", "POST", `M${random().toUpperCase()}`][index % 3]!;
      await send(method, `${index % 2 === 0 ? "/items" : ""}/secret${random()}?secret=${random()}`);
    }
    expect((await scrape(metrics)).length).toBe(before);
    expect(await metrics.register.metrics()).not.toContain("secret");
  });
});

describe("prometheus", () => {
  afterEach(() => void jest.restoreAllMocks());

  it("uses a given registry together with the program's metrics, and two Apps share one", async () => {
    const register = new Registry();
    new Counter({ name: "orders_total", help: "Orders.", registers: [register] }).inc(3);
    const [one, two] = [create({ register, buckets: [0.1, 1] }), create({ register })];
    await call(one.app, "GET", "/items/1");
    await call(two.app, "GET", "/items/1");
    const samples = await scrape({ register });
    expect(labelled(samples, "orders_total")).toEqual([[{}, 3]]);
    expect(labelled(samples, "http_requests_total").map(([, value]) => value)).toEqual([2]);
    expect(
      labelled(samples, "http_request_duration_seconds_bucket").map(([labels]) => (labels as { le: string }).le),
    ).toEqual(["0.1", "1", "+Inf"]);
  });

  it("shows the pool of the App", async () => {
    const { app, metrics } = create();
    jest.spyOn(app, "poolStats", "get").mockReturnValue({ size: 4, ready: 3, busy: 2, queued: 1, restarts: 5 });
    await call(app, "GET", "/items/1");
    const samples = await scrape(metrics);
    const figures = samples.filter(({ name }) => name.startsWith("tsgi_pool")).map(({ value }) => value);
    expect(figures).toEqual([4, 3, 2, 1, 5]);
  });

  it.each([
    ["127.0.0.1", 200],
    ["10.1.2.3", 200],
    ["172.31.255.255", 200],
    ["192.168.0.1", 200],
    ["::1", 200],
    ["fd00::1", 200],
    ["::ffff:10.0.0.1", 200],
    ["172.32.0.1", 404],
    ["203.0.113.7", 404],
    ["2001:db8::1", 404],
    ["unknown", 404],
    ["", 404],
  ])("with privateOnly responds to a client at %j with %i", async (address, status) => {
    expect(await scrapeStatus(address)).toBe(status);
  });

  it.each([
    ["10.0.0.1", "unknown", 404],
    ["10.0.0.1", "203.0.113.7", 404],
    ["127.0.0.1", "127.0.0.1, 203.0.113.7:4711", 404],
    ["10.0.0.1", "192.168.0.7:4711", 200],
    ["203.0.113.7", "192.168.0.7", 404],
  ])("with privateOnly responds to a proxy at %s with X-Forwarded-For: %s with %i", async (address, value, status) => {
    expect(await scrapeStatus(address, [["x-forwarded-for", value]])).toBe(status);
  });

  it("names privateOnly in the error on a platform without node:net", () => {
    const metrics = prometheus();
    using _ = jest.spyOn(process, "getBuiltinModule").mockReturnValue(undefined);
    expect(() => metrics.router("/metrics", { privateOnly: true })).toThrow(/^privateOnly needs node:net/);
  });

  it("rejects an unknown option of the router", () => {
    expect(() => prometheus().router("/metrics", { private: true } as never)).toThrow(/router\(\)/);
  });

  it("counts a request as aborted if its client disconnected before the response", async () => {
    const { app, metrics } = create();
    app.post("/wait", { params: {} }, async () => {
      const { ClientDisconnect } = await import("tsgi");
      throw new ClientDisconnect();
    });
    const scope = { type: "http", method: "POST", path: "/wait" } as const;
    await app(
      scope,
      async () => ({ type: "http.disconnect" }),
      () => {},
    );
    expect(labelled(await scrape(metrics), "http_requests_total")).toEqual([
      [{ method: "POST", route: "/wait", status: "aborted" }, 1],
    ]);
  });

  it("counts a request as aborted if its client disconnected, even if its handler responds", async () => {
    const { app, metrics } = create();
    const client = new AbortController();
    app.get("/slow", async () => client.abort());
    const kept: Promise<unknown>[] = [];
    const request = new Request("http://localhost/slow", { signal: client.signal });
    await app.fetch(request, { waitUntil: (promise) => void kept.push(promise) });
    await Promise.all(kept);
    expect(labelled(await scrape(metrics), "http_requests_total")).toEqual([
      [{ method: "GET", route: "/slow", status: "aborted" }, 1],
    ]);
    await app.fetch.close();
  });

  it.each([{ buckets: [] }, { buckets: [1, 1] }, { buckets: [0] }, { buckets: ["1"] }, { register: 1 }, { path: "/" }])(
    "rejects %j",
    (options) => {
      expect(() => prometheus(options as never)).toThrow(/prometheus\(\)/);
    },
  );
});

/** The status of a scrape of metrics for private networks. */
async function scrapeStatus(address: string, headers: readonly [string, string][] = []): Promise<number | undefined> {
  const app = new App();
  app.includeRouter(prometheus().router("/metrics", { privateOnly: true }));
  let status: number | undefined;
  const bytes = headers.map(([name, value]) => [Buffer.from(name), Buffer.from(value)] as const);
  await app(
    { type: "http", method: "GET", path: "/metrics", client: [address, 1], headers: bytes },
    async () => ({ type: "http.request" }),
    (message) => {
      if (message.type === "http.response.start") status = message.status;
    },
  );
  return status;
}
