import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { afterEach, describe, expect, it, jest } from "@jest/globals";
import { App, HTTPException, Router, type Middleware } from "../../src/index.js";
import { memoryStore, rateLimit, type RateLimitOptions } from "../../src/middleware/index.js";
import { clientNetwork } from "../../src/middleware/rate-limit.js";
import { call as callApp } from "../../../test/support/call.js";
import { KeptLog } from "../../../test/support/kept-log.js";
import { HAS_REDIS, startRedis } from "../../../test/support/redis-server.js";

afterEach(() => {
  jest.restoreAllMocks();
});

function create(options: Partial<RateLimitOptions> = {}) {
  const logger = new KeptLog();
  const app = new App({ logger, middleware: [rateLimit({ limit: 2, windowSeconds: 60, ...options })] });
  app.get("/", async () => "hello");
  app.get("/teapot", async () => {
    throw new HTTPException(418);
  });
  return { app, logger };
}

/** The call with the address of a client. */
const from =
  (host: string): Middleware =>
  (app) =>
  (scope, receive, send) =>
    app(scope.type === "http" ? { ...scope, client: [host, 1] } : scope, receive, send);

const get = async (app: App, target = "/", headers: [string, string][] = []) => {
  const { status, headers: answered, text } = await callApp(app, "GET", target, { headers });
  const { ratelimit, "ratelimit-policy": policy, "retry-after": retryAfter } = answered;
  return { status, text, ratelimit, policy, retryAfter };
};

