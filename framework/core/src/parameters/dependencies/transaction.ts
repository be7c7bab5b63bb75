/** Transactional dependencies: their work takes effect together with the response. @module */
import type { Response } from "../../http/response/response.js";
import { type FromParams, PARAMS, type Params, type WithParams } from "../annotation.js";
import { markTransactional } from "../depends.js";
import type { Resumable } from "./exits.js";
import { watchClient } from "../../http/request/body.js";
import type { Call } from "./call.js";
import type { Step } from "./plan.js";

/** A response that is complete, but not sent yet. */
export interface ReadyResponse {
  /** HTTP status code in range [200...599]. */
  readonly status: number;
  /** Names and values in turn, as latin-1 text. */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
}

/**
 * The work of one dependency for one request. Exactly one of `commit` and `rollBack` is called, once: the last one that was
 * begun is the first, after all dependencies of scope `"function"` have cleaned up.
 */
export interface Transaction<Value> {
  /** The result of the dependency. */
  readonly value: Value;
  /** Rejects if the work fails while the handler runs, such as at its own time limit. The request then fails immediately. */
  readonly failure?: Promise<never>;
  /** The largest body in bytes that `commit` gets. Without it, `commit` gets no response. */
  readonly maxResponseBytes?: number;
  /**
   * Called after the handler has returned and `returns` has checked the result, before anything is sent. If it rejects, the
   * request fails with that error, and the transactions that are left are rolled back.
   */
  commit(response: ReadyResponse | null): Promise<void> | void;
  /** Called if the request fails, or the client has disconnected. Gives the error to respond with: the same or another. */
  rollBack(error: unknown): Promise<unknown>;
}

/** A dependency that begins a transaction. As a parameter it is the value of the transaction. */
export type TransactionalDependency<P, Value> = ((args: FromParams<P>) => Promise<Value>) &
  WithParams<P, Promise<Value>>;

/**
 * Makes a transactional dependency. It is called after all other params of its caller are there, and never concurrently
 * with another dependency of the route.
 *
 * @param name - The name that logs and messages show.
 */
export function createTransactional<const P extends Params, Value>(
  name: string,
  params: P,
  begin: (args: FromParams<P>) => Promise<Transaction<Value>>,
): TransactionalDependency<P, Value> {
  const dependency = async (args: FromParams<P>) => begin(args);
  Object.defineProperties(dependency, { name: { value: name }, [PARAMS]: { value: params } });
  markTransactional(dependency);
  // A call returns the transaction, and the route unwraps it: for all other users the dependency is its value.
  return dependency as unknown as TransactionalDependency<P, Value>;
}

const DONE = { done: true, value: undefined } as const;

/** A transaction in the list of work at the end of a request. */
export class TransactionExit implements Resumable {
  readonly transaction: Transaction<unknown>;
  response: ReadyResponse | null = null;

  constructor(transaction: Transaction<unknown>) {
    this.transaction = transaction;
  }

  async next() {
    await this.transaction.commit(this.response);
    return DONE;
  }

  async throw(error: unknown): Promise<never> {
    throw await this.transaction.rollBack(error);
  }

  async return() {
    return DONE;
  }
}

/**
 * Thrown by a transactional dependency: this response is sent, and the handler does not run. Exception handlers do not
 * get it, because it is not a failure.
 */
export class EarlyResponse extends Error {
  override readonly name = "EarlyResponse";
  readonly response: Response;

  constructor(response: Response) {
    super("The request has its response already.");
    this.response = response;
  }
}

/** Watches the client of a request. It is the first transaction to begin, so it is the last one to end. */
export class ClientWatch implements Transaction<undefined> {
  readonly value = undefined;
  hasLeft = false;
  readonly #stop: () => void;

  constructor(call: Call) {
    const leave = () => {
      this.hasLeft = true;
    };
    this.#stop = watchClient(call.request, leave, { startsNow: true });
  }

  commit(): void {
    this.#stop();
  }

  async rollBack(error: unknown): Promise<unknown> {
    this.#stop();
    return error;
  }
}

/** A step that watches the client from the beginning of a request. */
export const watchStep: Step = {
  name: null,
  reads: null,
  run: (call) => {
    const generator = new TransactionExit(new ClientWatch(call));
    call.addExit({ generator, scope: "transaction", name: "client" });
  },
};
