/** Writes the outcome of runs. Each statement counts for the run only if the job has not been given to another worker. @module */
import { setTimeout as delay } from "node:timers/promises";
import type { JobAttempt } from "pg-boss";
import { describeError, isUnavailable, nextTurn } from "tsgi/internals";
import { isLast, type Outcome } from "./attempt.js";
import { type Envelope, pauseMs } from "./definition.js";
import { changedBy, type Connection, inTransaction, KEEP_DEAD_SECONDS } from "./store.js";

/** A job that a worker holds. */
export interface HeldJob extends JobAttempt {
  readonly name: string;
}

/** Tries to write an outcome, for 3 s in all: a restart of the database must not make a job that is done run again. */
const TRIES = 6;
const FIRST_PAUSE_MS = 100;

async function patiently<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      if (attempt === TRIES || !isUnavailable(error)) throw error;
      await delay(FIRST_PAUSE_MS * 2 ** (attempt - 1));
    }
  }
}

/** The longest reason that is stored, in UTF-16 units. */
const MAX_REASON_LENGTH = 2_000;

/** The text of an error as `jsonb` can store it. */
function reasonOf(error: unknown): { message: string } {
  const { message: text } = describeError(error);
  return { message: text.slice(0, MAX_REASON_LENGTH).toWellFormed().replaceAll("\0", "\uFFFD") };
}

/** Completes jobs that end while a statement runs with the next statement. */
class Completions {
  readonly #connection: Connection;
  readonly #name: string;
  #next: { readonly jobs: JobAttempt[]; readonly written: Promise<void> } | null = null;
  #current: Promise<void> = Promise.resolve();

  constructor(connection: Connection, name: string) {
    this.#connection = connection;
    this.#name = name;
  }

  /** Settles when it is written. */
  add(job: JobAttempt): Promise<void> {
    if (this.#next === null) {
      const jobs: JobAttempt[] = [];
      const written = this.#current.then(async () => {
        await nextTurn(); // for those that end in this turn as well
        this.#next = null;
        await patiently(() => this.#connection.boss.complete(this.#name, jobs));
      });
      this.#current = written.catch(() => {});
      this.#next = { jobs, written };
    }
    this.#next.jobs.push({ id: job.id, retryCount: job.retryCount });
    return this.#next.written;
  }
}

/** Writes outcomes. */
export class OutcomeWriter {
  readonly #connection: Connection;
  readonly #completions = new Map<string, Completions>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async write(job: HeldJob, envelope: Envelope, outcome: Outcome): Promise<void> {
    switch (outcome.status) {
      case "done":
        return this.#complete(job);
      case "dead":
        return this.#fail(job, outcome.error, (db) => this.#bury(job, envelope, outcome.error, db));
      case "failed":
        return isLast(envelope)
          ? this.#fail(job, outcome.error, (db) => this.#bury(job, envelope, outcome.error, db))
          : this.#fail(job, outcome.error, (db) => this.#delay(job, envelope, outcome.error, db));
      case "interrupted":
        return;
    }
  }

  /** Lets another worker run a job, without using an attempt. */
  async giveBack({ name, id, retryCount }: HeldJob): Promise<void> {
    const reason = reasonOf("The worker was stopped");
    await patiently(() => this.#connection.boss.fail(name, { id, retryCount }, reason));
  }

  #complete(job: HeldJob): Promise<void> {
    let completions = this.#completions.get(job.name);
    if (!completions) this.#completions.set(job.name, (completions = new Completions(this.#connection, job.name)));
    return completions.add(job);
  }

  /** pg-boss makes the job wait again; `then` changes it before anything else sees it. */
  async #fail({ name, id, retryCount }: HeldJob, error: unknown, then: (db: Database) => Promise<void>): Promise<void> {
    const write = async (db: Database) => {
      const response = await this.#connection.boss.fail(name, { id, retryCount }, reasonOf(error), { db });
      if (changedBy(response).count > 0) await then(db);
    };
    await patiently(() => inTransaction(this.#connection.db, write));
  }

  async #delay({ name, id }: HeldJob, envelope: Envelope, error: unknown, db: Database): Promise<void> {
    const failures = envelope.failures + 1;
    const startAfter = pauseMs(envelope, failures, error) / 1_000;
    await this.#connection.boss.update(name, { ...envelope, failures }, { id, startAfter, db });
  }

  /** Without retries left, failing it once more ends it. */
  async #bury({ name, id }: HeldJob, envelope: Envelope, error: unknown, db: Database): Promise<void> {
    const options = { id, retryLimit: 0, deleteAfterSeconds: KEEP_DEAD_SECONDS, db };
    await this.#connection.boss.update(name, envelope, options);
    await this.#connection.boss.fail(name, id, reasonOf(error), { db });
  }
}

type Database = Connection["db"];
