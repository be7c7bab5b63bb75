/** Errors with which a handler ends its job, or chooses the time of its next attempt. */
import { describe, expect, it } from "@jest/globals";
import { CONTROL } from "../src/control.js";
import { DeadJobError, Jobs, RetryJobError } from "../src/index.js";
import { createDatabase, createLog, describeWithDatabase } from "./_database.js";

describe("DeadJobError", () => {
  it("ends an inline job even if attempts are left", async () => {
    const log = createLog();
    const jobs = new Jobs({ inline: true, logger: log });
    let runs = 0;
    const mail = jobs.define("mail", { attempts: 5, backoffSeconds: 0 }, async () => {
      runs++;
      throw new DeadJobError("no such address");
    });
    await mail.enqueue();
    await jobs.drain();
    expect(runs).toBe(1);
    expect(log.lines).toContain("error The job mail is dead: no such address");
  });
});

describe("RetryJobError", () => {
  it("chooses the time of the next attempt, and uses up an attempt", async () => {
    const jobs = new Jobs({ inline: true, logger: createLog() });
    const attempts: number[] = [];
    const sync = jobs.define("sync", { attempts: 3, backoffSeconds: 80_000 }, async ({ attempt }) => {
      attempts.push(attempt);
      throw new RetryJobError("too many requests", 0.01);
    });
    await sync.enqueue();
    await jobs.drain();
    expect(attempts).toEqual([1, 2, 3]);
  });

  it.each([-1, Number.NaN, 86_401])("rejects %p seconds", (seconds) => {
    expect(() => new RetryJobError("later", seconds)).toThrow(RangeError);
  });
});

describeWithDatabase("in PostgreSQL", () => {
  const database = createDatabase();

  it("a DeadJobError ends the job with its reason, also a job of an event", async () => {
    const jobs = database.open(createLog(), { program: "dead" });
    const options = { attempts: 5, backoffSeconds: 0 };
    const die = async () => {
      throw new DeadJobError("no such address");
    };
    const mail = jobs.define("mail", options, die);
    const event = jobs.event("signed-up");
    event.subscribe("mail", options, die);
    await database.work(jobs);
    const id = await mail.enqueue();
    await event.publish();
    await expect(database.reached(jobs, id, "dead")).resolves.toMatchObject({ attempt: 1, reason: "no such address" });
    const list = async () => (await jobs[CONTROL].list()).map(({ name, state }) => `${name} ${state}`);
    while (!(await list()).includes("signed-up/mail dead"));
  });

  it("a RetryJobError delays the job until then", async () => {
    const jobs = database.open();
    const sync = jobs.define("sync", { backoffSeconds: 0 }, async () => {
      throw new RetryJobError("too many requests", 7_200);
    });
    await database.work(jobs);
    const id = await sync.enqueue();
    await expect(database.reached(jobs, id, "delayed")).resolves.toMatchObject({
      attempt: 2,
      reason: "too many requests",
    });
    const { rows } = await database.pool.query<{ seconds: number }>(
      `SELECT extract(epoch FROM start_after - now())::int AS seconds FROM ${database.schema}.job WHERE id = $1`,
      [id],
    );
    expect(rows[0]?.seconds).toBeGreaterThan(7_000);
  });
});
