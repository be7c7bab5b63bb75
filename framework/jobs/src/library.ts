/** Loads `pg-boss`, the peer dependency. @module */
import { missingPackage } from "tsgi/internals";
import { jobsError } from "./errors.js";

// oxlint-disable-next-line typescript/consistent-type-imports -- the type of a module that is loaded at its first use
export type PgBossModule = typeof import("pg-boss");

/** pg-boss 12 uses what Node.js has from this version on, and imports without complaint on older ones. */
const REQUIRED = [22, 12] as const;

/** @throws ConfigurationError on a Node.js on which pg-boss does not work. */
export function assertNodeVersion(version = process.versions.node): void {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isEnough = major > REQUIRED[0] || (major === REQUIRED[0] && minor >= REQUIRED[1]);
  if (!isEnough) throw jobsError("TSGI_JOBS_NODE_VERSION", version);
}

/** Imports pg-boss. @throws ConfigurationError if it is not installed. */
export function loadPgBoss(): Promise<PgBossModule> {
  return import("pg-boss").catch(missingPackage(() => jobsError("TSGI_MISSING_PG_BOSS")));
}
