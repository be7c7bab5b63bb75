import { readFileSync } from "node:fs";

/** Linux counts processor time in hundredths of a second, whatever the kernel's own clock is (`sysconf(_SC_CLK_TCK)`). */
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
