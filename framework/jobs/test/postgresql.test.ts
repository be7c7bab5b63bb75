/** Jobs in PostgreSQL. */
import { expect, it } from "@jest/globals";
import { prometheus } from "@tsgi/metrics";
import { PgBoss } from "pg-boss";
import { App, Depends, t } from "tsgi";
import { Deferred } from "tsgi/internals";
import { TestClient } from "tsgi/testing";
import { Jobs } from "../src/index.js";
import { CONTROL } from "../src/control.js";
import { createDatabase, createLog, describeWithDatabase } from "./_database.js";

const QUICK = { backoffSeconds: 0.05 };

describeWithDatabase("a job in PostgreSQL", () => {
  const database = createDatabase();

  it("is run by a worker, with its payload and its dependencies", async () => {
    const jobs = database.open();
    const order: unknown[] = [];
    async function* getMailer() {
      yield (to: number) => void order.push(`mail ${to}`);
      order.push("closed");
    }
    const options = { payload: t.Object({ userId: t.Integer() }), params: { mailer: Depends(getMailer) } };
    const welcome = jobs.define("welcome", options, async ({ payload, mailer, attempt }) => {
      mailer(payload.userId);
      order.push(attempt);
    });
    const id = await welcome.enqueue({ userId: 7 });
    await expect(jobs[CONTROL].list()).resolves.toMatchObject([
      { id, name: "welcome", state: "waiting", attempt: 1, payload: { userId: 7 } },
    ]);
    await database.work(jobs);
    await database.reached(jobs, id, "done");
    expect(order).toEqual(["mail 7", 1, "closed"]);
  });

  it("exists if its transaction commits", async () => {
    const jobs = database.open();
    const note = jobs.define("note", { payload: t.String() }, async () => {});
    const client = await database.pool.connect();
    await client.query("BEGIN");
    await note.enqueue("rolled back", { tx: client });
    await client.query("ROLLBACK");
    await client.query("BEGIN");
    const id = await note.enqueue("committed", { tx: client });
    await expect(jobs[CONTROL].list()).resolves.toEqual([]);
    await client.query("COMMIT");
    client.release();
    await expect(jobs[CONTROL].list()).resolves.toMatchObject([{ id, payload: "committed" }]);
  });

  it("is tried again, then is dead with the reason, and has its attempts again after a retry", async () => {
    const log = createLog();
    const jobs = database.open(log);
    let works = false;
    const attempts: number[] = [];
    const flaky = jobs.define("flaky", { attempts: 3, ...QUICK }, async ({ attempt }) => {
      attempts.push(attempt);
      if (!works) throw new Error("no luck\0");
    });
    const id = await flaky.enqueue();
    await database.work(jobs);
    const dead = await database.reached(jobs, id, "dead");
    expect(dead).toMatchObject({ id, attempt: 3, reason: "no luck\uFFFD" });
    const { rows } = await database.pool.query(`SELECT deletion_seconds FROM ${database.schema}.job WHERE id = $1`, [
      id,
    ]);
    expect(rows).toEqual([{ deletion_seconds: 14 * 24 * 3_600 }]);
    works = true;
    await expect(jobs[CONTROL].retry(id ?? "")).resolves.toBe("dead");
    await database.reached(jobs, id, "done");
    expect(attempts).toEqual([1, 2, 3, 1]);
    expect(log.lines).toContain("error The job flaky is dead: attempt 3 of 3 failed.");
  });

  it("has the attempts of the time when it was enqueued", async () => {
    const before = database.open();
    const id = await before.define("flaky", { attempts: 1 }, async () => {}).enqueue();
    const now = database.open();
    const flaky = now.define("flaky", { attempts: 2, ...QUICK }, async () => {
      throw new Error("no luck");
    });
    const later = await flaky.enqueue();
    await database.work(now);
    await expect(database.reached(now, id, "dead")).resolves.toMatchObject({ attempt: 1 });
    await expect(database.reached(now, later, "dead")).resolves.toMatchObject({ attempt: 2 });
  });

  it.each([
    ["text", "text"],
    [null, "null"],
    [undefined, "undefined"],
    [{ a: 1 }, "[object Object]"],
  ])("is dead with a reason if it throws %p", async (thrown, expected) => {
    const jobs = database.open();
    const odd = jobs.define("odd", { attempts: 1 }, async () => {
      throw thrown;
    });
    await database.work(jobs);
    const { reason } = await database.reached(jobs, await odd.enqueue(), "dead");
    expect(reason).toBe(expected);
  });

  it("is enqueued by another job, with a date as JSON writes it", async () => {
    const jobs = database.open();
    const seen = new Deferred<string>();
    const inner = jobs.define("inner", { payload: t.String({ format: "date-time" }) }, async ({ payload }) =>
      seen.resolve(payload),
    );
    const outer = jobs.define("outer", {}, async () => void (await inner.enqueue(new Date(0).toISOString())));
    await database.work(jobs);
    await outer.enqueue();
    await expect(seen.promise).resolves.toBe("1970-01-01T00:00:00.000Z");
  });

  it("waits for a transaction that holds its key, and is one for each key while it waits or runs", async () => {
    const jobs = database.open();
    let release = () => {};
    const running = new Promise<void>((resolve) => (release = resolve));
    const sync = jobs.define("sync", { payload: t.Integer() }, async () => running);
    const [first, second] = [await database.pool.connect(), await database.pool.connect()];
    await first.query("BEGIN");
    await second.query("BEGIN");
    const kept = await sync.enqueue(1, { key: "a", tx: first });
    const order: string[] = [];
    const waiting = sync.enqueue(2, { key: "a", tx: second }).then((id) => {
      order.push("answered");
      return id;
    });
    await expect(sync.enqueue(3, { key: "b" })).resolves.not.toBeNull();
    await expect(sync.enqueue(4)).resolves.not.toBeNull();
    order.push("committed");
    await first.query("COMMIT");
    await expect(waiting).resolves.toBeNull();
    expect(order).toEqual(["committed", "answered"]);
    await second.query("COMMIT");
    first.release();
    second.release();
    await database.work(jobs);
    await database.reached(jobs, kept, "running");
    await expect(sync.enqueue(5, { key: "a" })).resolves.toBeNull();
    release();
    await database.reached(jobs, kept, "done");
    await expect(sync.enqueue(6, { key: "a" })).resolves.not.toBeNull();
  });

  it("runs in the order of priority, and not before its delay", async () => {
    const jobs = database.open();
    const order: string[] = [];
    const job = jobs.define("job", { payload: t.String(), concurrency: 1 }, async ({ payload }) => {
      order.push(payload);
    });
    await job.enqueue("first");
    await job.enqueue("high", { priority: 5 });
    const last = await job.enqueue("delayed", { delaySeconds: 1.2, priority: 9 });
    await expect(jobs[CONTROL].show(last ?? "")).resolves.toMatchObject({ state: "delayed" });
    await database.work(jobs);
    await database.reached(jobs, last, "done");
    expect(order).toEqual(["high", "first", "delayed"]);
  });

  it("fails when its time is up, even if its handler ignores the signal", async () => {
    const jobs = database.open();
    const reasons: string[] = [];
    let release = () => {};
    const never = new Promise<void>((resolve) => (release = resolve));
    const options = { params: { signal: AbortSignal }, timeoutSeconds: 0.1, attempts: 1 };
    const stuck = jobs.define("stuck", options, async ({ signal }) => {
      signal.addEventListener("abort", () => reasons.push((signal.reason as Error).name));
      await never;
    });
    const id = await stuck.enqueue();
    await database.work(jobs);
    const { reason } = await database.reached(jobs, id, "dead");
    expect(reason).toBe("The job stuck took longer than 0.1 s");
    expect(reasons).toEqual(["TimeoutError"]);
    release();
  });

  it("is dead immediately if its payload no longer matches, with the reason", async () => {
    const before = database.open();
    const id = await before
      .define("mail", { payload: t.Object({ to: t.String() }) }, async () => {})
      .enqueue({ to: "a" });
    const now = database.open();
    now.define("mail", { payload: t.Object({ address: t.String() }) }, async () => {});
    await database.work(now);
    const dead = await database.reached(now, id, "dead");
    expect(dead).toMatchObject({ attempt: 1, reason: expect.stringMatching(/^The payload of the job mail .*address/) });
    const { rows } = await database.pool.query<{ seconds: number }>(
      `SELECT deletion_seconds AS seconds FROM ${database.schema}.job WHERE id = $1`,
      [id],
    );
    expect(rows).toEqual([{ seconds: 14 * 24 * 3_600 }]);
  });

  it.each([["null"], ['"text"'], ['{"failures":"x","trace":5}']])(
    "is dead immediately if another program has written %s",
    async (data) => {
      const jobs = database.open();
      const job = jobs.define("mail", { payload: t.Object({ to: t.String() }) }, async () => {});
      const [foreign, own] = [await job.enqueue({ to: "a" }), await job.enqueue({ to: "b" })];
      const update = `UPDATE ${database.schema}.job SET data = $1::jsonb WHERE id = $2`;
      await database.pool.query(update, [data, foreign]);
      await database.work(jobs);
      await database.reached(jobs, own, "done");
      const { reason } = await database.reached(jobs, foreign, "dead");
      expect(reason).toMatch(/^The payload of the job mail does not fit/);
    },
  );

  it("is not retried while another job with its key waits", async () => {
    const jobs = database.open();
    const fail = jobs.define("fail", { attempts: 1 }, async () => {
      throw new Error("no");
    });
    const dead = await fail.enqueue(undefined, { key: "a" });
    const worker = await database.work(jobs);
    await database.reached(jobs, dead, "dead");
    await worker.stop();
    await fail.enqueue(undefined, { key: "a" });
    await expect(jobs[CONTROL].retry(dead ?? "")).rejects.toThrow("Another job fail with the same key is waiting");
    await expect(jobs[CONTROL].show(dead ?? "")).resolves.toMatchObject({ state: "dead" });
  });

  it("is cancelled before it runs, and aborted while it does", async () => {
    const jobs = database.open();
    const aborted: string[] = [];
    const options = { params: { signal: AbortSignal } };
    const slow = jobs.define("slow", options, async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      aborted.push((signal.reason as Error).message);
    });
    const waiting = await slow.enqueue(undefined, { delaySeconds: 60 });
    await expect(jobs[CONTROL].cancel(waiting ?? "")).resolves.toBe("delayed");
    await expect(jobs[CONTROL].show(waiting ?? "")).resolves.toMatchObject({ state: "cancelled" });
    const running = await slow.enqueue();
    const worker = await database.work(jobs);
    await database.reached(jobs, running, "running");
    await expect(jobs[CONTROL].cancel(running ?? "")).resolves.toBe("running");
    while (aborted.length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(aborted).toEqual(["The job was cancelled, or given to another worker"]);
    await worker.stop();
    await expect(jobs[CONTROL].show(running ?? "")).resolves.toMatchObject({ state: "cancelled" });
    await expect(jobs[CONTROL].show("nothing")).resolves.toBeNull();
  });
});

