/** The database that keeps the jobs cannot be reached. @module */
import { HTTPException } from "tsgi";

/**
 * Classes of SQLSTATE that say that the server is unavailable: connection exceptions, too few resources, and the stop of the
 * server (PostgreSQL manual, appendix A).
 */
const SQLSTATE = /^(?:08|53|57P)/;

const NETWORK: ReadonlySet<unknown> = new Set([
  "EAI_AGAIN",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
]);

/** Errors of `pg` that have no code. */
const MESSAGES =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/;

/** Tells if an error says that the database is unavailable. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, message, errors }: Error & { code?: unknown; errors?: unknown } = error;
  if (Array.isArray(errors)) return errors.some(isUnavailable);
  return NETWORK.has(code) || (typeof code === "string" && SQLSTATE.test(code)) || MESSAGES.test(message);
}

/** The error of a request that cannot enqueue: 503. The error of the database is its cause, and in the log. */
export function unavailable(cause: unknown): HTTPException {
  return new HTTPException(503, undefined, { headers: { "Retry-After": "1" }, cause });
}
