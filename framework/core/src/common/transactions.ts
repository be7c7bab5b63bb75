/** Transactions whose end can be observed, such as the transaction of a request. @module */

/** @param hasCommitted - `false` if the transaction was rolled back. */
type Callback = (hasCommitted: boolean) => void;

/** A property of the global object, so that two copies of this package meet. */
const OPEN: unique symbol = Symbol.for("tsgi.transactions");

const globals: typeof globalThis & { [OPEN]?: WeakMap<object, Callback[]> } = globalThis;

/**
 * Lets others observe a transaction.
 *
 * @param tx - Its client, as the application gets it.
 * @returns To call once it has ended.
 */
export function observable(tx: object): Callback {
  const callbacks: Callback[] = [];
  (globals[OPEN] ??= new WeakMap()).set(tx, callbacks);
  return (hasCommitted) => {
    globals[OPEN]?.delete(tx);
    for (const call of callbacks) call(hasCommitted);
  };
}

/** Calls a function once a transaction has ended. @returns `false` if it cannot be observed. */
export function whenEnded(tx: object, fn: Callback): boolean {
  const callbacks = globals[OPEN]?.get(tx);
  callbacks?.push(fn);
  return callbacks !== undefined;
}
