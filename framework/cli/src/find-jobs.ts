/** Finds the `Jobs` that a module exports, without importing `@tsgi/jobs`. @module */
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Jobs, JobsControl } from "@tsgi/jobs";
import { commandError } from "./errors.js";
import { findModule } from "./find-module.js";
import { prepareToLoad } from "./load-app.js";

/** Registered: the `Jobs` of any copy of `@tsgi/jobs` have it. */
const CONTROL: unique symbol = Symbol.for("tsgi.jobs");

function isJobs(value: unknown): value is Jobs {
  return controlOf(value) !== null;
}

function controlOf(value: unknown): JobsControl | null {
  if (typeof value !== "object" || value === null || !(CONTROL in value)) return null;
  return value[CONTROL] as JobsControl;
}

/**
 * Imports a module and returns the `Jobs` among its exports.
 *
 * @throws CommandError, or the error of the module.
 */
export async function findJobs(
  name: string | undefined,
  { allowsInline = false }: { allowsInline?: boolean } = {},
): Promise<JobsControl> {
  const file = findModule(name);
  const shownFile = path.relative(process.cwd(), file) || file;
  await prepareToLoad(file);
  const jobs = controlOf(await exportedJobs(file));
  if (jobs === null) throw commandError("TSGI_NO_JOBS_EXPORTED", shownFile);
  if (jobs.isInline && !allowsInline) throw commandError("TSGI_JOBS_ARE_INLINE", shownFile);
  return jobs;
}

/** Imports a module and returns the `Jobs` among its exports, or `null`. @throws CommandError if there are several. */
export async function exportedJobs(file: string): Promise<Jobs | null> {
  const exports = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  const values = Object.values(exports).flatMap((value: unknown) => [value, ...membersOf(value)]);
  const [first = null, ...others] = new Set(values.filter(isJobs));
  const shownFile = path.relative(process.cwd(), file) || file;
  if (others.length > 0) throw commandError("TSGI_SEVERAL_JOBS_EXPORTED", shownFile, others.length + 1);
  return first;
}

/** A compiled CommonJS module has its exports below `default`. */
function membersOf(value: unknown): unknown[] {
  return typeof value === "object" && value !== null && !isJobs(value) ? Object.values(value) : [];
}