describe("rateLimit", () => {
  it("allows the configured number of requests, and reports the remaining ones in each response", async () => {
    const { app } = create();
    const policy = '"default";q=2;w=60';
    expect(await get(app)).toMatchObject({ status: 200, ratelimit: '"default";r=1;t=60', policy });
    expect(await get(app, "/teapot")).toMatchObject({ status: 418, ratelimit: '"default";r=0;t=60', policy });
    const refused = { status: 429, ratelimit: '"default";r=0;t=60', policy, retryAfter: "60" };
    expect(await get(app)).toEqual({ ...refused, text: '{"detail":"Too Many Requests"}' });
    expect(await get(app, "/nowhere")).toMatchObject(refused);
  });

  it("does not count requests without a client address, which would share one limit, and warns once per process", async () => {
    const unknown: Middleware = (app) => (scope, receive, send) =>
      app(scope.type === "http" ? { ...scope, client: null } : scope, receive, send);
    for (const whenStoreFails of ["allow", "refuse"] as const) {
      const { app, logger } = create({ whenStoreFails });
      app.addMiddleware(unknown);
      for (let count = 0; count < 4; count++) {
        expect(await get(app)).toMatchObject({ status: 200, policy: '"default";q=2;w=60', ratelimit: undefined });
      }
      const warning = expect.stringMatching(
        /^warn rateLimit\(\) did not count a request, because it has no client address/,
      );
      expect(logger.lines).toEqual(whenStoreFails === "allow" ? [warning] : []);
    }
  });

  it("counts requests without a client address by the option key", async () => {
    const { app } = create({ limit: 1, key: ({ headers }) => headers["x-user"] ?? "" });
    app.addMiddleware(
      (inner) => (scope, receive, send) =>
        inner(scope.type === "http" ? { ...scope, client: null } : scope, receive, send),
    );
    const statuses = [];
    for (const user of ["ada", "eve", "ada"]) statuses.push((await get(app, "/", [["x-user", user]])).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  it("resets the count at the end of the window", async () => {
    const now = jest.spyOn(performance, "now").mockReturnValue(1_000);
    const { app } = create({ limit: 1 });
    expect((await get(app)).status).toBe(200);
    now.mockReturnValue(60_999);
    expect(await get(app)).toMatchObject({ status: 429, retryAfter: "1", ratelimit: '"default";r=0;t=1' });
    now.mockReturnValue(61_001);
    expect((await get(app)).status).toBe(200);
  });

  it.each<[what: string, key: RateLimitOptions["key"]]>([
    ["a text", ({ headers }) => headers["x-api-key"] ?? ""],
    ["a promise of one", async ({ headers }) => headers["x-api-key"] ?? ""],
  ])("counts for each key, which is %s", async (_, key) => {
    const { app } = create({ limit: 1, key });
    const statuses = [];
    for (const name of ["a", "b", "a"]) statuses.push((await get(app, "/", [["x-api-key", name]])).status);
    expect(statuses).toEqual([200, 200, 429]);
  });

  it("counts one IPv6 network as one client", async () => {
    const limit = rateLimit({ limit: 1, windowSeconds: 60 });
    const statuses = [];
    for (const host of ["2001:db8::1", "2001:db8:0:0:ffff::2", "2001:db8:0:1::1", "192.0.2.1", "::ffff:c000:201"]) {
      const app = new App({ middleware: [limit, from(host)] });
      app.get("/", async () => null);
      statuses.push((await get(app)).status);
    }
    expect(statuses).toEqual([200, 429, 200, 200, 429]);
  });

  it("is a middleware of routers and routes as well, each with its policy", async () => {
    const app = new App({ middleware: [rateLimit({ limit: 9, windowSeconds: 1 })] });
    const router = new Router({ middleware: [rateLimit({ name: "router", limit: 2, windowSeconds: 60 })] });
    const middleware = [rateLimit({ name: "login", limit: 1, windowSeconds: 300 })];
    router.post("/login", { middleware }, async () => null);
    router.get("/", async () => null);
    app.includeRouter(router);
    const first = await callApp(app, "POST", "/login");
    expect(first.headerLines.filter(([name]) => name.toLowerCase() === "ratelimit").map(([, value]) => value)).toEqual([
      '"login";r=0;t=300',
      '"router";r=1;t=60',
      '"default";r=8;t=1',
    ]);
    expect((await callApp(app, "POST", "/login")).status).toBe(429);
    expect((await callApp(app, "GET", "/")).status).toBe(429);
  });

  it("counts requests with the same name together in one store", async () => {
    const store = memoryStore();
    const [left, right] = [create({ store }), create({ store })];
    const { app: other } = create({ store, name: "other" });
    expect([(await get(left.app)).status, (await get(right.app)).status, (await get(left.app)).status]).toEqual([
      200, 200, 429,
    ]);
    expect((await get(other)).status).toBe(200);
  });

  it.each([
    ["allow", 200, "are allowed without being counted"],
    ["refuse", 503, "get a 503 response"],
  ] as const)(
    "can %s requests while its store is unavailable, and logs that once",
    async (whenStoreFails, status, said) => {
      let isThere = false;
      const store = memoryStore();
      const increment = store.increment.bind(store);
      jest.spyOn(store, "increment").mockImplementation(async (...args) => {
        if (!isThere) throw new Error("gone");
        return increment(...args);
      });
      const { app, logger } = create({ whenStoreFails, store });
      for (let count = 0; count < 3; count++) {
        expect(await get(app)).toMatchObject({ status, ratelimit: undefined, policy: '"default";q=2;w=60' });
      }
      expect(logger.lines).toEqual([expect.stringContaining(said)]);
      isThere = true;
      expect((await get(app)).ratelimit).toBe('"default";r=1;t=60');
      expect(logger.lines[1]).toContain("is available again");
    },
  );

  const plans: Record<string, number> = { free: 1, team: 2, none: 0, all: Infinity };
  const byPlan = ({ headers }: { headers: Readonly<Record<string, string>> }) =>
    plans[headers["x-plan"] ?? ""] as number;

  it.each<[what: string, limit: RateLimitOptions["limit"]]>([
    ["a number", byPlan],
    ["a promise of one", async (request) => byPlan(request)],
  ])("has a limit for each request, by a function that returns %s", async (_what, limit) => {
    const { app } = create({ limit, key: ({ headers }) => headers["x-plan"] ?? "" });
    const of = (plan: string) => get(app, "/", [["x-plan", plan]]);
    expect(await of("free")).toMatchObject({ status: 200, policy: '"default";q=1;w=60' });
    expect((await of("free")).status).toBe(429);
    expect(await of("team")).toMatchObject({ status: 200, ratelimit: '"default";r=1;t=60' });
    expect(await of("none")).toMatchObject({ status: 429, ratelimit: '"default";r=0;t=60', retryAfter: "60" });
    expect(await of("all")).toEqual({ status: 200, text: '"hello"' });
  });

  it.each<[limit: number, status: number]>([
    [0, 429],
    [Infinity, 200],
  ])("does not count with the limit %d, which is the same for every request", async (limit, status) => {
    const store = Object.assign(memoryStore(), { increment: () => Promise.reject(new Error("away")) });
    const { app, logger } = create({ limit, store, whenStoreFails: "refuse" });
    for (let count = 0; count < 3; count++) expect((await get(app)).status).toBe(status);
    expect(logger.lines).toEqual([]);
  });

  it.each<[what: string, limit: () => number]>([
    [
      "throws",
      () => {
        throw new Error("no plan");
      },
    ],
    [
      "throws an HTTPException",
      () => {
        throw new HTTPException(403);
      },
    ],
    ["returns a negative number", () => -1],
    ["returns a fraction", () => 1.5],
    ["returns a string", () => "3" as never],
    ["returns NaN", () => Number.NaN],
    ["returns nothing", () => undefined as never],
  ])("responds with 500 and logs the reason if the function %s", async (_what, limit) => {
    const { app, logger } = create({ limit });
    expect((await get(app)).status).toBe(500);
    expect(logger.lines).toEqual([expect.stringContaining("`limit` of rateLimit()")]);
  });

  it.each<[RateLimitOptions["headers"], Record<string, string>]>([
    ["draft", { "ratelimit-policy": '"default";q=2;w=60', ratelimit: '"default";r=1;t=60' }],
    ["legacy", { "x-ratelimit-limit": "2", "x-ratelimit-remaining": "1", "x-ratelimit-reset": "60" }],
    ["none", {}],
  ])("reports the limit in the headers of the option headers: %s", async (headers, expected) => {
    const { app } = create({ headers });
    const { headers: sent } = await callApp(app, "GET", "/");
    expect(Object.fromEntries(Object.entries(sent).filter(([name]) => name.includes("ratelimit")))).toEqual(expected);
    await callApp(app, "GET", "/");
    expect((await callApp(app, "GET", "/")).headers["retry-after"]).toBe("60");
  });

  it("ignores WebSockets and the lifespan", async () => {
    const seen: string[] = [];
    const wrapped = rateLimit({ limit: 1, windowSeconds: 1 })(async ({ type }) => void seen.push(type));
    for (const type of ["websocket", "lifespan"]) await wrapped({ type } as never, null as never, null as never);
    expect(seen).toEqual(["websocket", "lifespan"]);
  });

  it.each([
    [{ limit: 5 }, "windowSeconds"],
    [{ windowSeconds: 5 }, "limit"],
    [{ limit: -1, windowSeconds: 5 }, "limit"],
    [{ limit: 1.5, windowSeconds: 5 }, "limit"],
    [{ limit: "5", windowSeconds: 5 }, "limit"],
    [{ limit: 1, windowSeconds: 5, headers: "both" }, "headers"],
    [{ limit: 1, windowSeconds: 0.5 }, "windowSeconds"],
    [{ limit: 1, windowSeconds: 5, store: new Map() }, "store"],
    [{ limit: 1, windowSeconds: 5, name: 'a"b' }, "name"],
    [{ limit: 1, windowSeconds: 5, whenStoreFails: "pass" }, "whenStoreFails"],
  ])("rejects %j", (options, option) => {
    expect(() => rateLimit(options as never)).toThrow(new RegExp(`^rateLimit\\(\\): ${option} `));
  });
});

describe("the network of a client", () => {
  it.each([
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::FFFF:c000:0201", "192.0.2.1"],
    ["0:0:0:0:0:ffff:192.0.2.1", "192.0.2.1"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001:0DB8:0000:0000:1:2:3:4", "2001:db8:0:0::/64"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::", "2001:db8:1:2::/64"],
    ["1::2:3:4:5:6:7", "1:0:2:3::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["::", "0:0:0:0::/64"],
    ["64:ff9b::192.0.2.1", "64:ff9b:0:0::/64"],
    ["1:2:3:4:5:6:192.0.2.1", "1:2:3:4::/64"],
    ["", ""],
  ])("of %s is %s", (host, network) => {
    expect(clientNetwork(host)).toBe(network);
  });
});

/** Processes that serve with one limit in Redis. */
async function startProcesses(count: number, redis: string) {
  const program = path.join(import.meta.dirname, "fixtures/limited.js");
  const children = Array.from({ length: count }, () =>
    spawn(process.execPath, [program, redis], { stdio: ["ignore", "pipe", "pipe"] }),
  );
  const logs = children.map(({ stderr }) => {
    const kept = { text: "" };
    stderr.on("data", (chunk: Buffer) => (kept.text += String(chunk)));
    return kept;
  });
  const urls = await Promise.all(
    children.map(async ({ stdout }, index) => {
      for await (const chunk of stdout) return String(chunk).trim();
      throw new Error(logs[index]?.text);
    }),
  );
  return {
    urls,
    logs,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(
        children.map(async (child) => {
          const exited = once(child, "exit");
          child.kill("SIGKILL");
          await exited;
        }),
      );
    },
  };
}

(HAS_REDIS ? describe : describe.skip)("rateLimit in Redis, over three processes", () => {
  it("is exact under 1,000 concurrent requests, allows them while Redis is unavailable, and is exact again", async () => {
    await using redis = await startRedis();
    await using processes = await startProcesses(3, redis.path);
    const { urls, logs } = processes;
    const ask = async (url: string) => {
      const response = await fetch(url);
      await response.arrayBuffer();
      return { status: response.status, isCounted: response.headers.has("ratelimit") };
    };
    const flood = async (requests: number) => {
      const answers = await Promise.all(Array.from({ length: requests }, (_, index) => ask(urls[index % 3] as string)));
      return answers.filter(({ status }) => status === 200).length;
    };
    expect(await flood(1_000)).toBe(100);
    await redis.stop();
    expect(await flood(150)).toBe(150); // more than the limit
    await redis.start();
    // Their responses show which of them are connected again; some of those requests have been counted.
    let counted = 0;
    for (const url of urls) for (;;) if ((await ask(url)).isCounted && ++counted > 0) break;
    expect(await flood(300)).toBe(100 - counted);
    for (const { text } of logs) {
      expect(text.match(/The store of the rate limit is unavailable/g)).toHaveLength(1);
      expect(text.match(/The store of the rate limit is available again/g)).toHaveLength(1);
    }
  });
});
