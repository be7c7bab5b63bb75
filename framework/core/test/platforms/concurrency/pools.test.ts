import { availableParallelism } from "node:os";
import { afterAll, afterEach, describe, expect, it } from "@jest/globals";
// The built package: a worker is a separate program.
import { HTTPException } from "../../../dist/index.js";
import {
  type PoolOptions,
  ProcessPool,
  runInProcess,
  runInThread,
  ThreadPool,
} from "../../../dist/platforms/concurrency/index.js";

import { Gate, until } from "./_gate.js";

const work = new URL("./fixtures/work.js", import.meta.url);

/** The visible parts of the error of a rejected call. */
async function failure(call: Promise<unknown>): Promise<Error> {
  try {
    await call;
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
  throw new Error("The call did not fail.");
}

describe.each([
  ["processes", ProcessPool],
  ["threads", ThreadPool],
])("a pool of %s", (kind, Pool) => {
  const opened: (ProcessPool | ThreadPool)[] = [];
  const open = (options: PoolOptions = {}) => {
    const pool = new Pool({ size: 1, ...options });
    opened.push(pool);
    return pool;
  };
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((pool) => pool.close()));
  });

  /** The pool of all tests whose worker survives. */
  const shared = new Pool({ size: 1 });
  afterAll(() => shared.close());

  it("calls an exported function in another place, even one that returns a promise", async () => {
    await expect(shared.run(work, "double", 21)).resolves.toBe(42);
    await expect(shared.run(work.href, "later", "text")).resolves.toBe("text");
    const pid = await shared.run(work.pathname, "pid");
    expect(pid === process.pid).toBe(kind === "threads");
  });

  it("accepts arguments and results by structured clone", async () => {
    const value = { date: new Date(5), big: 5n, map: new Map([[1, new Set(["a"])]]), bytes: new Uint8Array([1, 2]) };
    const result = (await shared.run(work, "echo", value)) as typeof value;
    expect(result.date.getTime()).toBe(5);
    expect(result.big).toBe(5n);
    expect([...(result.map.get(1) ?? [])]).toEqual(["a"]);
    expect([...result.bytes]).toEqual([1, 2]);
  });

  it.each([
    ["throwError", { name: "RangeError", message: "out of range" }],
    ["rejects", { name: "RangeError", message: "out of range" }],
    ["throwText", { name: "Error", message: "Thrown: text" }],
    ["throwNothing", { name: "Error", message: "Thrown: undefined" }],
    ["throwUnreadable", { message: "An error that cannot be read was thrown." }],
    ["throwUnclonableDetail", { message: expect.stringContaining("could not be cloned") }],
    ["giveFunction", { name: "LoopError", message: expect.stringContaining("result.helper") }],
    ["giveSymbol", { name: "TypeError", message: "result.key is a symbol, which cannot be cloned." }],
    ["giveSocket", { name: "LoopError", message: expect.stringContaining("result.connection.socket") }],
    ["giveProxy", { message: expect.stringContaining("could not be cloned") }],
    [
      "notAFunction",
      { name: "TypeError", message: expect.stringContaining('should export a function "notAFunction"') },
    ],
    ["missing", { name: "TypeError", message: expect.stringContaining("the export is undefined") }],
  ])("fails the task and keeps the worker when it meets %s", async (name, expected) => {
    const before = await shared.run(work, "echo", "first");
    expect(await failure(shared.run(work, name))).toMatchObject(expected);
    await expect(shared.run(work, "echo", before)).resolves.toBe("first");
    expect(shared.stats).toEqual({ size: 1, ready: 1, busy: 0, queued: 0, restarts: 0 });
  });

  it("passes on an error with its stack and its cause", async () => {
    const error = await failure(shared.run(work, "throwError"));
    expect(error.stack).toMatch(/throwError.*work\.js/);
    expect(error.cause).toMatchObject({ name: "Error", message: "the cause" });
  });

  it("passes on the errors that an AggregateError contains", async () => {
    const error = await failure(shared.run(work, "throwAggregate"));
    expect(error).toBeInstanceOf(AggregateError);
    expect((error as AggregateError).errors).toMatchObject([
      { name: "RangeError", message: "first", stack: expect.stringContaining("work.js") },
      { message: "second", cause: { message: "the cause" } },
    ]);
  });

  it("passes on an HTTPException completely", async () => {
    const error = await failure(shared.run(work, "throwException"));
    expect(error).toBeInstanceOf(HTTPException);
    expect(error).toMatchObject({ statusCode: 409, detail: { code: "taken" }, headers: { "X-Why": "taken" } });
  });

  it.each([
    ["a function", () => 1],
    ["a timer", { timer: setTimeout(() => {}, 0) }],
    ["a promise", [Promise.resolve()]],
  ])("rejects %s as an argument with a LoopError, without calling a worker", async (_, value) => {
    const pool = open();
    const error = await failure(pool.run(work, "echo", "first", value));
    expect(error).toMatchObject({ name: "LoopError" });
    expect(error.message).toMatch(/^Task attached to a different loop\. The argument 2/);
    expect(pool.stats).toBeNull();
  });

  it("rejects an argument that cannot be cloned, and keeps the worker", async () => {
    await expect(shared.run(work, "echo", new Proxy({}, {}))).rejects.toThrow("An argument cannot be cloned");
    await expect(shared.run(work, "echo", 1)).resolves.toBe(1);
  });

  const deaths: [what: string, fn: string, error: object][] = [["process.exit", "exit", { name: "WorkerDiedError" }]];
  if (kind === "processes") deaths.push(["a kill -9", "kill", { name: "WorkerDiedError" }]);

  it.each(deaths)("fails only the task that meets %s, and replaces the worker", async (_, fn, expected) => {
    await using gate = await Gate.make();
    const pool = open({ size: 2 });
    await pool.run(work, "echo", 1);
    const other = pool.run(work, "waitFor", gate.file());
    const failed = failure(pool.run(work, fn));
    const waiting = pool.run(work, "double", 2);
    expect(await failed).toMatchObject(expected);
    await gate.open();
    await expect(Promise.all([other, waiting])).resolves.toEqual([expect.any(Number), 4]);
    await until(() => pool.stats?.restarts === 1);
    expect(pool.stats).toMatchObject({ busy: 0, queued: 0 });
  });

  const answers = (pool: ProcessPool | ThreadPool) =>
    pool.run(work, "echo", 1).then(
      () => true,
      () => false,
    );

  /** A pool with a limit within which a new worker responds: on a busy machine, loading the module takes seconds. */
  const openLimited = async (timeoutMs = 300): Promise<ProcessPool | ThreadPool> => {
    const pool = open({ timeoutMs });
    return (await answers(pool)) ? pool : openLimited(2 * timeoutMs);
  };

  it("ends an endless loop past timeoutMs with 504, and replaces the worker", async () => {
    const pool = await openLimited();
    const restarts = pool.stats?.restarts ?? 0;
    expect(await failure(pool.run(work, "loop"))).toMatchObject({ statusCode: 504 });
    await until(() => answers(pool));
    expect(pool.stats?.restarts).toBeGreaterThan(restarts);
  });

  it("does not run a task twice", async () => {
    await using gate = await Gate.make();
    const pool = open();
    await failure(pool.run(work, "logAndExit", gate.file("log")));
    await expect(pool.run(work, "echo", 1)).resolves.toBe(1);
    await expect(gate.lines("log")).resolves.toEqual(["begun"]);
  });

  it("lets the given number of tasks wait, and rejects one more with 503 and Retry-After", async () => {
    await using gate = await Gate.make();
    const pool = open({ maxQueue: 1 });
    const running = pool.run(work, "waitFor", gate.file());
    const waiting = pool.run(work, "double", 2);
    const refused = await failure(pool.run(work, "double", 3));
    expect(refused).toMatchObject({ statusCode: 503, headers: { "Retry-After": "1" } });
    await until(() => pool.stats?.busy === 1);
    expect(pool.stats).toMatchObject({ busy: 1, queued: 1 });
    await gate.open();
    await expect(Promise.all([running, waiting])).resolves.toEqual([expect.any(Number), 4]);
  });

  it("rejects a task with 503 if it has waited longer than twice timeoutMs", async () => {
    const pool = await openLimited();
    const failed = await Promise.all([1, 2, 3, 4].map(() => failure(pool.run(work, "block"))));
    expect(failed.at(0)).toMatchObject({ statusCode: 504 });
    expect(failed.at(-1)).toMatchObject({ statusCode: 503 });
  });

  it("starts no more workers than there is work for, and no more than its size", async () => {
    await using gate = await Gate.make();
    const pool = open({ size: 2 });
    await pool.run(work, "double", 1);
    await pool.run(work, "double", 1);
    expect(pool.stats).toMatchObject({ size: 2, ready: 1 });
    const running = [1, 2, 3].map(() => pool.run(work, "waitFor", gate.file()));
    await until(() => pool.stats?.busy === 2);
    expect(pool.stats).toMatchObject({ ready: 2, busy: 2, queued: 1 });
    await gate.open();
    await Promise.all(running);
  });

  it("waits for running tasks when it closes, and accepts no other ones", async () => {
    await using gate = await Gate.make();
    const pool = open();
    const running = pool.run(work, "waitFor", gate.file());
    await until(() => pool.stats?.busy === 1);
    const closed = pool.close();
    await expect(pool.run(work, "double", 1)).rejects.toThrow("The pool is closed");
    await gate.open();
    await expect(running).resolves.toEqual(expect.any(Number));
    await closed;
    expect(pool.stats).toMatchObject({ ready: 0 });
  });

  it("has one worker per available processor by default", async () => {
    const pool = open({ size: undefined });
    await pool.run(work, "echo", 1);
    expect(pool.stats?.size).toBe(availableParallelism());
  });

  it.each([
    [{ size: 0 }, "pool: size should be a whole number from 1 on, not 0."],
    [{ size: 1.5 }, "pool: size should be a whole number from 1 on, not 1.5."],
    [{ maxQueue: -1 }, "pool: maxQueue should be a whole number from 0 on, or Infinity, not -1."],
    [{ timeoutMs: 0 }, "pool: timeoutMs should be milliseconds above 0, or Infinity, not 0."],
    [{ timeoutMs: Number.NaN }, "pool: timeoutMs should be milliseconds above 0, or Infinity, not NaN."],
  ])("rejects the options %j", (options, message) => {
    expect(() => new Pool(options)).toThrow(expect.objectContaining({ name: "ConfigurationError", message }));
  });

  it("rejects a module by a relative path with a suggested fix", async () => {
    await expect(shared.run("./work.js", "echo")).rejects.toThrow('new URL("./work.js", import.meta.url)');
  });
});

describe("a pool of processes", () => {
  it("moves a task that its worker has not started to another one if that worker is killed", async () => {
    await using pool = new ProcessPool({ size: 1 });
    const pid = await pool.run(work, "pid");
    process.kill(pid as number, "SIGKILL");
    await expect(pool.run(work, "pid")).resolves.not.toBe(pid);
    expect(pool.stats).toMatchObject({ restarts: 1 });
  });

  it("survives unexpected messages of a worker", async () => {
    await using pool = new ProcessPool({ size: 1 });
    await pool.run(new URL("./fixtures/chatty.js", import.meta.url), "chat");
    await expect(pool.run(work, "echo", 1)).resolves.toBe(1);
  });
});

describe("the program's own pools", () => {
  it("run a function in a process and in a thread", async () => {
    const pid = await runInProcess(work, "pid");
    expect(pid).not.toBe(process.pid);
    await expect(runInThread(work, "pid")).resolves.toBe(process.pid);
    await expect(runInProcess(work, "double", 4)).resolves.toBe(8);
  });
});
