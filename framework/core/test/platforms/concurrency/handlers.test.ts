import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";

import { Gate, until } from "./_gate.js";
import { Program } from "./_program.js";

interface Place {
  pid: number;
  threadId: number;
}

describe.each(["process", "thread"])("non-async handlers in a %s pool", (kind) => {
  let gate: Gate;
  let program: Program;
  let url: string;
  const get = (path: string) => fetch(url + path);
  const place = async (path: string) => (await (await get(path)).json()) as Place;
  const stats = async () => ((await (await get("/loop")).json()) as { stats: Record<string, number> }).stats;
  /** Everything that is in the log once it has a text. */
  const logged = async (from: number, text: string) => {
    await until(() => program.since(from).includes(text));
    return program.since(from);
  };

  beforeAll(async () => {
    gate = await Gate.make();
    program = Program.start("server.js", [kind, gate.folder], { node: ["--max-old-space-size=64"] });
    url = await program.said(/serves (\S+)/);
  });
  afterAll(async () => {
    program.kill("SIGTERM");
    await program.ended;
    await program[Symbol.asyncDispose]();
    await gate[Symbol.asyncDispose]();
  });

  it("run outside the event loop, even those that return a promise; async, bound and excluded ones run on it", async () => {
    const loop = await place("/loop");
    expect(loop).toMatchObject({ pid: program.child.pid, threadId: 0 });
    for (const path of ["/bound", "/kept"]) {
      expect(await place(path)).toMatchObject({ pid: loop.pid, threadId: 0 });
    }
    for (const path of ["/plain", "/promise"]) {
      const { pid, threadId } = await place(path);
      expect([pid !== loop.pid, threadId !== 0]).toEqual([kind === "process", kind === "thread"]);
    }
  });

  it("start workers with the first calls, which may be more than the queue takes", async () => {
    await using second = Program.start("server.js", [kind, gate.folder]);
    const at = await second.said(/serves (\S+)/);
    const poolStats = async () => ((await (await fetch(`${at}/loop`)).json()) as { stats: object }).stats;
    expect(await poolStats()).toMatchObject({ size: 2, ready: 0, busy: 0, queued: 0 });
    const responses = await Promise.all(Array.from({ length: 8 }, () => fetch(`${at}/plain`)));
    expect(responses.map(({ status }) => status)).toEqual(Array(8).fill(200));
    await until(async () => ((await poolStats()) as { ready: number }).ready === 2);
  });

  it("respond to HEAD as they respond to GET, without the body", async () => {
    const response = await fetch(`${url}/html`, { method: "HEAD" });
    expect([response.status, response.headers.get("x-mine"), await response.text()]).toEqual([201, "yes", ""]);
  });

  it("are named at start, all that run in workers, with the reason", async () => {
    const lines = (await logged(0, "routes run in worker"))
      .split("\n")
      .filter((line) => line.includes("run in worker"));
    expect(lines).toHaveLength(1);
    const places = kind === "process" ? "processes" : "threads";
    expect(lines[0]).toMatch(new RegExp(`INFO \\d+ routes run in worker ${places}, as their handlers are not async: `));
    expect(lines[0]).toMatch(/GET \/plain\b/);
    expect(lines[0]).not.toMatch(/GET \/(?:kept|loop|bound)\b/);
  });

  it("log a warning once if they return a promise", async () => {
    await get("/promise");
    await get("/promise");
    const line = "WARN GET /promise is not async, so it runs in";
    const text = await logged(0, line);
    expect(text.split(line)).toHaveLength(2);
    expect(text).toContain("write `async`");
    expect(text).not.toContain("GET /plain is not async");
  });

  it("are named once in a warning when they average under a millisecond", async () => {
    // The first calls may be slow on a busy machine, and the average includes all.
    const isNamed = () => program.stderr.includes("WARN GET /plain takes 0.");
    for (let count = 0; count < 2000 && !isNamed(); count++) await get("/plain");
    await logged(0, "WARN GET /plain takes 0.");
    const lines = program.stderr.split("\n").filter((line) => /WARN GET \/plain takes 0\.\d+ ms on average/.test(line));
    expect(lines).toEqual([expect.stringContaining("Make the handler async")]);
  });

  it("respond with 500 if the commit of a dependency of scope function fails", async () => {
    const from = program.stderr.length;
    expect((await get("/uncommitted")).status).toBe(500);
    expect(await logged(from, "GET /uncommitted failed")).toContain("the commit failed");
  });

  it("get their arguments, and their results are checked and written, in the server", async () => {
    const body = JSON.stringify({ at: "2026-01-02T03:04:05Z", tags: ["a"] });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${url}/body`, { method: "POST", body, headers });
    expect(await answer.json()).toEqual({ isDate: true, tags: ["a"] });
    expect(await (await get("/typed")).json()).toEqual({ at: "1970-01-01T00:00:00.000Z" });
    const from = program.stderr.length;
    expect((await get("/misfit")).status).toBe(500);
    await logged(from, "ResponseValidationError");
  });

  it("return an object with toJSON as toJSON represents it", async () => {
    expect(await (await get("/money")).json()).toEqual({ price: 1.5, all: [1.5] });
  });

  it("give a Response of text or bytes back whole", async () => {
    const html = await get("/html");
    expect(html.status).toBe(201);
    expect(html.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(html.headers.getSetCookie()).toEqual(
      ["a=1; Path=/; SameSite=Lax", "b=2; Path=/; SameSite=Lax"].map((text) =>
        expect.stringContaining(text.slice(0, 3)),
      ),
    );
    expect(await html.text()).toBe("<p>é</p>");
    expect([...new Uint8Array(await (await get("/bytes")).arrayBuffer())]).toEqual([0, 255, 10]);
  });

  it("give an HTTPException back whole", async () => {
    const answer = await get("/taken");
    expect([answer.status, answer.headers.get("x-why"), await answer.json()]).toEqual([
      409,
      "taken",
      { detail: { code: "taken" } },
    ]);
  });

  it.each([
    "socket",
    "stream",
    "webStream",
    "server",
    "client",
    "function",
    "iterator",
    "timer",
    "promise",
    "state",
    "request",
  ])(
    "result in 500 if a dependency returns an object of the event loop, a %s, and log a LoopError with parameter and fix",
    async (what) => {
      const from = program.stderr.length;
      expect((await get(`/given/${what}`)).status).toBe(500);
      const log = await logged(from, "LoopError");
      expect(log).toContain(`GET /given/${what} failed: LoopError: Task attached to a different loop.`);
      expect(log).toMatch(/its parameter \\?"db\\?"/);
      expect(log).toContain("Make the handler async");
    },
  );

  it.each([
    "socket",
    "stream",
    "webStream",
    "server",
    "client",
    "function",
    "iterator",
    "timer",
    "promise",
    "state",
    "streaming",
  ])(
    "result in 500 if they return an object of their event loop, a %s, and log a LoopError with the fix",
    async (what) => {
      const from = program.stderr.length;
      expect((await get(`/returned/${what}`)).status).toBe(500);
      const log = await logged(from, "LoopError");
      expect(log).toContain(`GET /returned/${what} failed: LoopError: Task attached to a different loop.`);
      expect(log).toContain("Make the handler async");
    },
  );

  it("see no state that startup hooks set, and the log explains why", async () => {
    const from = program.stderr.length;
    expect((await get("/read/state")).status).toBe(500);
    expect(await logged(from, "LoopError")).toContain("app.state.greeting is not set in a worker");
  });

  it.each([
    ["error", "RangeError: out of range"],
    ["text", "Thrown: text"],
    ["symbol", "result.key is a symbol, which cannot be cloned"],
  ])("result in 500 for %s, and their worker survives", async (name, message) => {
    const { restarts } = await stats();
    const from = program.stderr.length;
    expect((await get(`/fault/${name}`)).status).toBe(500);
    await logged(from, message);
    expect(await stats()).toMatchObject({ restarts });
  });

  const deaths: [name: string, status: number][] = [
    ["exit", 500],
    ["memory", 500],
  ];
  if (kind === "process") deaths.push(["kill", 500]);

  it.each(deaths)(
    "fail only their own request if they meet %s, with status %i; the worker is replaced, the call not repeated",
    async (name, status) => {
      await gate.close();
      const { restarts } = (await stats()) as { restarts: number };
      const other = get(`/wait/beside-${name}`);
      await until(async () => (await stats())["busy"] === 1);
      let hasFailed = false;
      const failed = get(`/fault/${name}`).finally(() => (hasFailed = true));
      // On a busy machine it may have ended before the check.
      await until(async () => hasFailed || (await stats())["busy"] === 2);
      const waiting = get("/plain");
      expect((await failed).status).toBe(status);
      expect((await waiting).status).toBe(200);
      await gate.open();
      expect((await other).status).toBe(200);
      await until(async () => (await stats())["ready"] === 2);
      expect(await stats()).toMatchObject({ size: 2, busy: 0, queued: 0, restarts: restarts + 1 });
      await expect(gate.lines(name)).resolves.toEqual(["begun"]);
    },
  );

  it("are terminated after timeoutMs with their worker, which is replaced, and result in 504; the log contains the route", async () => {
    await using second = Program.start("server.js", [kind, gate.folder, "500"]);
    const at = await second.said(/serves (\S+)/);
    // A worker that starts or responds later than that on a busy machine causes another 503 or 504.
    const answers = () => until(async () => (await fetch(`${at}/plain`)).status === 200);
    await answers();
    expect((await fetch(`${at}/fault/loop`)).status).toBe(504);
    await second.said(/GET \/fault\/\{name\} took longer than the pool's timeoutMs of 500/);
    await answers();
    await until(async () => {
      const { stats: now } = (await (await fetch(`${at}/loop`)).json()) as { stats: Record<string, number> };
      return (now["ready"] ?? 0) >= 1 && (now["restarts"] ?? 0) >= 1;
    });
    await expect(gate.lines("loop")).resolves.toEqual(["begun"]);
  });

  it("result in 503 with Retry-After if the queue is full", async () => {
    await gate.close();
    const running = [get("/wait/first"), get("/wait/second")];
    await until(async () => (await stats())["busy"] === 2);
    const waiting = [get("/plain"), get("/plain")];
    await until(async () => (await stats())["queued"] === 2);
    const refused = await get("/plain");
    expect([refused.status, refused.headers.get("retry-after"), await refused.json()]).toEqual([
      503,
      "1",
      { detail: "Service Unavailable" },
    ]);
    await gate.open();
    const answers = await Promise.all([...running, ...waiting]);
    expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200]);
  });

  it("are removed from the queue without a start if their client disconnects; a running one counts until it ends", async () => {
    await gate.close();
    const leaving = new AbortController();
    const leave = (path: string) => fetch(url + path, { signal: leaving.signal }).catch(() => "left");
    const running = [leave("/wait/left"), get("/wait/stays")];
    await until(async () => (await stats())["busy"] === 2);
    const waiting = [leave("/wait/unbegun"), leave("/wait/unbegun")];
    await until(async () => (await stats())["queued"] === 2);
    expect((await get("/plain")).status).toBe(503);
    leaving.abort();
    await until(async () => (await stats())["queued"] === 0);
    expect(await stats()).toMatchObject({ busy: 2, queued: 0 });
    const next = get("/plain");
    await until(async () => (await stats())["queued"] === 1);
    await gate.open();
    expect((await next).status).toBe(200);
    await Promise.all([...running, ...waiting]);
    await until(async () => (await stats())["busy"] === 0);
    await expect(gate.lines("unbegun")).rejects.toThrow("ENOENT");
    await expect(gate.lines("left")).resolves.toHaveLength(1);
  });

  it("are removed from the queue after limits.handlerMs, with 504", async () => {
    await gate.close();
    const running = [get("/wait/one"), get("/wait/two")];
    await until(async () => (await stats())["busy"] === 2);
    const headers = { "content-type": "application/json" };
    const late = await fetch(`${url}/limited/late`, { method: "POST", body: "1", headers });
    expect(late.status).toBe(504);
    expect(await stats()).toMatchObject({ busy: 2, queued: 0 });
    await gate.open();
    await Promise.all(running);
    await expect(gate.lines("late")).rejects.toThrow("ENOENT");
  });

  it("are terminated with their worker if their client disconnects and the route sets endOnDisconnect", async () => {
    await gate.close();
    const { restarts } = (await stats()) as { restarts: number };
    const leaving = new AbortController();
    const left = fetch(`${url}/ended/ended`, { signal: leaving.signal }).catch(() => "left");
    await until(async () => (await gate.lines("ended").catch(() => [])).length === 1);
    leaving.abort();
    await left;
    await until(async () => (await stats())["restarts"] === restarts + 1);
    await until(async () => (await stats())["ready"] === 2);
    expect(await stats()).toMatchObject({ busy: 0, queued: 0 });
    expect((await get("/plain")).status).toBe(200);
    await gate.open();
  });

  it("are waited for when the server stops", async () => {
    await using second = Program.start("server.js", [kind, gate.folder]);
    const at = await second.said(/serves (\S+)/);
    await gate.close();
    const running = fetch(`${at}/wait/stop`);
    await until(async () => (await gate.lines("stop").catch(() => [])).length === 1);
    second.kill("SIGTERM");
    await gate.open();
    expect((await running).status).toBe(200);
    await expect(second.ended).resolves.toEqual({ code: 0, signal: null });
  });
});
