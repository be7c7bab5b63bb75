/** The fields of a log line that is written in work outside of requests, such as a job. @module */
import { nodeModule } from "../../common/platform.js";

/** Fields of a log line, by name. */
export type WorkFields = Readonly<Record<string, string | number>>;

type Storage = InstanceType<ReturnType<typeof asyncHooks>["AsyncLocalStorage"]>;

const asyncHooks = () => nodeModule("node:async_hooks", "jobs");

/** Made for the first work, so that other applications do not pay for it. */
let storage: Storage | null = null;

/** Calls a function whose log lines have these fields. */
export function withWorkFields<Result>(fields: WorkFields, fn: () => Result): Result {
  storage ??= new (asyncHooks().AsyncLocalStorage)();
  return storage.run(fields, fn);
}

/** The fields of the work that runs; an empty object outside of work. */
export function workFields(): WorkFields {
  return (storage?.getStore() as WorkFields | undefined) ?? {};
}
