/** The jobs of a sandbox: rows of its transaction. @module */
import { randomUUID } from "node:crypto";

/** The jobs of a sandbox, in the order in which they were enqueued. The same statement works on both databases. */
export const CREATE_JOBS = `CREATE TABLE IF NOT EXISTS "tsgi_sandbox_jobs" (
  "id" TEXT NOT NULL PRIMARY KEY,
  "place" INTEGER NOT NULL,
  "name" TEXT NOT NULL,
  "key" TEXT,
  "envelope" TEXT NOT NULL
)`;

/** A job that waits in a sandbox. */
export interface SandboxJob {
  readonly id: string;
  readonly name: string;
  readonly payload: unknown;
}

/** A job that is enqueued, as `@tsgi/jobs` passes it on. */
interface Enqueued {
  readonly name: string;
  /** The payload and the rules, as JSON. */
  readonly envelope: Readonly<Record<string, unknown>>;
  /** Of a job that is there once. */
  readonly key: string | undefined;
  readonly tx: object | undefined;
}

/** The part of `Jobs` that a sandbox uses, without importing the package. */
export interface JobsControl {
  /** Passes all jobs on instead of storing them, until it is called with `null`. */
  redirect(enqueue: ((job: Enqueued) => Promise<string | null>) | null): void;
  /** Runs a job once. @throws its error */
  run(job: { readonly id: string; readonly name: string; readonly envelope: unknown }): Promise<void>;
}

/** Runs statements in the sandbox, with the values `$1`, `$2`, … */
export interface JobStatements {
  /** @param tx - The transaction of the job, or `undefined`. */
  query(sql: string, values: readonly unknown[], tx?: object): Promise<readonly unknown[]>;
  execute(sql: string, values: readonly unknown[], tx?: object): Promise<unknown>;
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly envelope: string;
}

const INSERT = `INSERT INTO "tsgi_sandbox_jobs" ("id", "place", "name", "key", "envelope") VALUES ($1, $2, $3, $4, $5)`;
const SELECT = `SELECT "id", "name", "envelope" FROM "tsgi_sandbox_jobs" ORDER BY "place"`;
const FIND = `SELECT 1 FROM "tsgi_sandbox_jobs" WHERE "name" = $1 AND "key" = $2`;
const DELETE = `DELETE FROM "tsgi_sandbox_jobs" WHERE "id" = $1`;

/** The jobs of one sandbox. */
export class SandboxJobs {
  readonly #db: JobStatements;
  readonly #enter: <T>(work: () => T) => T;
  /** The programs of the jobs, by the ids of the jobs. */
  readonly #programs = new Map<string, JobsControl>();
  #count = 0;

  /** @param enter - Runs a job in its own place, as a request. */
  constructor(db: JobStatements, enter: <T>(work: () => T) => T) {
    this.#db = db;
    this.#enter = enter;
  }

  /** Takes the jobs of a program. @returns Gives them back. */
  take(program: JobsControl): () => void {
    program.redirect((job) => this.#add(program, job));
    return () => program.redirect(null);
  }

  async #add(program: JobsControl, { name, envelope, key, tx }: Enqueued): Promise<string | null> {
    if (key !== undefined && (await this.#db.query(FIND, [name, key], tx)).length > 0) return null;
    const id = randomUUID();
    await this.#db.execute(INSERT, [id, ++this.#count, name, key ?? null, JSON.stringify(envelope)], tx);
    this.#programs.set(id, program);
    return id;
  }

  async list(): Promise<SandboxJob[]> {
    return (await this.#rows()).map(({ id, name, envelope }) => ({ id, name, payload: read(envelope)["payload"] }));
  }

  async run(): Promise<void> {
    for (let [row] = await this.#rows(); row !== undefined; [row] = await this.#rows()) {
      const { id, name } = row;
      const envelope = read(row.envelope);
      await this.#enter(async () => this.#programs.get(id)?.run({ id, name, envelope }));
      await this.#db.execute(DELETE, [id]);
      this.#programs.delete(id);
    }
  }

  async #rows(): Promise<readonly Row[]> {
    return (await this.#db.query(SELECT, [])) as Row[];
  }
}

const read = (text: string) => JSON.parse(text) as Record<string, unknown>;
