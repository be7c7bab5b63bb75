/**
 * The processor time of other programs during a measurement. If it is too high, a measured time does not describe the
 * server.
 */
import { readFileSync } from "node:fs";
import { cpus } from "node:os";

/** Ticks of the clock a second, in which Linux counts a process's time. */
const TICKS = 100;

/** Looks from now on. Gives what tells the share of all cores that neither this process nor the other has had. */
export function watchOthers(pid) {
  const before = look(pid);
  return () => {
    const after = look(pid);
    const passed = after.all - before.all;
    return (passed - (after.idle - before.idle) - (after.own - before.own)) / passed;
  };
}

/** Milliseconds since some time. */
function look(pid) {
  const times = cpus().map((cpu) => cpu.times);
  const { user, system } = process.cpuUsage();
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return {
    all: sum(times.flatMap((time) => Object.values(time))),
    idle: sum(times.map(({ idle }) => idle)),
    own: (user + system) / 1000 + ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS,
  };
}

const sum = (values) => values.reduce((left, right) => left + right, 0);
