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
const TICKS_PER_SECOND = 100;

/**
 * The processor seconds that a process has used, its threads together, or `null` where the system does not tell.
 *
 * @see man 5 proc, `/proc/[pid]/stat`, fields 14 and 15
 */
export function processorSeconds(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    return null;
  }
}
