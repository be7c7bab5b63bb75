/** Watches what else changes figures while they are measured. @module */
import { existsSync, readFileSync } from "node:fs";
import { processorTicks } from "./processor-time.js";

/** Changes during the measurements, as shares. */
export interface Disturbance {
  /** Of the processors' time, the share that the host used for other guests (steal). */
  readonly stolen: number;
  /** Of the processors' time, what processes used that do not belong to the run. */
  readonly others: number;
  /** The change of the processors' frequency, with its sign. */
  readonly frequency: number;
}

/** Readings that the system counts up, in ticks of all processors. */
export interface Clocks {
  readonly total: number;
  readonly stolen: number;
  /** The time of all processes. Interrupts are not counted: the packets of the loopback belong to the run. */
  readonly processes: number;
  /** The time of the run: this process and all that have ended under it. */
  readonly own: number;
  readonly megahertz: number;
}

/** From this share on, each is named: two contenders that differ by less are not told apart anyway. */
const LIMITS: Disturbance = { stolen: 0.01, others: 0.05, frequency: 0.05 };

/** Begins to watch. @returns Gives what changed, when it is over. */
export function watchMachine(read: () => Clocks = readClocks): () => Disturbance {
  const before = read();
  return () => {
    const after = read();
    const shareOf = (ticks: number): number => ticks / Math.max(1, after.total - before.total);
    return {
      stolen: shareOf(after.stolen - before.stolen),
      others: Math.max(0, shareOf(after.processes - before.processes - (after.own - before.own))),
      frequency: after.megahertz / before.megahertz - 1,
    };
  };
}

/** The worst of each over several sections. */
export function worstOf(all: readonly Disturbance[]): Disturbance {
  const worst = (key: keyof Disturbance): number =>
    all.reduce((far, one) => (Math.abs(one[key]) > Math.abs(far) ? one[key] : far), 0);
  return { stolen: worst("stolen"), others: worst("others"), frequency: worst("frequency") };
}

/** A clause for each disturbance that mattered. */
export function reasonsOf({ stolen, others, frequency }: Disturbance): string[] {
  return [
    ...(stolen > LIMITS.stolen ? [`the host took ${unsigned(stolen)} of the processors' time (steal)`] : []),
    ...(others > LIMITS.others ? [`other processes used ${unsigned(others)} of the processors' time`] : []),
    ...(Math.abs(frequency) > LIMITS.frequency ? [`the processors' frequency changed by ${percent(frequency)}`] : []),
  ];
}

/** A line with the reason for noisy results, or empty. */
export function noiseLines(disturbance: Disturbance): string[] {
  const reasons = reasonsOf(disturbance);
  return reasons.length === 0 ? [] : [`Noisy: ${reasons.join(", and ")}.`];
}

/** A share with its sign: `+2.1 %`. */
export function percent(share: number): string {
  return `${share < 0 ? "−" : "+"}${unsigned(share)}`;
}

function unsigned(share: number): string {
  return `${Math.abs(share * 100).toFixed(1)} %`;
}

/** @see man 5 proc, `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal */
function readClocks(): Clocks {
  if (!existsSync("/proc/stat")) return { total: 0, stolen: 0, processes: 0, own: 0, megahertz: 1 };
  const ticks = (readFileSync("/proc/stat", "utf8").split("\n")[0] ?? "").split(/\s+/).slice(1, 9).map(Number);
  const [user = 0, nice = 0, system = 0] = ticks;
  const speeds = [...readFileSync("/proc/cpuinfo", "utf8").matchAll(/^cpu MHz\s*: ([\d.]+)/gm)];
  const megahertz = speeds.reduce((sum, [, speed]) => sum + Number(speed), 0) / Math.max(1, speeds.length);
  return {
    total: ticks.reduce((sum, tick) => sum + tick, 0),
    stolen: ticks[7] ?? 0,
    processes: user + nice + system,
    own: processorTicks("self", true) ?? 0,
    megahertz: megahertz || 1,
  };
}
