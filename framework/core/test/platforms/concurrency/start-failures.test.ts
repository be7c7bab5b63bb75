import { describe, expect, it } from "@jest/globals";

import { StartFailures } from "../../../src/platforms/concurrency/errors.js";

describe("failed starts", () => {
  const clock = { now: 0 };
  const fail = (failures: StartFailures, times: number, everyMs: number) => {
    for (let count = 0; count < times; count++) {
      clock.now += everyMs;
      failures.add();
    }
  };
  const start = () => new StartFailures(() => clock.now);

  it("put off the next start for twice as long each, and five seconds at most", () => {
    const failures = start();
    const delays = Array.from({ length: 8 }, () => {
      fail(failures, 1, 1);
      return failures.delayMs;
    });
    expect(delays).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000]);
    expect(failures.delaySeconds).toBe(5);
  });

  it("are hopeless with five in ten seconds, until a worker is ready", () => {
    const failures = start();
    fail(failures, 4, 2000);
    expect(failures.isHopeless).toBe(false);
    fail(failures, 1, 2000);
    expect(failures.isHopeless).toBe(true);
    failures.succeed();
    expect([failures.isHopeless, failures.hasSucceeded]).toEqual([false, true]);
  });

  it("are not hopeless with five in more than that", () => {
    const failures = start();
    fail(failures, 8, 2501);
    expect(failures.isHopeless).toBe(false);
  });

  it("count as a series if workers become ready and exit again, and end after ten seconds without a ready worker", () => {
    const failures = start();
    fail(failures, 3, 100);
    failures.succeed();
    expect(failures.count).toBe(3);
    clock.now += 10_001;
    expect(failures.count).toBe(0);
    fail(failures, 1, 0);
    expect([failures.count, failures.delayMs]).toEqual([1, 100]);
  });
});
