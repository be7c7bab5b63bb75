/** The processor time of a process, from `/proc`. @module */
import { readdirSync, readFileSync } from "node:fs";

/** Clock ticks a second in `/proc`: the kernel's USER_HZ, 100 on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;

/** User and system time are rounded down each, at both ends, and the scheduler counts a running thread up to its last tick. */
const ROUNDING_TICKS = 3;

/** Readings of the processor time of a process; `null` where the system does not tell. */
export interface Readings {
  /** That of all its threads, ended ones too. */
  readonly ticks: () => number | null;
  /** That of the threads which it has now. */
  readonly threadSeconds: () => number | null;
}

/**
 * Begins to measure the processor time of a process. Ticks are hundredths of a second, and 10,000 requests of a fast server are 15
 * of them. The times of threads are exact, but a thread takes its own along when it ends: ticks count where the two differ.
 *
 * @returns Gives the seconds since then, or `null` where the system does not tell.
 */
export function watchProcessor(
  pid: number,
  read: Readings = { ticks: () => processorTicks(pid), threadSeconds: () => threadSeconds(pid) },
): () => number | null {
  const ticksSince = since(read.ticks);
  const secondsSince = since(read.threadSeconds);
  return () => {
    const ticks = ticksSince();
    const seconds = secondsSince();
    if (ticks === null) return null;
    const isExact = seconds !== null && Math.abs(seconds * TICKS_PER_SECOND - ticks) < ROUNDING_TICKS;
    return isExact ? seconds : ticks / TICKS_PER_SECOND;
  };
}

function since(read: () => number | null): () => number | null {
  const before = read();
  return () => {
    const after = read();
    return before === null || after === null ? null : after - before;
  };
}

/**
 * The processor time that a process has used, all its threads together, in ticks; `null` where the system does not tell.
 *
 * @param withEnded - Adds the time of its exited children and their descendants.
 * @see man 5 proc, `/proc/[pid]/stat`, fields 14 to 17
 */
export function processorTicks(pid: number | "self", withEnded = false): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields.slice(11, withEnded ? 15 : 13).reduce((sum, field) => sum + Number(field), 0);
  } catch {
    return null;
  }
}

/**
 * The processor seconds of the threads that a process has now; `null` where the system does not tell.
 *
 * @see https://docs.kernel.org/scheduler/sched-stats.html, `/proc/<pid>/schedstat`: its first number, in nanoseconds
 */
export function threadSeconds(pid: number): number | null {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`);
    const times = tasks.map((task) => readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]);
    return times.reduce((sum, time) => sum + Number(time), 0) / 1e9;
  } catch {
    return null;
  }
}
