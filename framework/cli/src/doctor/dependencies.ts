/** The checks of packages: on their dependencies, such as the role of a transaction, and on objects such as `Jobs`. @module */
import type { App } from "tsgi";
import { consoleLogger, endpointsOf, guardLogger, inTime, WorkScope } from "tsgi/internals";
import { showFailure } from "../errors.js";
import { fault, type Finding } from "./finding.js";

/** Registered: dependencies of any copy of a package have it, and the global object while the doctor runs. */
const EXAMINE: unique symbol = Symbol.for("tsgi.doctor");

/** The check of one dependency, which is called with the values of the params. */
interface Examined {
  readonly params: Parameters<WorkScope["add"]>[1];
  readonly examine: (args: object) => Promise<readonly Finding[]>;
}

/** Milliseconds in which a check has its params and its result. */
const CHECK_MS = 10_000;

/** A check of an object that a package has created. */
export type Check = () => Promise<readonly Finding[]>;

/**
 * Marks this process while `work` runs: a database that is opened then is connected to, but not migrated, and the objects
 * that are created then add their checks to a list.
 */
export async function whileExamining<T>(work: (checks: readonly Check[]) => Promise<T>): Promise<T> {
  const checks: Check[] = [];
  Reflect.set(globalThis, EXAMINE, checks);
  try {
    return await work(checks);
  } finally {
    Reflect.deleteProperty(globalThis, EXAMINE);
  }
}

/** Runs the checks of all dependencies of the routes; each finding is reported once. */
export async function checkDependencies(app: App): Promise<Finding[]> {
  const callables = new Set(
    endpointsOf(app).flatMap(({ plan }) => plan.allDependencies.map(({ callable }) => callable)),
  );
  const checks = [...callables].flatMap((callable) => {
    const examined = Reflect.get(callable, EXAMINE) as Examined | undefined;
    return examined === undefined ? [] : [examined];
  });
  const findings: Finding[] = [];
  for (const examined of checks) findings.push(...(await run(app, examined)));
  return [...new Map(findings.map((finding) => [finding.text, finding])).values()];
}

/** Runs the checks of objects. */
export async function checkObjects(checks: readonly Check[]): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const check of checks) {
    const ended = inTime(check(), CHECK_MS).catch((error: unknown) => [fault("packages", showFailure(error))]);
    found.push(...(await ended));
  }
  return found;
}

async function run(app: App, { params, examine }: Examined): Promise<readonly Finding[]> {
  const scope = new WorkScope({}, app.dependencyOverrides, guardLogger(consoleLogger));
  const work = scope.add(examine, params, "doctor");
  try {
    return (await inTime(work.run({}, new AbortController().signal), CHECK_MS)) as readonly Finding[];
  } catch (error) {
    return [fault("database", showFailure(error))];
  } finally {
    await scope.close();
  }
}
