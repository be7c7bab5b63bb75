/** Jobs that run in the process that enqueues them, on every Node.js and without a database. */
import { describe, expect, it } from "@jest/globals";
import { App, Depends, Header, type Logger, t, withParams } from "tsgi";
import { TestClient } from "tsgi/testing";
import { prometheus } from "@tsgi/metrics";
import { logContext } from "tsgi/middleware";
import { observable } from "tsgi/internals";
import { InvalidPayloadError, Jobs, type JobsOptions } from "../src/index.js";
import { assertNodeVersion } from "../src/library.js";

/** Jobs whose log is kept. */
function createJobs() {
  const lines: string[] = [];
  const keep = (level: string) => (_fields: object, message: string) => void lines.push(`${level} ${message}`);
  const logger: Logger = { debug: () => {}, info: keep("info"), warn: keep("warn"), error: keep("error") };
  return { lines, logger, jobs: new Jobs({ inline: true, logger }) };
}

const User = t.Object({ userId: t.Integer() });
const QUICK = { backoffSeconds: 0.02 };

describe("an inline job", () => {
  it("gets its payload and the number of the attempt", async () => {
    const { jobs } = createJobs();
    const seen: unknown[] = [];
    const welcome = jobs.define("welcome", { payload: User }, async ({ payload, attempt }) => {
      seen.push([payload.userId, attempt]);
    });
    await expect(welcome.enqueue({ userId: 7 })).resolves.toMatch(/^[\da-f-]{36}$/);
    expect(seen).toEqual([]);
    await jobs.drain();
    expect(seen).toEqual([[7, 1]]);
  });

  it("runs after the response of the request that enqueued it", async () => {
    const { jobs, logger } = createJobs();
    const order: string[] = [];
    const welcome = jobs.define("welcome", {}, async () => void order.push("job"));
    const app = new App({ lifespan: jobs.lifespan, logger });
    app.post("/users", async () => {
      await welcome.enqueue();
      await new Promise((resolve) => setTimeout(resolve, 20));
      order.push("handler");
      return null;
    });
    await using client = await TestClient.open(app);
    expect((await client.post("/users")).statusCode).toBe(200);
    await jobs.drain();
    expect(order).toEqual(["handler", "job"]);
  });

  it("runs after the commit of its transaction, and never if that rolls back", async () => {
    const { jobs } = createJobs();
    const seen: string[] = [];
    const note = jobs.define("note", { payload: t.String() }, async ({ payload }) => void seen.push(payload));
    const [tx, other] = [{}, {}];
    const commit = observable(tx);
    const rollBack = observable(other);
    await expect(note.enqueue("committed", { tx })).resolves.not.toBeNull();
    await jobs.drain();
    expect(seen).toEqual([]);
    commit(true);
    await note.enqueue("rolled back", { tx: other });
    rollBack(false);
    await jobs.drain();
    expect(seen).toEqual(["committed"]);
  });

  it.each([[true], [false]])(
    "waits for a transaction that holds its key, and is enqueued unless that commits (%s)",
    async (hasCommitted) => {
      const { jobs } = createJobs();
      const seen: string[] = [];
      const sync = jobs.define("sync", { payload: t.String() }, async ({ payload }) => void seen.push(payload));
      const [first, second] = [{}, {}];
      const [endFirst, endSecond] = [observable(first), observable(second)];
      await expect(sync.enqueue("first", { tx: first, key: "a" })).resolves.not.toBeNull();
      await expect(sync.enqueue("first again", { tx: first, key: "a" })).resolves.toBeNull();
      const others = [sync.enqueue("second", { tx: second, key: "a" }), sync.enqueue("third", { key: "a" })];
      endFirst(hasCommitted);
      const [inTransaction] = await Promise.all([others[0], jobs.drain()]);
      endSecond(true);
      const [, alone] = await Promise.all(others);
      await jobs.drain();
      expect([inTransaction === null, alone === null, seen]).toEqual(
        hasCommitted ? [true, true, ["first"]] : [false, true, ["second"]],
      );
    },
  );

  it("rejects a transaction whose commit cannot be observed", async () => {
    const { jobs } = createJobs();
    const note = jobs.define("note", {}, async () => {});
    await expect(note.enqueue(undefined, { tx: { query: async () => ({ rows: [] }) } })).rejects.toMatchObject({
      name: "ConfigurationError",
      code: "TSGI_JOBS_INLINE_TRANSACTION",
    });
  });

  it("is tried again until its attempts are used up, and waits between half and all of `backoffSeconds`", async () => {
    const { jobs, lines } = createJobs();
    const starts: number[] = [];
    const options = { attempts: 3, backoffSeconds: 0.2 };
    const flaky = jobs.define("flaky", options, async ({ attempt }) => {
      starts.push(performance.now());
      throw new Error(`no ${attempt}`);
    });
    await flaky.enqueue();
    await jobs.drain();
    const waits = starts.slice(1).map((start, index) => start - (starts[index] ?? 0));
    expect(waits).toHaveLength(2);
    // Timers may be late on a busy machine, and never early by more than a millisecond.
    expect(waits[0]).toBeGreaterThanOrEqual(99);
    expect(waits[1]).toBeGreaterThanOrEqual(199);
    expect(lines.filter((line) => !line.includes("inline"))).toEqual([
      "warn The job flaky failed in attempt 1 of 3. It runs again.",
      "warn The job flaky failed in attempt 2 of 3. It runs again.",
      "error The job flaky is dead: attempt 3 of 3 failed.",
    ]);
  });

  it("fails when its time is up, and its signal aborts with a TimeoutError", async () => {
    const { jobs } = createJobs();
    const reasons: unknown[] = [];
    const params = { signal: AbortSignal };
    const slow = jobs.define("slow", { params, timeoutSeconds: 0.05, attempts: 2, ...QUICK }, async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      reasons.push((signal.reason as Error).name);
    });
    await slow.enqueue();
    await jobs.drain();
    expect(reasons).toEqual(["TimeoutError", "TimeoutError"]);
  });

  it("is one for each key while it waits or runs", async () => {
    const { jobs } = createJobs();
    let runs = 0;
    const sync = jobs.define("sync", { payload: t.Integer() }, async () => void runs++);
    const ids = [];
    for (let index = 0; index < 3; index++) ids.push(await sync.enqueue(index, { key: "user-1" }));
    ids.push(await sync.enqueue(3, { key: "user-2" }), await sync.enqueue(4), await sync.enqueue(5));
    expect(ids.map((id) => id === null)).toEqual([false, true, true, false, false, false]);
    await jobs.drain();
    expect(runs).toBe(4);
    await expect(sync.enqueue(6, { key: "user-1" })).resolves.not.toBeNull();
    await jobs.drain();
  });

  it("runs in the order of priority, then of arrival, as many at a time as it declares", async () => {
    const { jobs } = createJobs();
    const order: string[] = [];
    let running = 0;
    let most = 0;
    const job = jobs.define("job", { payload: t.String(), concurrency: 2 }, async ({ payload }) => {
      most = Math.max(most, ++running);
      order.push(payload);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running--;
    });
    await job.enqueue("low", { priority: -1 });
    await job.enqueue("first");
    await job.enqueue("second");
    await job.enqueue("high", { priority: 10 });
    await jobs.drain();
    expect(order).toEqual(["high", "first", "second", "low"]);
    expect(most).toBe(2);
  });

  it("waits for its delay", async () => {
    const { jobs } = createJobs();
    const start = performance.now();
    let ranAt = 0;
    const later = jobs.define("later", {}, async () => void (ranAt = performance.now()));
    await later.enqueue(undefined, { delaySeconds: 0.05 });
    await jobs.drain();
    expect(ranAt - start).toBeGreaterThanOrEqual(49);
  });

  it("reports once that it is lost with the process", async () => {
    const { jobs, lines } = createJobs();
    const job = jobs.define("job", {}, async () => {});
    const client = await TestClient.open(new App({ lifespan: jobs.lifespan, docsUrl: null, redocUrl: null }));
    await job.enqueue();
    await job.enqueue();
    await jobs.drain();
    expect(lines).toEqual(["warn Jobs run inline, in this process: they are lost when it ends."]);
    await client.close();
  });

  it("runs before the application has stopped, unless it is delayed", async () => {
    const { jobs, lines, logger } = createJobs();
    const seen: string[] = [];
    const job = jobs.define("job", { payload: t.String() }, async ({ payload }) => void seen.push(payload));
    const client = await TestClient.open(new App({ lifespan: jobs.lifespan, docsUrl: null, redocUrl: null, logger }));
    await job.enqueue("now");
    await job.enqueue("later", { delaySeconds: 60 });
    await client.close();
    expect(seen).toEqual(["now"]);
    expect(lines).toContain("warn 1 delayed job lost with this process.");
  });
});

