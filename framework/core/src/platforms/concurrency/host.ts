/** The worker of a pool, as the applications in it see it. @module */

/** An application in a worker: its routes and their handlers. */
export interface HostedApp {
  readonly title: string;
  /** Each `METHOD pattern`. */
  routes(): readonly string[];
  /** Calls the handler of a route, and returns its result in a form that can be sent. */
  call(route: string, args: object): unknown;
}

/** The worker that an application is in. */
export interface WorkerHost {
  /** Adds an application. */
  register(app: HostedApp): void;
  /** Reports that the routes are complete, and never settles: a worker serves no connections. */
  park(): Promise<never>;
}

/** A property of the global object, so that two copies of this package meet: one of the worker, one of a bundle. */
const HOST: unique symbol = Symbol.for("tsgi.worker");

const globals: typeof globalThis & { [HOST]?: WorkerHost } = globalThis;

/** The worker that was installed here. */
export function installedHost(): WorkerHost | null {
  return globals[HOST] ?? null;
}

/** Makes this process or thread a worker. */
export function installHost(host: WorkerHost): void {
  globals[HOST] = host;
}

/** Objects that belong to their event loop without a visible sign, such as the state of an App. */
const kept = new WeakSet();

/** Marks an object as bound to this loop: it is rejected where it would be sent to another one. */
export function keepOnLoop(object: object): void {
  kept.add(object);
}

/** Tells if an object was marked so. */
export function isKeptOnLoop(object: object): boolean {
  return kept.has(object);
}
