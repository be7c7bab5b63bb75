/** One transaction of a database that is never committed, and the savepoints in it. @module */
import { Deferred } from "tsgi/internals";
import { RolledBackError, UnavailableError } from "../patience.js";
import type { Settings } from "../settings.js";
import type { Queryable, Statement } from "../statement.js";

/** A transaction, as Prisma calls it: one statement, commit and roll back. */
export interface AdapterTransaction extends Queryable {
  readonly options: { readonly usePhantomQuery: boolean };
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** The way of running one statement. */
type Run = "queryRaw" | "executeRaw";

/** The differences between the databases. */
export interface Dialect {
  /**
   * Makes the checks of a commit, restores the settings, and ends a savepoint.
   *
   * @param settings - The settings of the transaction around it.
   */
  release(run: RunText, savepoint: string, settings: Settings): Promise<void>;
  /** Begins a savepoint. */
  begin(run: RunText, savepoint: string, settings: Settings): Promise<void>;
  /** Notes a statement, which may change the constraints. */
  note(sql: string): void;
  /** Notes that statements are undone. */
  undo(): void;
  /** Prepares a transaction that has begun. */
  start(run: RunText): Promise<void>;
  /** Begins another transaction in the place of this one, in one message. Returns `false` if that is not possible. */
  restart(run: RunText): Promise<boolean>;
  /** Keeps the process alive for the connection, or no longer. */
  hold(transaction: object, isBusy: boolean): void;
  /** Tells if an error means that a statement of the transaction has failed before. */
  hasFailed(error: unknown): boolean;
}

/** Runs a statement without values. */
export type RunText = (sql: string, run?: Run) => Promise<unknown>;

/** The statements that end a transaction, and begin one within it. */
const rollBackTo = (savepoint: string) => `ROLLBACK TO SAVEPOINT ${savepoint}`;
const release = (savepoint: string) => `RELEASE SAVEPOINT ${savepoint}`;

/** A statement as the adapters of Prisma take it. */
const statementOf = (sql: string) => ({ sql, args: [], argTypes: [] });

/** A transaction inside the one that is never committed. */
export interface Inner {
  readonly savepoint: string;
  settings: Settings;
  hasEnded: boolean;
  /** The last statement that has failed, or `null`. */
  failure: { readonly error: unknown } | null;
  readonly onEnd: () => void;
}

/** A connection with one transaction. It runs one thing at a time. */
export class Session {
  readonly #start: () => Promise<Queryable>;
  readonly #dialect: Dialect;
  #outer: AdapterTransaction | null = null;
  readonly #inner: Inner[] = [];
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;
  #count = 0;

  /** @param start - Begins a transaction. */
  constructor(start: () => Promise<Queryable>, dialect: Dialect) {
    this.#start = start;
    this.#dialect = dialect;
  }

