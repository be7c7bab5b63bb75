import { describe, expect, it } from "@jest/globals";
import { watchProcessor } from "../src/processor-time.js";

/** The time between readings of 0 and these. */
function watched(ticks: number | null, seconds: number | null): number | null {
  const [ticked, exact] = [
    [0, ticks],
    [0, seconds],
  ];
  return watchProcessor(0, {
    ticks: () => ticked.shift() ?? null,
    threadSeconds: () => exact.shift() ?? null,
  })();
}

/** The processor time that this process uses from now on, in seconds. */
function secondsSince(): () => number {
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1e6;
  };
}

describe("the processor time of a process", () => {
  it.each<[number | null, number | null, number | null, string]>([
    [13, 0.1379, 0.1379, "is that of its threads, which is exact"],
    [13, 0.1, 0.13, "is in ticks where a thread has taken its own along"],
    [13, null, 0.13, "is in ticks where threads have no times"],
    [null, null, null, "is unknown where the system does not tell"],
  ])("of %p ticks and %p s is %p: it %s", (ticks, seconds, expected) => {
    expect(watched(ticks, seconds)).toBe(expected);
  });

  it("is that which it has used since", () => {
    const outer = secondsSince();
    const used = watchProcessor(process.pid);
    const inner = secondsSince();
    while (inner() < 0.1);
    const least = inner();
    const seconds = used();
    const most = outer();
    const ticks = 0.04; // rounding by the system
    if (process.platform === "linux") {
      expect(seconds).toBeGreaterThan(least - ticks);
      expect(seconds).toBeLessThan(most + ticks);
    } else expect(seconds).toBeNull();
  });

  it("is unknown for a process that has ended", () => {
    expect(watchProcessor(2 ** 30)()).toBeNull();
  });
});
