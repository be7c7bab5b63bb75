/** The subscribers of events. They are stored, so that an event reaches other programs, and workers that do not run. @module */
import type { Db } from "pg-boss";
import { type Definition, readEnvelope } from "./definition.js";
import { jobsError } from "./errors.js";
import type { Rules } from "./options.js";

/** A subscriber as it is stored. */
export interface Subscription {
  /** The name of its jobs, such as `order.paid/receipt`. */
  readonly name: string;
  readonly rules: Rules;
}

/** A subscriber of any program, for commands. */
export interface StoredSubscriber {
  readonly event: string;
  readonly name: string;
  readonly program: string;
}

/** The table of the subscriptions, next to the tables of pg-boss. */
export class Subscriptions {
  readonly #db: Db;
  readonly #schema: string;
  readonly #table: string;

  /** @param schema - A name that pg-boss has accepted. */
  constructor(db: Db, schema: string) {
    this.#db = db;
    this.#schema = schema;
    this.#table = `${schema}.tsgi_subscription`;
  }

  /** A user that may not create tables can use the one of a migration: only a missing table is created. */
  async #create(): Promise<void> {
    if (await this.#exists()) return;
    await this.#db.executeSql(
      // Two programs that start at the same time would both create the table.
      `SELECT pg_advisory_xact_lock(hashtext('tsgi_subscription'));
       CREATE TABLE IF NOT EXISTS ${this.#table} (
         name text PRIMARY KEY REFERENCES ${this.#schema}.queue ON DELETE CASCADE,
         event text NOT NULL,
         program text NOT NULL,
         rules jsonb NOT NULL
       )`,
    );
  }

  async #exists(): Promise<boolean> {
    const { rows } = await this.#db.executeSql("SELECT to_regclass($1) IS NOT NULL AS exists", [this.#table]);
    return (rows as { exists: boolean }[])[0]?.exists === true;
  }

  /**
   * Stores the subscribers of a program whose queues exist. Those that it no longer has stay.
   *
   * @throws ConfigurationError if another program has a subscriber of the same name.
   */
  async store(definitions: readonly Definition[], program: string): Promise<void> {
    await this.#create();
    for (const { name, event, rules } of definitions) {
      const { rows } = await this.#db.executeSql(
        `INSERT INTO ${this.#table} AS stored (name, event, program, rules) VALUES ($1, $2, $3, $4::text::jsonb)
         ON CONFLICT (name) DO UPDATE SET event = excluded.event, rules = excluded.rules
           WHERE stored.program = excluded.program
         RETURNING name`,
        [name, event, program, JSON.stringify(rules)],
      );
      if (rows.length === 0) throw jobsError("TSGI_SUBSCRIBER_OF_ANOTHER_PROGRAM", name, program);
    }
  }

  /** Removes subscribers that a program has stored and no longer declares. */
  async removeOthers(program: string, names: readonly string[]): Promise<void> {
    if (!(await this.#exists())) return;
    await this.#db.executeSql(`DELETE FROM ${this.#table} WHERE program = $1 AND NOT name = ANY($2::text[])`, [
      program,
      names,
    ]);
  }

  /** Reads the subscribers of an event, in the transaction of the event. In their order, two events never wait for each other. */
  async of(event: string, db: Db): Promise<readonly Subscription[]> {
    const { rows } = await db.executeSql(`SELECT name, rules FROM ${this.#table} WHERE event = $1 ORDER BY name`, [
      event,
    ]);
    return (rows as { name: string; rules: unknown }[]).map(({ name, rules }) => {
      const { attempts, backoffSeconds, timeoutSeconds } = readEnvelope(rules);
      return { name, rules: { attempts, backoffSeconds, timeoutSeconds } };
    });
  }

  async all(): Promise<readonly StoredSubscriber[]> {
    if (!(await this.#exists())) return [];
    const { rows } = await this.#db.executeSql(`SELECT event, name, program FROM ${this.#table} ORDER BY name`);
    return rows as StoredSubscriber[];
  }
}
