/** How an application finds out that it is in a worker of a pool, and makes itself known there. @module */

/** An application in a worker: what its routes are, and the way to their handlers. */
export interface HostedApp {
  readonly title: string;
  /** Each `METHOD pattern`. */
  routes(): readonly string[];
  /** Calls the handler of a route, and gives its result in a form that travels. */
  call(route: string, args: object): unknown;
}

/** What a worker is to the applications in it. */
export interface WorkerHost {
  /** Makes an application known. */
  register(app: HostedApp): void;
  /** Says that the routes are there, and never settles: a worker serves nobody. */
  hold(): Promise<never>;
}

/** A property of the global object, so that two copies of this package meet: one of the worker, one of a bundle. */
const HOST: unique symbol = Symbol.for("tsgi.worker");

/** The worker that this code runs in, or `null` in the server's own process and thread. */
export function workerHost(): WorkerHost | null {
  return (globalThis as { [HOST]?: WorkerHost })[HOST] ?? null;
}

/** Makes this process or thread a worker. */
export function installHost(host: WorkerHost): void {
  (globalThis as { [HOST]?: WorkerHost })[HOST] = host;
}
