import { readFileSync } from "node:fs";

/** Linux reports processor time in hundredths of a second for any clock of the kernel (`sysconf(_SC_CLK_TCK)`). */
const TICKS_PER_SECOND = 100;

/**
 * Processor time, user and system, of this process and of its children that have ended, in seconds. `process.cpuUsage`
 * has no children. The fields are from proc(5); the name in parentheses can contain spaces.
 */
export function processorSeconds() {
  const stat = readFileSync("/proc/self/stat", "latin1");
  const [utime, stime, cutime, cstime] = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(11, 15)
    .map(Number);
  return (utime + stime + cutime + cstime) / TICKS_PER_SECOND;
}
