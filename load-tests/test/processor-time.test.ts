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
    const used = watchProcessor(process.pid);
    const before = process.cpuUsage();
    while (process.cpuUsage(before).user < 50_000); // microseconds
    const own = process.cpuUsage(before);
    const seconds = used();
    if (process.platform === "linux")
      expect(Math.abs((seconds ?? 0) - (own.user + own.system) / 1e6)).toBeLessThan(0.04);
    else expect(seconds).toBeNull();
  });

  it("is unknown for a process that has ended", () => {
    expect(watchProcessor(2 ** 30)()).toBeNull();
  });
});
