/** The jobs of a sandbox: rows of its transaction. @module */
import { randomUUID } from "node:crypto";
import type { RawClient } from "../idempotency-store.js";

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
  readonly #db: RawClient;
  readonly #enter: <T>(work: () => T) => T;
  /** The programs of the jobs, by the ids of the jobs. */
  readonly #programs = new Map<string, JobsControl>();
  #count = 0;

  /** @param enter - Runs a job in its own place, as a request. */
  constructor(db: RawClient, enter: <T>(work: () => T) => T) {
    this.#db = db;
    this.#enter = enter;
  }

  /** Takes the jobs of a program. @returns Gives them back. */
  take(program: JobsControl): () => void {
    program.redirect((job) => this.#add(program, job));
    return () => program.redirect(null);
  }

  async #add(program: JobsControl, { name, envelope, key, tx }: Enqueued): Promise<string | null> {
    const db = isRaw(tx) ? tx : this.#db;
    if (key !== undefined && (await db.$queryRawUnsafe(FIND, name, key)).length > 0) return null;
    const id = randomUUID();
    await db.$executeRawUnsafe(INSERT, id, ++this.#count, name, key ?? null, JSON.stringify(envelope));
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
      await this.#db.$executeRawUnsafe(DELETE, id);
      this.#programs.delete(id);
    }
  }

  async #rows(): Promise<readonly Row[]> {
    return (await this.#db.$queryRawUnsafe(SELECT)) as Row[];
  }
}

const read = (text: string) => JSON.parse(text) as Record<string, unknown>;

function isRaw(tx: object | undefined): tx is RawClient & object {
  return tx !== undefined && "$executeRawUnsafe" in tx;
}
