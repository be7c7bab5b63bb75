/** Transactions whose commit can be observed, such as the transaction of a request. @module */

type Callback = () => void;

/** A property of the global object, so that two copies of this package meet. */
const OPEN: unique symbol = Symbol.for("tsgi.transactions");

const globals: typeof globalThis & { [OPEN]?: WeakMap<object, Callback[]> } = globalThis;

/**
 * Lets others observe a transaction.
 *
 * @param tx - Its client, as the application gets it.
 * @returns To call once it has committed, and never if it rolls back.
 */
export function observable(tx: object): () => void {
  const callbacks: Callback[] = [];
  (globals[OPEN] ??= new WeakMap()).set(tx, callbacks);
  return () => {
    globals[OPEN]?.delete(tx);
    for (const call of callbacks) call();
  };
}

/** Calls a function once a transaction has committed. @returns `false` if it cannot be observed. */
export function afterCommit(tx: object, fn: Callback): boolean {
  const callbacks = globals[OPEN]?.get(tx);
  callbacks?.push(fn);
  return callbacks !== undefined;
}