describe("the payload of a job", () => {
  it("is checked when it is enqueued", async () => {
    const { jobs } = createJobs();
    const welcome = jobs.define("welcome", { payload: User }, async () => {});
    const error: unknown = await welcome.enqueue({ userId: 1.5 }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(InvalidPayloadError);
    expect(error).toMatchObject({
      message: expect.stringMatching(/^The payload of the job welcome does not fit: userId: /),
      faults: [{ type: "int_type", loc: ["userId"] }],
    });
  });

  it.each([["a\0b"], ["half \ud800"]])("rejects text that PostgreSQL cannot store", async (text) => {
    const { jobs } = createJobs();
    const note = jobs.define("note", { payload: t.Any() }, async () => {});
    await expect(note.enqueue(text)).rejects.toBeInstanceOf(InvalidPayloadError);
    await expect(note.enqueue(String.raw`a\u0000b`)).resolves.not.toBeNull();
    await jobs.drain();
  });

  it("is what JSON makes of it", async () => {
    const { jobs } = createJobs();
    const seen: unknown[] = [];
    const at = jobs.define("at", { payload: t.Object({ day: t.Date() }) }, async ({ payload }) => {
      seen.push(payload.day);
    });
    const day = new Date("2026-11-26T03:00:00Z");
    await at.enqueue({ day });
    await jobs.drain();
    expect(seen).toEqual([day]);
    expect(seen[0]).not.toBe(day);
  });

  it("is absent without a schema", async () => {
    const { jobs } = createJobs();
    const job = jobs.define("job", {}, async ({ payload }) => expect(payload).toBeUndefined());
    await job.enqueue();
    // @ts-expect-error -- there is no payload
    await expect(job.enqueue({ userId: 1 })).rejects.toBeInstanceOf(InvalidPayloadError);
    await jobs.drain();
  });
});

describe("the dependencies of a job", () => {
  it("are cleaned up after it, and get the error of one that failed", async () => {
    const { jobs } = createJobs();
    const order: string[] = [];
    async function* getMailer() {
      order.push("open");
      try {
        yield (to: string) => void order.push(`mail to ${to}`);
      } catch (error) {
        order.push(`caught ${(error as Error).message}`);
        throw error;
      } finally {
        order.push("closed");
      }
    }
    const params = { mailer: Depends(getMailer) };
    const mail = jobs.define("mail", { payload: t.String(), params, attempts: 1 }, async ({ payload, mailer }) => {
      if (payload === "nobody") throw new Error("no address");
      mailer(payload);
    });
    await mail.enqueue("ada");
    await jobs.drain();
    await mail.enqueue("nobody");
    await jobs.drain();
    expect(order).toEqual(["open", "mail to ada", "closed", "open", "caught no address", "closed"]);
  });

  it('of scope "app" are shared with the App and its overrides, and live until its jobs have ended', async () => {
    const { jobs, logger } = createJobs();
    const order: string[] = [];
    async function* openStore() {
      yield new Map<string, string>();
      order.push("store closed");
    }
    const store = Depends(openStore, { scope: "app" });
    const getClock = async () => "real";
    const write = jobs.define("write", { params: { store, clock: Depends(getClock) } }, async (args) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      args.store.set("clock", args.clock);
      order.push("job");
    });
    const app = new App({ lifespan: jobs.lifespan, logger });
    app.dependencyOverrides.set(getClock, async () => "fake");
    app.get("/", { params: { store } }, async (args) => args.store.get("clock") ?? "none");
    app.post("/", async () => write.enqueue());
    const client = await TestClient.open(app);
    await client.post("/");
    await jobs.drain();
    expect((await client.get("/")).body).toBe("fake");
    await client.post("/");
    await client.close();
    expect(order).toEqual(["job", "job", "store closed"]);
  });

  it("no longer have the overrides of an App whose lifespan has failed", async () => {
    const { jobs } = createJobs();
    const greet = async () => "real";
    const greeted: string[] = [];
    const params = { greeting: Depends(greet) };
    const job = jobs.define("greet", { params }, async ({ greeting }) => void greeted.push(greeting));
    const app = new App({ lifespan: jobs.lifespan });
    app.dependencyOverrides.set(greet, async () => "of the App");
    const life = jobs.lifespan(app);
    await life.next();
    await expect(life.throw(new Error("failed"))).rejects.toThrow("failed");
    await job.enqueue();
    await jobs.drain();
    expect(greeted).toEqual(["real"]);
  });

  it("are replaced by the overrides of the jobs", async () => {
    const { jobs } = createJobs();
    const seen: string[] = [];
    const getName = async () => "real";
    const job = jobs.define("job", { params: { name: Depends(getName) } }, async ({ name }) => void seen.push(name));
    jobs.dependencyOverrides.set(getName, async () => "fake");
    await job.enqueue();
    await jobs.drain();
    expect(seen).toEqual(["fake"]);
  });

  it("get the signal of the job", async () => {
    const { jobs } = createJobs();
    const getSignal = withParams({ signal: AbortSignal }, async ({ signal }) => signal);
    const params = { inner: Depends(getSignal), signal: AbortSignal };
    let same = false;
    const job = jobs.define("job", { params }, async ({ inner, signal }) => void (same = inner === signal));
    await job.enqueue();
    await jobs.drain();
    expect(same).toBe(true);
  });

  it("reject what only a request has", () => {
    const { jobs } = createJobs();
    const getLanguage = withParams({ language: Header() }, async function getLanguage({ language }) {
      return language;
    });
    expect(() => jobs.define("a", { params: { language: Depends(getLanguage) } }, async () => {})).toThrow(
      'The job "a" runs without a request, so getLanguage cannot have the parameter "language".',
    );
    expect(() => jobs.define("b", { params: { language: Header() } }, async () => {})).toThrow(
      'The job "b" runs without a request, so b cannot have the parameter "language".',
    );
  });
});