  /** Runs a statement outside of transactions: it takes effect as a whole, or not. */
  async alone(run: Run, statement: Statement): Promise<unknown> {
    return this.#inTurn(async (outer) => {
      const savepoint = this.#nextName();
      await this.#dialect.begin(this.#runText, savepoint, this.#settings);
      try {
        const result = await outer[run](statement);
        this.#dialect.note(statement.sql);
        await this.#dialect.release(this.#runText, savepoint, this.#settings);
        return result;
      } catch (error) {
        await this.#undo(savepoint);
        throw error;
      }
    });
  }

  /** Begins a transaction. @param onEnd - Called when it has ended, by whomever. */
  async begin(onEnd: () => void): Promise<AdapterTransaction> {
    return this.#inTurn(async (outer) => {
      const inner = { savepoint: this.#nextName(), settings: [], hasEnded: false, failure: null, onEnd };
      await this.#dialect.begin(this.#runText, inner.savepoint, this.#settings);
      this.#inner.push(inner);
      return this.#transactionOf(inner, outer);
    });
  }

  /** Notes the settings of the transaction that was begun last: they end with it. */
  setSettings(settings: Settings): void {
    const inner = this.#inner.at(-1);
    if (inner !== undefined) inner.settings = settings;
  }

  /** Undoes everything. The next statement is in another transaction. */
  async rollBack(): Promise<void> {
    await this.#queue(async () => {
      this.#endFrom(0);
      this.#dialect.undo();
      if (this.#outer === null || (await this.#dialect.restart(this.#runText).catch(() => false))) return;
      await this.#end();
    });
  }

  /** Undoes everything, and returns the connection. */
  async close(): Promise<void> {
    await this.#queue(async () => {
      this.#endFrom(0);
      await this.#end();
    });
  }

  async #end(): Promise<void> {
    const outer = this.#outer;
    this.#outer = null;
    if (outer === null) return;
    try {
      if (!outer.options.usePhantomQuery) await outer.executeRaw(statementOf("ROLLBACK"));
    } finally {
      await outer.rollback();
    }
  }

  get #settings(): Settings {
    return this.#inner.at(-1)?.settings ?? [];
  }

  #nextName(): string {
    return `tsgi_${++this.#count}`;
  }

  readonly #runText: RunText = async (sql, run = "executeRaw") => this.#outer?.[run](statementOf(sql));

  /** Undoes a savepoint. A connection that is lost has undone it too. */
  async #undo(savepoint: string): Promise<void> {
    this.#dialect.undo();
    try {
      await this.#runText(rollBackTo(savepoint));
      await this.#runText(release(savepoint));
    } catch {
      // The error of the statement is the reason.
    }
  }

  /** The end of a transaction ends those in it, which a late statement must not outlive. */
  #endFrom(index: number): void {
    for (const inner of this.#inner.splice(index).toReversed()) {
      inner.hasEnded = true;
      inner.onEnd();
    }
  }

  #transactionOf(inner: Inner, outer: AdapterTransaction): AdapterTransaction {
    const run = (how: Run) => (statement: Statement) =>
      this.#within(inner, async () => {
        try {
          const result = await outer[how](statement);
          this.#dialect.note(statement.sql);
          return result;
        } catch (error) {
          inner.failure = { error };
          throw error;
        }
      });
    // The adapter's own methods for savepoints of Prisma are inherited, and run their statements by these.
    return Object.assign(Object.create(outer) as AdapterTransaction, {
      options: { usePhantomQuery: true },
      queryRaw: run("queryRaw"),
      executeRaw: run("executeRaw"),
      commit: () => this.#within(inner, () => this.#commit(inner)),
      rollback: () => this.#queue(() => this.#rollBackInner(inner)),
    });
  }

  async #commit(inner: Inner): Promise<void> {
    const index = this.#inner.indexOf(inner);
    const settings = this.#inner[index - 1]?.settings ?? [];
    const own = inner.settings.filter(([name]) => !settings.some(([other]) => other === name));
    try {
      await this.#dialect.release(this.#runText, inner.savepoint, [...own.map(neutral), ...settings]);
    } catch (error) {
      await this.#undo(inner.savepoint);
      throw this.#dialect.hasFailed(error) ? new RolledBackError(inner.failure?.error) : error;
    } finally {
      this.#endFrom(index);
    }
  }

  async #rollBackInner(inner: Inner): Promise<void> {
    if (inner.hasEnded) return;
    await this.#undo(inner.savepoint);
    this.#endFrom(this.#inner.indexOf(inner));
  }

  #within<T>(inner: Inner, work: () => Promise<T>): Promise<T> {
    return this.#queue(async () => {
      if (inner.hasEnded) throw new UnavailableError(new Error("The transaction has ended."));
      return work();
    });
  }

  #inTurn<T>(work: (outer: AdapterTransaction) => Promise<T>): Promise<T> {
    return this.#queue(async () => {
      if (this.#outer === null) {
        this.#outer = (await this.#start()) as AdapterTransaction;
        await this.#dialect.start(this.#runText);
      }
      return work(this.#outer);
    });
  }

  async #queue<T>(work: () => Promise<T>): Promise<T> {
    const before = this.#last;
    const done = new Deferred<void>();
    this.#last = done.promise;
    this.#waiting++;
    await before;
    if (this.#outer !== null) this.#dialect.hold(this.#outer, true);
    try {
      return await work();
    } finally {
      this.#waiting--;
      if (this.#waiting === 0 && this.#outer !== null) this.#dialect.hold(this.#outer, false);
      done.resolve();
    }
  }
}

/** PostgreSQL reads a setting that has ended as an empty text, and this role as the user of the connection. */
export const neutral = ([name]: Settings[number]): Settings[number] => [name, name === "role" ? "none" : ""];
