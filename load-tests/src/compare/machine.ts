/** Watches what else changes figures while they are measured. @module */
import { existsSync, readFileSync } from "node:fs";
import { loadavg } from "node:os";

/** From this share of the machine's time on, other guests of its host count: a pair differs by as much. */
const STOLEN = 0.01;

/** From this change of the clock's frequency on, it is named. */
const FREQUENCY = 0.05;

/** Begins to watch. @returns Gives a sentence for each thing that mattered, when it is over. */
export function watchMachine(): () => string[] {
  const before = read();
  const [load = 0] = loadavg();
  return () => {
    const after = read();
    const stolen = (after.stolen - before.stolen) / Math.max(1, after.total - before.total);
    const frequency = after.megahertz / before.megahertz - 1;
    return [
      ...(load > 0.5 ? [`The machine was busy at the start (load ${load.toFixed(1)}).`] : []),
      ...(stolen > STOLEN ? [`The host took ${(stolen * 100).toFixed(1)} % of the processors' time (steal).`] : []),
      ...(Math.abs(frequency) > FREQUENCY ? [`The processors' frequency changed by ${percent(frequency)}.`] : []),
    ];
  };
}

/** A share with its sign: `+2.1 %`. */
export function percent(share: number): string {
  return `${share < 0 ? "−" : "+"}${Math.abs(share * 100).toFixed(1)} %`;
}

interface Clocks {
  readonly total: number;
  readonly stolen: number;
  readonly megahertz: number;
}

/** @see man 5 proc, `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal */
function read(): Clocks {
  if (!existsSync("/proc/stat")) return { total: 0, stolen: 0, megahertz: 1 };
  const ticks = (readFileSync("/proc/stat", "utf8").split("\n")[0] ?? "").split(/\s+/).slice(1, 9).map(Number);
  const speeds = [...readFileSync("/proc/cpuinfo", "utf8").matchAll(/^cpu MHz\s*: ([\d.]+)/gm)];
  const megahertz = speeds.reduce((sum, [, speed]) => sum + Number(speed), 0) / Math.max(1, speeds.length);
  return { total: ticks.reduce((sum, tick) => sum + tick, 0), stolen: ticks[7] ?? 0, megahertz: megahertz || 1 };
}
