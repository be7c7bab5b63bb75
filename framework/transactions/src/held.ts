/** A transaction that is open from its begin to `commit` or `rollBack`, and not for the time of a callback. @module */
import { Deferred } from "tsgi/internals";
import { RolledBackError, UnavailableError, type Verdict } from "./patience.js";

/** A transaction that has begun. */
export interface OpenTransaction {
  /** The client of the transaction. */
  readonly client: unknown;
  /** Rejects after `timeoutMs`, when the transaction is being rolled back. */
  readonly failure: Promise<never>;
  /** @throws UnavailableError if the database is unavailable, if another transaction has taken precedence, or after `timeoutMs`. */
  commit(): Promise<void>;
  /** Returns the error to rethrow: an `UnavailableError` if the database should be tried again. */
  rollBack(cause: unknown): Promise<unknown>;
}

/** Runs a transaction, as every client can: it commits after `work` has resolved, and rolls back after it has rejected. */
export type Transact<Tx> = (work: (tx: Tx) => Promise<void>) => Promise<unknown>;

/** The errors of a database. */
export interface Judgement {
  readonly judge: (error: unknown) => Verdict;
  /** Tells if an error is from the database, and not from another service that the application uses. */
  readonly isOwn: (error: unknown) => boolean;
}

/** Begins a transaction, which waits for its end. @param prepare - Runs the first statements. */
export function hold<Tx>(
  transact: Transact<Tx>,
  prepare: (tx: Tx) => Promise<void>,
  { judgement, timeoutMs }: { readonly judgement: Judgement; readonly timeoutMs: number },
): Promise<OpenTransaction> {
  return new Promise((resolve, reject) => {
    const end = new Deferred<void>();
    const done = transact(async (tx) => {
      await prepare(tx);
      resolve(new HeldTransaction(tx, { end, done }, judgement, timeoutMs));
      await end.promise;
    });
    done.catch(reject);
  });
}

/** The end of the callback, and of the client's work after it. */
interface Ending {
  readonly end: Deferred<void>;
  readonly done: Promise<unknown>;
}

class HeldTransaction implements OpenTransaction {
  readonly client: unknown;
  readonly #ending: Ending;
  readonly #judgement: Judgement;
  readonly #failure = new Deferred<never>();
  readonly #timer: ReturnType<typeof setTimeout>;
  /** The error after `timeoutMs`; `null` before. */
  #expired: UnavailableError | null = null;

  constructor(client: unknown, ending: Ending, judgement: Judgement, timeoutMs: number) {
    this.client = client;
    this.#ending = ending;
    this.#judgement = judgement;
    this.#timer = setTimeout(() => this.#expire(timeoutMs), timeoutMs);
  }

  get failure(): Promise<never> {
    return this.#failure.promise;
  }

  #expire(timeoutMs: number): void {
    this.#expired = new UnavailableError(new Error(`The transaction took longer than ${timeoutMs} ms.`));
    this.#ending.end.reject(this.#expired);
    this.#failure.reject(this.#expired);
  }

  async commit(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#expired !== null) throw await this.rollBack(this.#expired);
    this.#ending.end.resolve();
    try {
      await this.#ending.done;
    } catch (error) {
      throw this.#toResponse(error);
    }
  }

  async rollBack(cause: unknown): Promise<unknown> {
    clearTimeout(this.#timer);
    this.#ending.end.reject(cause);
    await this.#ending.done.catch(() => {
      // The reason of the rollback, or a connection that is lost, which has rolled back too.
    });
    return this.#expired ?? this.#toResponse(cause);
  }

  /** Only an error of the database is judged: the code of another service's `ECONNREFUSED` is the same. */
  #toResponse(error: unknown): unknown {
    const isOfDatabase = error instanceof RolledBackError || this.#judgement.isOwn(error);
    return isOfDatabase && this.#judgement.judge(error) !== "fault" ? new UnavailableError(error) : error;
  }
}