describe("the observation of jobs", () => {
  it("counts them for Prometheus", async () => {
    const { jobs, logger } = createJobs();
    const metrics = prometheus();
    const app = new App({ instrumentation: [metrics, jobs.metrics], lifespan: jobs.lifespan, logger });
    app.includeRouter(metrics.router());
    const job = jobs.define("job", { payload: t.Boolean(), attempts: 2, ...QUICK }, async ({ payload }) => {
      if (!payload) throw new Error("no");
    });
    await using client = await TestClient.open(app);
    await job.enqueue(true);
    await job.enqueue(false);
    await jobs.drain();
    await job.enqueue(true, { delaySeconds: 60 });
    const { text } = await client.get("/metrics");
    expect(text.split("\n")).toEqual(
      expect.arrayContaining([
        "# TYPE tsgi_jobs_enqueued_total counter",
        'tsgi_jobs_enqueued_total{name="job"} 3',
        'tsgi_jobs_finished_total{name="job",outcome="done"} 1',
        'tsgi_jobs_finished_total{name="job",outcome="failed"} 1',
        'tsgi_jobs_finished_total{name="job",outcome="dead"} 1',
        "# TYPE tsgi_jobs_duration_seconds histogram",
        'tsgi_jobs_duration_seconds_bucket{le="+Inf",name="job"} 3',
        'tsgi_jobs_duration_seconds_count{name="job"} 3',
        'tsgi_jobs_waiting{name="job"} 1',
      ]),
    );
  });

  it("adds the id, name and attempt of the job to log lines, without the fields of the request", async () => {
    const { jobs, logger } = createJobs();
    const context = logContext();
    const seen: object[] = [];
    const job = jobs.define("job", {}, async () => void seen.push(context.fields()));
    const app = new App({ instrumentation: context, lifespan: jobs.lifespan, logger });
    app.post("/", async () => job.enqueue());
    await using client = await TestClient.open(app);
    const { body: jobId } = await client.post("/");
    await jobs.drain();
    expect(seen).toEqual([{ jobId, jobName: "job", attempt: 1 }]);
  });
});

