/** What runs in a worker, whatever it is: a process or a thread. @module */
import { detachResult } from "./ownership.js";
import { type HostedApp, installHost, type WorkerHost } from "./host.js";
import { type EntryModule, type Order, type Report, type SentError, type Target, toSentError } from "./protocol.js";

/** A worker's end of the way to its pool. */
export interface WorkerPort {
  /** Resolves once the report is on its way for good. @throws when it cannot be cloned. */
  send(report: Report): Promise<void>;
  onOrder(listener: (order: Order) => void): void;
  /** Lets the worker wait for orders. */
  ref(): void;
  /** Lets the worker's loop run empty, which tells that its module has done all that it does. */
  unref(): void;
}

/** Makes this process or thread a worker that does what its pool says. */
export function runWorker(port: WorkerPort): void {
  const worker = new Worker(port);
  installHost(worker);
  port.onOrder((order) => worker.take(order));
}

class Worker implements WorkerHost {
  readonly #port: WorkerPort;
  readonly #apps: HostedApp[] = [];
  #used: HostedApp | null = null;

  constructor(port: WorkerPort) {
    this.#port = port;
  }

  register(app: HostedApp): void {
    this.#apps.push(app);
  }

  hold(): Promise<never> {
    this.#reportTables(false);
    return new Promise<never>(() => {});
  }

  take(order: Order): void {
    if (order.type === "start") void this.#start(order.entry);
    else if (order.type === "use") this.#used = this.#apps[order.app] ?? null;
    else void this.#run(order.id, order.target, order.args);
  }

  async #start(entry: EntryModule | null): Promise<void> {
    if (entry === null) return void this.#port.send({ type: "ready" });
    // A program may ask which module is its main one, and runs its main part in a worker as well.
    if (entry.main !== null) process.argv[1] = entry.main;
    process.on("beforeExit", () => {
      this.#port.ref();
      this.#reportTables(true);
    });
    this.#port.unref();
    try {
      await import(entry.url);
    } catch (error) {
      return void this.#port.send({ type: "failed", error: toSentError(error) });
    }
    this.#reportTables(entry.isNamed);
  }

  #reportTables(isFinal: boolean): void {
    const tables = this.#apps.map((app) => ({ title: app.title, routes: app.routes() }));
    void this.#port.send({ type: "tables", tables, isFinal });
  }

  async #run(id: number, target: Target, args: readonly unknown[]): Promise<void> {
    await this.#port.send({ type: "begun", id });
    const startedAt = performance.now();
    const elapsed = () => performance.now() - startedAt;
    try {
      const value = target.type === "export" ? await callExport(target, args) : await this.#callRoute(target, args);
      await this.#port.send({ type: "done", id, value, elapsedMs: elapsed() });
    } catch (error) {
      await this.#sendError(id, toSentError(error), elapsed());
    }
  }

  #callRoute(target: Target & { type: "route" }, args: readonly unknown[]): unknown {
    if (this.#used === null) throw new Error("The worker was not told whose routes it serves.");
    return this.#used.call(target.route, args[0] as object);
  }

  async #sendError(id: number, error: SentError, elapsedMs: number): Promise<void> {
    try {
      await this.#port.send({ type: "thrown", id, error, elapsedMs });
    } catch (unsendable) {
      // The detail of an HTTPException may be anything.
      await this.#port.send({ type: "thrown", id, error: toSentError(unsendable), elapsedMs });
    }
  }
}

async function callExport(target: Target & { type: "export" }, args: readonly unknown[]): Promise<unknown> {
  const { module, name } = target;
  const exports = (await import(module)) as Readonly<Record<string, unknown>>;
  const fn = exports[name] as ((...args: readonly unknown[]) => unknown) | undefined;
  if (typeof fn !== "function") {
    throw new TypeError(`${module} should export a function ${JSON.stringify(name)}; what it exports is ${typeof fn}.`);
  }
  const result: unknown = await fn(...args);
  return detachResult(result, (path, what) => `The ${path} of ${name}() is ${what}, which stays where it was made.`);
}
