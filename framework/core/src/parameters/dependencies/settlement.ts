/** Dependencies whose work takes effect together with the response, such as a transaction. @module */
import type { Response } from "../../http/response/response.js";
import { type FromParams, PARAMS, type Params, type WithParams } from "../annotation.js";
import { markSettling } from "../depends.js";
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
 * The work of one dependency for one request. Exactly one of `confirm` and `undo` is called, once: the last one that was
 * begun is the first, after all dependencies of scope `"function"` have cleaned up.
 */
export interface Settlement<Value> {
  /** The result of the dependency. */
  readonly value: Value;
  /** Rejects if the work fails while the handler runs, such as at its own time limit. The request then fails immediately. */
  readonly failure?: Promise<never>;
  /** The largest body in bytes that `confirm` gets. Without it, `confirm` gets no response. */
  readonly maxResponseBytes?: number;
  /**
   * Called after the handler has returned and `returns` has checked the result, before anything is sent. If it rejects, the
   * request fails with that error, and the settlements that are left are undone.
   */
  confirm(response: ReadyResponse | null): Promise<void> | void;
  /** Called if the request fails, or the client has disconnected. Gives the error to respond with: the same or another. */
  undo(error: unknown): Promise<unknown>;
}

/** A dependency that settles. As a parameter it is the value of its settlement. */
export type SettlingDependency<P, Value> = ((args: FromParams<P>) => Promise<Value>) & WithParams<P, Promise<Value>>;

/**
 * Makes a dependency that settles. It is called after all other params of its caller are there, and never concurrently
 * with another dependency of the route.
 *
 * @param name - The name that logs and messages show.
 */
export function createSettling<const P extends Params, Value>(
  name: string,
  params: P,
  begin: (args: FromParams<P>) => Promise<Settlement<Value>>,
): SettlingDependency<P, Value> {
  const dependency = async (args: FromParams<P>) => begin(args);
  Object.defineProperties(dependency, { name: { value: name }, [PARAMS]: { value: params } });
  markSettling(dependency);
  // A call returns the settlement, and the route unwraps it: for all other users the dependency is its value.
  return dependency as unknown as SettlingDependency<P, Value>;
}

const DONE = { done: true, value: undefined } as const;

/** A settlement in the list of work at the end of a request. */
export class SettlementExit implements Resumable {
  readonly settlement: Settlement<unknown>;
  response: ReadyResponse | null = null;

  constructor(settlement: Settlement<unknown>) {
    this.settlement = settlement;
  }

  async next() {
    await this.settlement.confirm(this.response);
    return DONE;
  }

  async throw(error: unknown): Promise<never> {
    throw await this.settlement.undo(error);
  }

  async return() {
    return DONE;
  }
}

/**
 * Thrown by a dependency that settles: this response is sent, and the handler does not run. Exception handlers do not
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

/** Watches the client of a request. It is the first settlement to begin, so it is the last one to end. */
export class ClientWatch implements Settlement<undefined> {
  readonly value = undefined;
  hasLeft = false;
  readonly #stop: () => void;

  constructor(call: Call) {
    const leave = () => {
      this.hasLeft = true;
    };
    this.#stop = watchClient(call.request, leave, { startsNow: true });
  }

  confirm(): void {
    this.#stop();
  }

  async undo(error: unknown): Promise<unknown> {
    this.#stop();
    return error;
  }
}

/** A step that watches the client from the beginning of a request. */
export const watchStep: Step = {
  name: null,
  reads: null,
  run: (call) => {
    const generator = new SettlementExit(new ClientWatch(call));
    call.addExit({ generator, scope: "settlement", name: "client" });
  },
};
