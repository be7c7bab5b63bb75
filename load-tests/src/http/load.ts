/** The load of a client. @module */
import { readFileSync } from "node:fs";

/** The load on one server. */
export interface Load {
  readonly url: string;
  /** The server's process, whose processor time is read; 0 where that is unknown. */
  readonly serverPid: number;
  /** Connections that are open at the same time. */
  readonly connections: number;
  /** Requests that are sent on a connection before the first answer has come; one run for each. */
  readonly pipelining: readonly number[];
  /** Measured requests for each route and each pipelining. */
  readonly requests: number;
  /** Untimed requests before each measurement. */
  readonly warmUp: number;
}

/** Clock ticks a second in `/proc`: the kernel's USER_HZ, 100 on every architecture that Node runs on. */
export const TICKS_PER_SECOND = 100;

/**
 * The processor seconds that a process has used, its threads together, or `null` where the system does not tell.
 *
 * @param withEnded - Adds those of its children that have ended, and of theirs.
 * @see man 5 proc, `/proc/[pid]/stat`, fields 14 to 17
 */
export function processorSeconds(pid: number | "self", withEnded = false): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = fields.slice(11, withEnded ? 15 : 13).reduce((sum, field) => sum + Number(field), 0);
    return ticks / TICKS_PER_SECOND;
  } catch {
    return null;
  }
}
