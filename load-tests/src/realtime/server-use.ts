/** Processor time and memory of a server, from `/proc`: zero where the system does not tell. @module */
import { setTimeout as sleep } from "node:timers/promises";
import { residentMiB } from "../footprint.js";
import { threadSeconds, watchProcessor } from "../processor-time.js";

const POLL_MS = 25;
/** Equal readings in a row after which a memory counts as settled. */
const STEADY = 5;
const MAX_POLLS = 200;
/** Processor time between two readings below which a server rests. */
const QUIET_SECONDS = 0.001;

/** The resident memory of a server in KiB, its garbage collected, once it neither works nor grows. */
export async function settledKiB(pid: number): Promise<number> {
  process.kill(pid, "SIGUSR2");
  let resident = -1;
  let processor = 0;
  for (let polls = 0, steady = 0; polls < MAX_POLLS && steady < STEADY; polls++) {
    await sleep(POLL_MS);
    const now = { resident: residentMiB(pid) * 1024, processor: threadSeconds(pid) ?? 0 };
    steady = now.resident === resident && now.processor - processor < QUIET_SECONDS ? steady + 1 : 0;
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
  const serverUsed = watchProcessor(pid);
  const started = performance.now();
  await work();
  const seconds = (performance.now() - started) / 1_000;
  const used = process.cpuUsage(before);
  const serverSeconds = serverUsed() ?? 0;
  return {
    messages,
    perSecond: messages / seconds,
    clientLoad: (used.user + used.system) / 1e6 / seconds,
    ...(serverSeconds > 0 ? { perCPUSecond: messages / serverSeconds, serverLoad: serverSeconds / seconds } : {}),
  };
}
