/** `app.state`, which a worker of the pool does not share. @module */
import { keepOnLoop } from "../platforms/concurrency/ownership.js";
import { LoopError } from "../platforms/concurrency/errors.js";
import { workerHost } from "../platforms/concurrency/self.js";

/**
 * The state of an App. It stays on its loop. In a worker, where no start-up hook fills it, a name that nobody has set
 * is an error instead of `undefined`: a handler would go on without what the server has.
 */
export function createState(): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  const state = workerHost() ? new Proxy(plain, { get: read }) : plain;
  keepOnLoop(state);
  return state;
}

function read(state: Record<string, unknown>, name: string | symbol): unknown {
  if (typeof name === "symbol" || name in state) return Reflect.get(state, name);
  throw new LoopError(
    `app.state.${name} is not set in a worker of the pool: start-up hooks run on the server's loop only. Make the ` +
      "handler async, or let a dependency give it the data.",
  );
}
