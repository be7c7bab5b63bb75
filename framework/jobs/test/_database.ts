/** A separate schema in PostgreSQL for a test, and jobs in it. */
import { randomBytes } from "node:crypto";
import { afterAll, afterEach, describe } from "@jest/globals";
import { Pool } from "pg";
import type { Logger } from "tsgi";
import { findPostgreSQL } from "../../../sample-auth-app/test/repository/support/find-postgresql.js";
import { CONTROL, type Worker } from "../src/control.js";
import { Jobs, type JobsOptions, type WorkOptions } from "../src/index.js";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
/** `true` if pg-boss works on this Node.js. */
export const isNewEnough = major > 22 || (major === 22 && minor >= 12);

/** The address of PostgreSQL; `null` if it is unavailable, or this Node.js is too old for pg-boss. */
export const URL_OF_DATABASE = isNewEnough ? await findPostgreSQL() : null;

const why = isNewEnough
  ? "PostgreSQL does not answer"
  : `pg-boss requires Node.js 22.12, this is ${process.versions.node}`;

const describeOrSkip = URL_OF_DATABASE === null ? describe.skip : describe;

/** The reason for skipping, for the name of the tests. */
const suffix = URL_OF_DATABASE === null ? ` (skipped: ${why})` : "";

/** Describes tests that need PostgreSQL and Node.js 22.12. Elsewhere they are reported as skipped, with the reason. */
export function describeWithDatabase(name: string, tests: () => void): void {
  describeOrSkip(name + suffix, tests);
}

/** Logs of the framework that a test can read. */
export interface KeptLog extends Logger {
  readonly lines: string[];
}

export function createLog(): KeptLog {
  const lines: string[] = [];
  const keep = (level: string) => (_fields: object, message: string) => void lines.push(`${level} ${message}`);
  return { lines, debug: () => {}, info: keep("info"), warn: keep("warn"), error: keep("error") };
}

/** The jobs of tests in one schema, which is dropped at the end. */
export function createDatabase() {
  const url = URL_OF_DATABASE ?? "";
  const schema = `jobs_${randomBytes(6).toString("hex")}`;
  const pool = new Pool({ connectionString: url, max: 10 });
  const opened: Jobs[] = [];
  const workers: Worker[] = [];
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop({ timeoutMs: 0 })));
    await Promise.all(opened.splice(0).map((jobs) => jobs.close()));
    if (URL_OF_DATABASE !== null) await pool.query(`DELETE FROM ${schema}.job`).catch(() => {});
  });
  afterAll(async () => {
    if (URL_OF_DATABASE !== null) await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    await pool.end();
  });
  return {
    url,
    schema,
    pool,
    /** Jobs of one program. */
    open(logger: Logger = createLog(), options: Pick<JobsOptions, "program"> = {}): Jobs {
      const jobs = new Jobs({ url, schema, logger, ...options });
      opened.push(jobs);
      return jobs;
    },
    async work(jobs: Jobs, options?: WorkOptions): Promise<Worker> {
      const worker = await jobs.work(options);
      workers.push(worker);
      return worker;
    },
    /** Settles when a job has one of these states. */
    async reached(jobs: Jobs, id: string | null, ...states: readonly string[]) {
      for (;;) {
        const job = await jobs[CONTROL].show(id ?? "");
        if (job && states.includes(job.state)) return job;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  };
}
