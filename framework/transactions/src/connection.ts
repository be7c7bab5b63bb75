/** A connection of `pg` for the time of one transaction. @module */
import { callbackify } from "node:util";
import { describeError, errorChain, isUnavailable } from "tsgi/internals";
import type { Judgement } from "./held.js";
import { RolledBackError, UnavailableError } from "./patience.js";
import type { Settings } from "./settings.js";

/** A connection that a pool has lent, such as `PoolClient` of `pg`. */
export interface PoolConnection {
  /** Runs one statement. Clients also call it with an object that has the text. */
  query(text: string, values?: unknown[]): Promise<unknown>;
  /** Returns the connection to the pool, or closes it after an error. */
  release(error?: Error | boolean): void;
}

/** A pool of connections, such as `Pool` of `pg`. */
export interface ConnectionPool<Connection> {
  connect(): Promise<Connection>;
}

/** Connections that keep the settings of their transaction, such as the connections of a sandbox. */
export const settingsOf = new WeakMap<object, (settings: Settings) => void>();

/** A statement that ends a transaction, and not a savepoint. */
export const ENDS = /^\s*(?:commit|end|rollback|abort)(?:\s+(?:work|transaction))?\s*;?\s*$/i;

/** The method `query` of a connection: clients also call it with an object, a cursor, or a callback. */
export type Query = (...args: readonly unknown[]) => unknown;
export type Callback = (error: Error | null, result?: unknown) => void;
export const isCallback = (value: unknown): value is Callback => typeof value === "function";

/** The text of the first argument of `query`. */
function textOf(statement: unknown): string {
  const text = typeof statement === "string" ? statement : (Object(statement) as { text?: unknown }).text;
  return typeof text === "string" ? text : "";
}

/** Takes the statements of a connection. */
interface Interception {
  /** @param direct - Runs the statement on the connection. */
  readonly run: (text: string, direct: () => Promise<unknown>) => Promise<unknown>;
  readonly beforeCursor: () => void;
  readonly release: (error?: Error | boolean) => void;
}

/** The methods of an `EventEmitter`: on another object they would add listeners that they do not remove. */
function listening(connection: object): Readonly<Record<string, Query>> {
  const names = ["on", "once", "off", "addListener", "removeListener"];
  const bound = names.flatMap((name) => {
    const method: unknown = Reflect.get(connection, name);
    const call: Query = (...args) => Reflect.apply(method as Query, connection, args);
    return typeof method === "function" ? [[name, call] as const] : [];
  });
  return Object.fromEntries(bound);
}

/** Makes a connection whose statements are intercepted. */
export function intercept<Connection extends PoolConnection>(
  connection: Connection,
  { run, beforeCursor, release }: Interception,
): Connection {
  const query = Reflect.get(connection, "query") as Query;
  const direct: Query = (...args) => Reflect.apply(query, connection, args);
  const own: Query = (...args) => {
    const [statement] = args;
    const callback = args.at(-1);
    if (isCallback(callback)) return callbackify(async () => own(...args.slice(0, -1)))(callback);
    // A cursor, which is not a promise.
    if (typeof (Object(statement) as { submit?: unknown }).submit === "function") {
      beforeCursor();
      return direct(...args);
    }
    return run(textOf(statement), async () => direct(...args));
  };
  return Object.assign(Object.create(connection) as Connection, { query: own, release }, listening(connection));
}

/** SQLSTATE `serialization_failure` and `deadlock_detected`: the other transaction has taken precedence. */
const CONFLICT = /^40(?:001|P01)$/;

/** The methods that `EventEmitter` adds. */
interface Emitting {
  on?(event: "error", listener: () => void): unknown;
  off?(event: "error", listener: () => void): unknown;
}

/** A lost connection also emits an error, which would end the process. */
const ignore = (): void => {};

/** Judges an error of `pg`, which may be the cause of an error of the client. */
export function judge(error: unknown): "busy" | "unavailable" | "fault" {
  const errors = errorChain(error).map((link) => link.error);
  if (errors.some((one) => CONFLICT.test(describeError(one).code))) return "busy";
  return errors.some(isUnavailable) ? "unavailable" : "fault";
}

/**
 * Lends a connection to a client for one transaction.
 *
 * Attack: work that continues after the end of its transaction, such as a statement after a timeout. The connection may then
 * be in the transaction of another tenant, so statements after the end are rejected.
 */
export class LentConnection<Connection extends PoolConnection> implements Judgement {
  readonly judge = judge;
  readonly #connection: Connection;
  readonly #failures = new WeakSet<object>();
  #last: Promise<unknown> = Promise.resolve();
  #failure: unknown = undefined;
  #hasEnded = false;
  #isClean = false;
  #isReturned = false;

  constructor(connection: Connection) {
    this.#connection = connection;
    (connection as Emitting).on?.("error", ignore);
  }

  /** The connection as the client gets it. */
  lend(): Connection {
    return intercept(this.#connection, {
      run: (text, direct) => this.#run(text, direct),
      beforeCursor: () => this.#assertOpen(""),
      release: ignore,
    });
  }

  isOwn(error: unknown): boolean {
    return errorChain(error).some((link) => this.#failures.has(Object(link.error) as object));
  }

  /** Ends the loan. A connection whose transaction may be open is closed, which rolls back. */
  giveBack(): void {
    this.#isReturned = true;
    (this.#connection as Emitting).off?.("error", ignore);
    this.#connection.release(!this.#isClean);
  }

  #assertOpen(text: string): void {
    if (this.#isReturned || (this.#hasEnded && !ENDS.test(text))) {
      throw new UnavailableError(new Error("The transaction has ended."));
    }
  }

  /** Statements run one at a time, so that the end waits for the statement before it. */
  async #run(text: string, run: () => Promise<unknown>): Promise<unknown> {
    this.#assertOpen(text);
    const isEnd = ENDS.test(text);
    if (isEnd) this.#hasEnded = true;
    const result = this.#last.then(run);
    this.#last = result.catch((error: unknown) => {
      this.#failure = error;
      this.#failures.add(Object(error) as object);
    });
    if (!isEnd) return result;
    const { command } = Object(await result) as { command?: unknown };
    this.#isClean = true;
    // PostgreSQL replies to a COMMIT after a failed statement with ROLLBACK, which no client reports.
    if (command === "ROLLBACK" && /^\s*(?:commit|end)/i.test(text)) throw new RolledBackError(this.#failure);
    return result;
  }
}