describe("Jobs", () => {
  const typo: JobsOptions & { inlined: boolean } = { inlined: true };

  it.each<[string, JobsOptions, string]>([
    ["no database", {}, "TSGI_JOBS_WITHOUT_DATABASE"],
    ["both", { url: "postgresql://localhost", inline: true }, "TSGI_JOBS_WITHOUT_DATABASE"],
    ["an unknown option", typo, "TSGI_UNKNOWN_OPTION"],
  ])("rejects %s", (_what, options, code) => {
    expect(() => new Jobs(options)).toThrow(expect.objectContaining({ code }));
  });

  it("rejects a name that is taken, or has other characters", () => {
    const { jobs } = createJobs();
    const job = jobs.define("report", {}, async () => {});
    expect(() => jobs.define("report", {}, async () => {})).toThrow('There is a job named "report" already.');
    expect(() => jobs.define("a b", {}, async () => {})).toThrow("letters, digits and -_./ only");
    jobs.schedule("nightly", "0 3 * * *", job, undefined, { timezone: "Europe/Berlin" });
    expect(() => jobs.schedule("nightly", "0 3 * * *", job, undefined)).toThrow("a schedule named");
    expect(() => jobs.schedule("other", "0 3 * *", job, undefined)).toThrow("five fields");
    expect(() => jobs.schedule("other", "0 3 * * *", job, undefined, { timezone: "Mars" })).toThrow("time zone");
  });

  it("rejects parameters with the names of what every job gets", () => {
    const { jobs } = createJobs();
    expect(() => jobs.define("job", { params: { attempt: AbortSignal } }, async () => {})).toThrow('"attempt"');
  });

  it("has no workers inline", async () => {
    const { jobs } = createJobs();
    await expect(jobs.work()).rejects.toMatchObject({ code: "TSGI_JOBS_INLINE_WORKER" });
  });

  it.each(["20.20.2", "22.11.0"])("requires Node.js 22.12 for a database, and rejects %s", (version) => {
    expect(() => assertNodeVersion(version)).toThrow(
      expect.objectContaining({ name: "ConfigurationError", message: expect.stringContaining("Node.js 22.12") }),
    );
    expect(() => assertNodeVersion("22.12.0")).not.toThrow();
    expect(() => assertNodeVersion("24.0.0")).not.toThrow();
  });
});
