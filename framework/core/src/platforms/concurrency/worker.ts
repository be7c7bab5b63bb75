/** The program of a worker, be it a process or a thread. @module */
import {
  type EntryModule,
  type Order,
  type Report,
  runInContext,
  type RunOrder,
  type TaskTarget,
  toSentError,
} from "./protocol.js";
import { keepOutputs } from "../../common/logger.js";
import { type HostedApp, installHost } from "./host.js";

/** A worker's end of the channel to its pool. */
export interface WorkerPort {
  /** Resolves once the report is on its way for good. @throws when it cannot be cloned. */
  send(report: Report): Promise<void>;
  onOrder(listener: (order: Order) => void): void;
  /** Lets the worker wait for orders. */
  ref(): void;
  /** Lets the worker's loop run empty, which shows that its module has done all that it does. */
  unref(): void;
}

/**
 * Makes this process or thread a worker that obeys its pool.
 *
 * @param options.isProgram - Whether it runs the application as its program, which then needs no import.
 */
export function runWorker(port: WorkerPort, { isProgram = false } = {}): void {
  keepOutputs(); // a handler may write
  const apps: HostedApp[] = [];
  let used: HostedApp | null = null;

  const reportTables = (isFinal: boolean): void => {
    const tables = apps.map((app) => ({ title: app.title, routes: app.routes() }));
    void port.send({ type: "tables", tables, isFinal });
  };

  async function start(entry: EntryModule | null): Promise<void> {
    if (entry === null) return void port.send({ type: "ready" });
    process.on("beforeExit", () => {
      port.ref();
      reportTables(true);
    });
    port.unref();
    if (isProgram) return;
    // A program may compare its own file with argv[1], where Node puts the worker's: no option of `fork` or `Worker` sets it.
    if (entry.main !== null) process.argv[1] = entry.main;
    try {
      await import(/* webpackIgnore: true */ /* @vite-ignore */ entry.url);
    } catch (error) {
      return void port.send({ type: "failed", error: toSentError(error) });
    }
    reportTables(entry.isNamed);
  }

  async function run({ id, target, args, context }: RunOrder): Promise<void> {
    await port.send({ type: "begun", id });
    const startedAt = performance.now();
    const sendError = (error: unknown) =>
      port.send({ type: "thrown", id, error: toSentError(error), elapsedMs: performance.now() - startedAt });
    try {
      const value = await runInContext(context, () =>
        target.type === "export" ? callExport(target, args) : callRoute(used, target.route, args),
      );
      await port.send({ type: "done", id, value, elapsedMs: performance.now() - startedAt });
    } catch (error) {
      await sendError(error).catch(sendError); // the detail of an HTTPException may be anything
    }
  }

  installHost({
    register: (app) => void apps.push(app),
    park: () => {
      reportTables(false);
      return new Promise<never>(() => {});
    },
  });
  port.onOrder((order) => {
    if (order.type === "start") void start(order.entry);
    else if (order.type === "use") used = apps[order.app] ?? null;
    else void run(order);
  });
}

function callRoute(app: HostedApp | null, route: string, args: readonly unknown[]): unknown {
  if (app === null) throw new Error("The worker was not told whose routes it serves.");
  return app.call(route, args[0] as object);
}

async function callExport(target: TaskTarget & { type: "export" }, args: readonly unknown[]): Promise<unknown> {
  const { module, name } = target;
  const exports = (await import(/* webpackIgnore: true */ /* @vite-ignore */ module)) as Readonly<
    Record<string, unknown>
  >;
  const fn = exports[name] as ((...args: readonly unknown[]) => unknown) | undefined;
  if (typeof fn !== "function") {
    throw new TypeError(`${module} should export a function ${JSON.stringify(name)}; the export is ${typeof fn}.`);
  }
  // Imported before the call: a function may block the loop after it has returned.
  const { detachResult } = await import("./ownership.js");
  const result: unknown = await fn(...args);
  return detachResult(
    result,
    (path, what) => `The ${path} of ${name}() is ${what}, which cannot be sent from a worker.`,
  );
}
