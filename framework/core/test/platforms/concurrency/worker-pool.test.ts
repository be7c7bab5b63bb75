import { afterEach, beforeEach, describe, expect, it, jest } from "@jest/globals";

import { EntryError } from "../../../src/platforms/concurrency/errors.js";
import type { Order, WorkerEvents } from "../../../src/platforms/concurrency/protocol.js";
import { type PoolEntry, WorkerPool } from "../../../src/platforms/concurrency/worker-pool.js";

/** A worker that follows the instructions of the test. */
class StandIn {
  readonly orders: Order[] = [];
  readonly events: WorkerEvents;
  isKilled = false;

  constructor(events: WorkerEvents) {
    this.events = events;
  }

  send(order: Order): void {
    this.orders.push(order);
  }

  kill(): void {
    if (this.isKilled) return;
    this.isKilled = true;
    this.events.gone("by SIGKILL");
  }

  /** A real worker ends later, too. */
  stop(): void {
    void Promise.resolve().then(() => this.kill());
  }
}

/** The message of the error that a call fails with. */
async function failure(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => "It did not fail.",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

const entry: PoolEntry = {
  module: { url: "file:///app.js", isNamed: true, main: null },
  find: (tables) => (tables.length > 0 ? 0 : "makes no App"),
  explain: (problem) => new EntryError(`The module ${problem}.`),
};

/** These hold what takes a worker of flesh and blood too long to show, on a clock of the test's own. */
describe("a pool whose workers are slow to start", () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  function open(size = 1) {
    const workers: StandIn[] = [];
    const spawn = (events: WorkerEvents) => {
      const worker = new StandIn(events);
      workers.push(worker);
      return worker;
    };
    const deaths: string[] = [];
    const onDeath = (message: string) => void deaths.push(message);
    const settings = { spawn, size, maxQueue: 9, timeoutMs: Infinity, entry, onDeath };
    return { pool: new WorkerPool(settings), workers, deaths };
  }

  it("allows ten seconds for an import, and then reports one clear error", async () => {
    const { pool, workers } = open();
    const filled = failure(pool.fill());
    const ran = failure(pool.run({ type: "route", route: "GET /" }, [{}]));
    await jest.advanceTimersByTimeAsync(9999);
    expect(workers[0]?.isKilled).toBe(false);
    await jest.advanceTimersByTimeAsync(2);
    const message = "The module has not finished importing in 10 seconds.";
    expect(await Promise.all([filled, ran])).toEqual([message, message]);
    expect(workers[0]?.isKilled).toBe(true);
  });

  it("waits for an App while the module is at work, and no longer", async () => {
    const { pool, workers } = open();
    const filled = pool.fill();
    workers[0]?.events.report({ type: "tables", tables: [], isFinal: false });
    await jest.advanceTimersByTimeAsync(100);
    workers[0]?.events.report({ type: "tables", tables: [{ title: "", routes: [] }], isFinal: false });
    await expect(filled).resolves.toBeUndefined();
    expect(workers[0]?.orders.map(({ type }) => type)).toEqual(["start", "use"]);
    const second = open();
    const failed = failure(second.pool.fill());
    second.workers[0]?.events.report({ type: "tables", tables: [], isFinal: true });
    expect(await failed).toBe("The module makes no App.");
  });

  it("starts the others when the first is up, and one at a time after a failure", async () => {
    const { pool, workers } = open(3);
    const filled = pool.fill();
    expect(workers).toHaveLength(1);
    workers[0]?.events.report({ type: "ready" });
    await filled;
    expect(workers).toHaveLength(3);
    workers[1]?.kill();
    workers[2]?.kill();
    expect(workers).toHaveLength(3);
    await jest.advanceTimersByTimeAsync(200);
    expect(workers).toHaveLength(4);
    await jest.advanceTimersByTimeAsync(2000);
    expect(workers).toHaveLength(4);
    workers[3]?.events.report({ type: "ready" });
    expect(workers).toHaveLength(5);
    expect(pool.stats).toEqual({ size: 3, ready: 2, busy: 0, queued: 0, restarts: 2 });
  });

  it("is full immediately if a task has started all its workers before", async () => {
    const { pool, workers } = open();
    const ran = pool.run({ type: "route", route: "GET /" }, [{}]);
    workers[0]?.events.report({ type: "ready" });
    await expect(pool.fill()).resolves.toBeUndefined();
    expect(workers).toHaveLength(1);
    const order = workers[0]?.orders.at(-1) as Order & { type: "run" };
    workers[0]?.events.report({ type: "done", id: order.id, value: 1, elapsedMs: 1 });
    await expect(ran).resolves.toEqual({ value: 1, elapsedMs: 1 });
  });

  it("settles a task once, regardless of messages of the worker after its timeout", async () => {
    const { pool, workers } = open();
    const filled = pool.fill();
    workers[0]?.events.report({ type: "ready" });
    await filled;
    const ran = pool.run({ type: "route", route: "GET /" }, [{}]);
    const order = workers[0]?.orders.at(-1) as Order & { type: "run" };
    workers[0]?.events.report({ type: "done", id: order.id + 1, value: "another's", elapsedMs: 1 });
    workers[0]?.events.report({ type: "done", id: order.id, value: 1, elapsedMs: 1 });
    workers[0]?.events.report({ type: "done", id: order.id, value: 2, elapsedMs: 1 });
    await expect(ran).resolves.toEqual({ value: 1, elapsedMs: 1 });
  });

  it("runs a task again only if no worker has started it, and not indefinitely", async () => {
    const { pool, workers } = open();
    const filled = pool.fill();
    workers[0]?.events.report({ type: "ready" });
    await filled;
    const ran = failure(pool.run({ type: "route", route: "GET /" }, [{}]));
    for (let count = 0; count < 3; count++) {
      workers[count]?.kill();
      await jest.advanceTimersByTimeAsync(0);
      workers[count + 1]?.events.report({ type: "ready" });
    }
    expect(await ran).toContain("ended by SIGKILL");
    expect(workers.filter(({ orders }) => orders.some(({ type }) => type === "run"))).toHaveLength(3);
  });

  it("reports no death of an idle worker that it stops itself", async () => {
    const { pool, workers, deaths } = open(2);
    const filled = pool.fill();
    workers[0]?.events.report({ type: "ready" });
    await filled;
    workers[1]?.events.report({ type: "ready" });
    await pool.close();
    expect(workers.map(({ isKilled }) => isKilled)).toEqual([true, true]);
    expect([deaths, pool.stats.restarts, jest.getTimerCount()]).toEqual([[], 0, 0]);
  });

  it("reports a worker that dies while a closing pool waits for its tasks", async () => {
    const { pool, workers, deaths } = open(2);
    const filled = pool.fill();
    workers[0]?.events.report({ type: "ready" });
    await filled;
    const ran = pool.run({ type: "route", route: "GET /" }, [{}]);
    const closed = pool.close();
    workers[1]?.kill();
    expect(deaths).toEqual([expect.stringContaining("ended by SIGKILL before it was of use")]);
    const order = workers[0]?.orders.at(-1) as Order & { type: "run" };
    workers[0]?.events.report({ type: "done", id: order.id, value: 1, elapsedMs: 1 });
    await ran;
    await closed;
    expect(deaths).toHaveLength(1);
  });

  it("runs no task for a disconnected client: not immediately, not from the queue, not a second time", async () => {
    const { pool, workers } = open();
    const filled = pool.fill();
    workers[0]?.events.report({ type: "ready" });
    await filled;
    const target = { type: "route", route: "GET /" } as const;
    const gone = AbortSignal.abort();
    expect(await failure(pool.run(target, [{}], { signal: gone, endsRunning: false }))).toBe(
      "The client has disconnected",
    );
    const leaving = new AbortController();
    const owner = { signal: leaving.signal, endsRunning: false };
    const running = failure(pool.run(target, [{}], owner));
    const queued = failure(pool.run(target, [{}], owner));
    expect(pool.stats).toMatchObject({ busy: 1, queued: 1 });
    leaving.abort();
    expect(await queued).toBe("The client has disconnected");
    expect(pool.stats).toMatchObject({ busy: 1, queued: 0 });
    workers[0]?.kill();
    expect(await running).toBe("The client has disconnected");
    expect(pool.stats).toMatchObject({ queued: 0 });
  });
});
