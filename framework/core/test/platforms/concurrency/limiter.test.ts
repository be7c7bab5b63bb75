import { describe, expect, it, jest } from "@jest/globals";
import { ClientDisconnect, ConfigurationError } from "../../../src/index.js";
import { Limiter, type LimiterOptions, PoolFullError } from "../../../src/platforms/concurrency/index.js";

/** A task that runs until it is told to end. */
function createTask() {
  let end: (value: string) => void = () => {};
  const ended = new Promise<string>((resolve) => (end = resolve));
  let isRunning = false;
  return {
    end,
    isRunning: () => isRunning,
    run: () => {
      isRunning = true;
      return ended;
    },
  };
}

describe("a limiter", () => {
  it("runs the given number of tasks concurrently and the next when one has ended, in the order of the calls", async () => {
    const limiter = new Limiter({ maxRunning: 2, maxWaiting: 10 });
    const tasks = [createTask(), createTask(), createTask(), createTask()] as const;
    const results = tasks.map((task) => limiter.run(task.run));
    expect(tasks.map((task) => task.isRunning())).toEqual([true, true, false, false]);
    tasks[1].end("second");
    expect(await results[1]).toBe("second");
    expect(tasks.map((task) => task.isRunning())).toEqual([true, true, true, false]);
    tasks[0].end("first");
    tasks[2].end("third");
    tasks[3].end("fourth");
    expect(await Promise.all(results)).toEqual(["first", "second", "third", "fourth"]);
  });

  it("rejects immediately if its queue is full, and accepts the next when there is room again", async () => {
    const limiter = new Limiter({ maxRunning: 1, maxWaiting: 1 });
    const task = createTask();
    const running = limiter.run(task.run);
    const waiting = limiter.run(async () => "waited");
    await expect(limiter.run(async () => "refused")).rejects.toThrow(PoolFullError);
    task.end("done");
    expect(await Promise.all([running, waiting])).toEqual(["done", "waited"]);
    expect(await limiter.run(async () => "after")).toBe("after");
  });

  /** A limiter that is busy until it is told to end, and what says which tasks were run, in their order. */
  function createBusy(maxWaiting: number) {
    const limiter = new Limiter({ maxRunning: 1, maxWaiting });
    const task = createTask();
    const running = limiter.run(task.run);
    const order: string[] = [];
    const run = (name: string, signal?: AbortSignal) =>
      limiter.run(async () => order.push(name), { line: name.charAt(0), ...(signal && { signal }) });
    const end = () => (task.end("done"), running);
    return { run, end, order };
  }

  it("serves its lines in turn", async () => {
    const { run, end, order } = createBusy(10);
    const waiting = ["a1", "a2", "a3", "b1", "c1", "b2"].map((name) => run(name));
    await end();
    await Promise.all(waiting);
    expect(order).toEqual(["a1", "b1", "c1", "a2", "b2", "a3"]);
  });

  it("does not compensate a queue that starts later for missed rounds", async () => {
    const { run, end, order } = createBusy(10);
    const waiting = ["a1", "a2", "a3", "a4", "a5"].map((name) => run(name));
    const later = waiting[1]!.then(() => Promise.all([run("b1"), run("b2")])); // while a3 runs
    await end();
    await Promise.all([...waiting, later]);
    expect(order).toEqual(["a1", "a2", "a3", "b1", "a4", "b2", "a5"]);
  });

  it("rejects the last task of the longest queue if it is full", async () => {
    const { run, end, order } = createBusy(3);
    const flood = ["a1", "a2", "a3"].map((name) => run(name));
    const other = run("b1");
    await expect(flood[2]).rejects.toThrow(PoolFullError);
    await expect(run("b2")).rejects.toThrow(PoolFullError); // its line is as long as the longest
    await end();
    await Promise.all([flood[0], flood[1], other]);
    expect(order).toEqual(["a1", "b1", "a2"]);
  });

  it("does not run a task of a disconnected caller, and frees its place in the queue", async () => {
    const { run, end, order } = createBusy(2);
    const left = new AbortController();
    const leaving = run("a1", left.signal);
    const staying = run("a2");
    left.abort();
    await expect(leaving).rejects.toThrow(ClientDisconnect);
    await expect(run("a3", left.signal)).rejects.toThrow(ClientDisconnect);
    const last = run("a4");
    await end();
    await Promise.all([staying, last]);
    expect(order).toEqual(["a2", "a4"]);
  });

  it("passes the place of a failed task to the next one", async () => {
    const limiter = new Limiter({ maxRunning: 1, maxWaiting: 1 });
    const failing = limiter.run(() => Promise.reject(new Error("no")));
    const next = limiter.run(async () => "next");
    await expect(failing).rejects.toThrow("no");
    expect(await next).toBe("next");
  });

  it("listens to no signal of a task that has begun", async () => {
    const { run, end } = createBusy(2);
    const { signal } = new AbortController();
    const removed = jest.spyOn(signal, "removeEventListener");
    const waiting = run("a1", signal);
    await end();
    await waiting;
    expect(removed).toHaveBeenCalledTimes(1);
  });

  it.each([{ maxRunning: 0, maxWaiting: 1 }, { maxRunning: 1 }, { maxRunning: 1, maxWaiting: 1, lines: 2 }])(
    "rejects %j",
    (options) => {
      expect(() => new Limiter(options as LimiterOptions)).toThrow(ConfigurationError);
    },
  );
});
