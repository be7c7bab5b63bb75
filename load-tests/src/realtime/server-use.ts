/** Processor time and memory of a server, from `/proc`: zero where the system does not tell. @module */
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { residentMiB } from "../footprint.js";

/**
 * The processor time of a process in milliseconds, its threads together. Ticks of `/proc/[pid]/stat` would be too coarse
 * for idle connections.
 *
 * @see https://docs.kernel.org/scheduler/sched-stats.html, `/proc/<pid>/schedstat`: its first number, in nanoseconds
 */
export function processorMs(pid: number): number {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`);
    const times = tasks.map((task) => readFileSync(`/proc/${pid}/task/${task}/schedstat`, "utf8").split(" ")[0]);
    return times.reduce((sum, time) => sum + Number(time), 0) / 1e6;
  } catch {
    return 0;
  }
}

const POLL_MS = 25;
/** Equal readings in a row after which a memory counts as settled. */
const STEADY = 5;
const MAX_POLLS = 200;
/** Processor time between two readings below which a server rests. */
const QUIET_MS = 1;

/** The resident memory of a server in KiB, its garbage collected, once it neither works nor grows. */
export async function settledKiB(pid: number): Promise<number> {
  process.kill(pid, "SIGUSR2");
  let resident = -1;
  let processor = 0;
  for (let polls = 0, steady = 0; polls < MAX_POLLS && steady < STEADY; polls++) {
    await sleep(POLL_MS);
    const now = { resident: residentMiB(pid) * 1024, processor: processorMs(pid) };
    steady = now.resident === resident && now.processor - processor < QUIET_MS ? steady + 1 : 0;
    ({ resident, processor } = now);
  }
  return resident;
}

/** Does work of so many messages. Gives their rate, that by the server's processor time, and the client's own share. */
export async function measureUse(
  pid: number,
  messages: number,
  work: () => Promise<void>,
): Promise<Record<string, number>> {
  const before = process.cpuUsage();
  const serverBefore = processorMs(pid);
  const started = performance.now();
  await work();
  const seconds = (performance.now() - started) / 1_000;
  const used = process.cpuUsage(before);
  const clientSeconds = (used.user + used.system) / 1e6;
  const serverSeconds = (processorMs(pid) - serverBefore) / 1_000;
  return {
    messages,
    perSecond: messages / seconds,
    clientLoad: clientSeconds / seconds,
    ...(serverSeconds > 0
      ? { perCPUSecond: messages / serverSeconds, clientShare: clientSeconds / serverSeconds }
      : {}),
  };
}