describeWithDatabase("a worker", () => {
  const database = createDatabase();

  it("waits for jobs that run, and returns those that run for too long to the queue without using an attempt", async () => {
    const jobs = database.open();
    const log: string[] = [];
    let release = () => {};
    const quick = jobs.define("quick", {}, async () => {
      await new Promise<void>((resolve) => (release = resolve));
      log.push("quick ended");
    });
    async function* getMarker() {
      try {
        yield null;
      } finally {
        log.push("cleaned up");
      }
    }
    const params = { signal: AbortSignal, marker: Depends(getMarker) };
    const slow = jobs.define("slow", { params, attempts: 1 }, async ({ signal, attempt }) => {
      await new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
      log.push(`not reached ${attempt}`);
    });
    const ids = [await quick.enqueue(), await slow.enqueue()];
    const worker = await database.work(jobs);
    for (const id of ids) await database.reached(jobs, id, "running");
    const stopped = worker.stop({ timeoutMs: 300 });
    const late = await quick.enqueue();
    release();
    await stopped;
    expect(log).toEqual(["quick ended", "cleaned up"]);
    await expect(jobs[CONTROL].show(ids[0] ?? "")).resolves.toMatchObject({ state: "done" });
    await expect(jobs[CONTROL].show(ids[1] ?? "")).resolves.toMatchObject({ state: "waiting", attempt: 1 });
    await expect(jobs[CONTROL].show(late ?? "")).resolves.toMatchObject({ state: "waiting" });
  });

  it("runs the requested jobs, and at most the given number at a time", async () => {
    const jobs = database.open();
    let running = 0;
    let most = 0;
    const handler = async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running--;
    };
    const a = jobs.define("a", { concurrency: 10 }, handler);
    const b = jobs.define("b", { concurrency: 10 }, handler);
    const c = jobs.define("c", {}, handler);
    const ids: (string | null)[] = [];
    for (let index = 0; index < 10; index++) ids.push(await a.enqueue(), await b.enqueue());
    const other = await c.enqueue();
    await database.work(jobs, { queues: ["a", "b"], concurrency: 3 });
    for (const id of ids) await database.reached(jobs, id, "done");
    expect(most).toBe(3);
    await expect(jobs[CONTROL].show(other ?? "")).resolves.toMatchObject({ state: "waiting" });
    await expect(database.open().work({ queues: ["x"] })).rejects.toMatchObject({ code: "TSGI_UNKNOWN_QUEUE" });
  });

  it('starts and cleans up the dependencies of scope "app" once for each worker', async () => {
    const jobs = database.open();
    const order: string[] = [];
    async function* openPool() {
      order.push("opened");
      yield "pool";
      order.push("closed");
    }
    const params = { pool: Depends(openPool, { scope: "app" }) };
    const job = jobs.define("job", { params }, async ({ pool }) => void order.push(pool));
    const worker = await database.work(jobs);
    for (const id of [await job.enqueue(), await job.enqueue()]) await database.reached(jobs, id, "done");
    const other = await database.work(jobs);
    await worker.stop();
    await database.reached(jobs, await job.enqueue(), "done");
    await other.stop();
    expect(order).toEqual(["opened", "pool", "pool", "opened", "closed", "pool", "closed"]);
  });

  it("stores the schedules that the program declares, and removes the others", async () => {
    const before = database.open();
    const old = before.define("report", {}, async () => {});
    before.schedule("old", "0 3 * * *", old, undefined);
    before.schedule("kept", "0 3 * * *", old, undefined);
    await (await database.work(before)).stop();
    const now = database.open();
    const report = now.define("report", {}, async () => {});
    now.schedule("kept", "0 4 * * *", report, undefined, { timezone: "Europe/Berlin" });
    await (await database.work(now)).stop();
    const { rows } = await database.pool.query(`SELECT key, cron, timezone FROM ${database.schema}.schedule`);
    expect(rows).toEqual([{ key: "kept", cron: "0 4 * * *", timezone: "Europe/Berlin" }]);
    const wrong = database.open();
    wrong.schedule(
      "wrong",
      "0 25 * * *",
      wrong.define("report", {}, async () => {}),
      undefined,
    );
    await expect(wrong.work()).rejects.toMatchObject({ code: "TSGI_INVALID_SCHEDULE" });
  });

  it("leaves out an occurrence that is more than a minute late", async () => {
    const log = createLog();
    const jobs = database.open(log);
    const report = jobs.define("report", {}, async () => {});
    const schedule = { name: "leap-day", cron: "0 0 29 2 *", timezone: "UTC", job: "report" };
    jobs.schedule(schedule.name, schedule.cron, report, undefined);
    await database.work(jobs);
    const boss = new PgBoss({ connectionString: database.url, schema: database.schema, supervise: false });
    await boss.start();
    await boss.send("tsgi.occurrences", { ...schedule, envelope: {} });
    while (!log.lines.some((line) => line.includes("leap-day is more than a minute late"))) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await boss.stop({ graceful: false });
    await expect(jobs[CONTROL].list()).resolves.toEqual([]);
  });

  it("survives the loss of its connections, and does not repeat jobs that were done meanwhile", async () => {
    const jobs = database.open();
    const runs: number[] = [];
    const job = jobs.define("job", { payload: t.Integer(), concurrency: 10 }, async ({ payload }) => {
      await new Promise((resolve) => setTimeout(resolve, 30));
      runs.push(payload);
    });
    const ids = await Promise.all(Array.from({ length: 30 }, (_, index) => job.enqueue(index)));
    await database.work(jobs);
    await database.reached(jobs, ids[0] ?? "", "running", "done");
    const kill =
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'tsgi-jobs' AND query LIKE $1";
    for (let round = 0; round < 3; round++) {
      await database.pool.query(kill, [`%${database.schema}%`]);
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    for (const id of ids) await database.reached(jobs, id, "done");
    expect(new Set(runs).size).toBe(30);
  });
});

describeWithDatabase("Jobs with a database", () => {
  const database = createDatabase();

  it("counts the jobs that wait", async () => {
    const jobs = database.open();
    const metrics = prometheus();
    const app = new App({ instrumentation: [metrics, jobs.metrics], lifespan: jobs.lifespan });
    app.includeRouter(metrics.router());
    const job = jobs.define("job", {}, async () => {});
    await using client = await TestClient.open(app);
    await job.enqueue();
    const { text } = await client.get("/metrics");
    expect(text).toContain('tsgi_jobs_waiting{name="job"} 1');
    expect(text).toContain('tsgi_jobs_enqueued_total{name="job"} 1');
  });

  it("counts the runs of a worker that an App starts and serves", async () => {
    const jobs = database.open();
    const note = jobs.define("note", {}, async () => {});
    const metrics = prometheus();
    const app = new App({
      instrumentation: [metrics, jobs.metrics],
      logger: createLog(),
      lifespan: async function* () {
        const worker = await jobs.work();
        yield;
        await worker.stop();
      },
    });
    app.includeRouter(metrics.router());
    await using client = await TestClient.open(app);
    await database.reached(jobs, await note.enqueue(), "done");
    const { text } = await client.get("/metrics");
    expect(text).toContain('tsgi_jobs_finished_total{name="note",outcome="done"} 1');
  });

  it("finishes the statements of jobs that are being enqueued when it closes", async () => {
    const jobs = database.open();
    const note = jobs.define("note", {}, async () => {});
    const enqueued = Promise.all(Array.from({ length: 50 }, () => note.enqueue()));
    await new Promise(setImmediate);
    await jobs.close();
    expect(new Set(await enqueued).size).toBe(50);
  });

  it("responds with 503 if the database is unavailable", async () => {
    const jobs = new Jobs({ url: "postgresql://127.0.0.1:1/test", logger: createLog() });
    const job = jobs.define("job", {}, async () => {});
    await expect(job.enqueue()).rejects.toMatchObject({ statusCode: 503, headers: { "Retry-After": "1" } });
    const app = new App({ lifespan: jobs.lifespan, logger: createLog() });
    await expect(TestClient.open(app)).rejects.toThrow("PostgreSQL, host 127.0.0.1, port 1");
    await expect(jobs.work()).rejects.toMatchObject({ name: "ConnectError" });
  });

  it("rejects values that are not a transaction", async () => {
    const jobs = database.open();
    const job = jobs.define("job", {}, async () => {});
    const kysely = { executeQuery: () => {}, isTransaction: false };
    const prisma = { $queryRawUnsafe: () => {}, $connect: () => {} };
    for (const tx of [database.pool, {}, { query: 1 }, kysely, prisma]) {
      await expect(job.enqueue(undefined, { tx })).rejects.toMatchObject({ code: "TSGI_JOBS_NOT_A_TRANSACTION" });
    }
  });
});
