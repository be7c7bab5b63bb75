import { describe, expect, it, jest } from "@jest/globals";
import { keepSchedule, type Line, percentile, saturate } from "../../src/latency/loops.js";

/** Lines on a clock that only the test moves. The `send` of a line gets the number of the request. */
function linesOf(count: number, send: (request: number, line: Line) => void): Line[] {
  let requests = 0;
  return Array.from({ length: count }, () => {
    const line: Line = { onAnswer: () => {}, onFault: () => {}, send: () => send(requests++, line) };
    return line;
  });
}

describe("a constant rate", () => {
  it("counts a stall of the server for every request that was due in it", async () => {
    let now = 0;
    const lines = linesOf(1, (request, line) =>
      queueMicrotask(() => {
        if (request === 0) now = 50;
        line.onAnswer();
      }),
    );
    const { latencies, lateness } = await keepSchedule(lines, 1_000, 10, () => now);
    expect([...latencies]).toEqual([41, 42, 43, 44, 45, 46, 47, 48, 49, 50]);
    expect(Math.max(...lateness)).toBe(0);
  });

  it("says how late the client itself was", async () => {
    let now = 0;
    const lines = linesOf(10, (_request, line) => queueMicrotask(line.onAnswer));
    setImmediate(() => (now = 30));
    const { lateness } = await keepSchedule(lines, 1_000, 4, () => now);
    expect([...lateness]).toEqual([0, 27, 28, 29]);
  });

  it("sends no request before its time, whether answers have come or not", async () => {
    let now = 0;
    const sent: number[] = [];
    const open: Line[] = [];
    const lines = linesOf(5, (_request, line) => {
      sent.push(now);
      if (open.push(line) === 5) queueMicrotask(() => open.forEach(({ onAnswer }) => onAnswer()));
    });
    const tick = (): void => {
      now++;
      if (sent.length < 5) setImmediate(tick);
    };
    setImmediate(tick);
    await keepSchedule(lines, 500, 5, () => now);
    expect(sent.map((time, request) => time >= request * 2)).toEqual([true, true, true, true, true]);
    expect(sent[4]).toBeGreaterThan(0);
  });

  it("waits for a slow rate to its end, and 30 s for the answers after that", async () => {
    jest.useFakeTimers({ doNotFake: ["setImmediate", "queueMicrotask", "nextTick"] });
    try {
      let fault: unknown = null;
      const lines = linesOf(1, () => {});
      keepSchedule(lines, 100, 6_000, () => 0).catch((error: unknown) => (fault = error));
      await jest.advanceTimersByTimeAsync(60_000 + 29_999);
      expect(fault).toBeNull();
      await jest.advanceTimersByTimeAsync(1);
      expect(fault).toMatchObject({ message: "not all answers came within 30 s of the last request" });
    } finally {
      jest.useRealTimers();
    }
  });

  it("ends with the fault of a line", async () => {
    const lines = linesOf(1, (_request, line) => line.onFault("a wrong answer"));
    await expect(keepSchedule(lines, 1_000, 10)).rejects.toThrow("a wrong answer");
  });
});

describe("full load", () => {
  it("sends the next request with each answer, and ends with the fault of a line", async () => {
    const lines = linesOf(2, (request, line) =>
      queueMicrotask(() => (request === 9 ? line.onFault("the tenth is wrong") : line.onAnswer())),
    );
    await expect(saturate(lines, 60, 0)).rejects.toThrow("the tenth is wrong");
  });

  it("is counted with the processor time of both sides", async () => {
    const lines = linesOf(2, (_request, line) => setImmediate(line.onAnswer));
    const { perSecond, clientLoad } = await saturate(lines, 0.01, process.pid);
    expect(perSecond).toBeGreaterThan(0);
    expect(clientLoad).toBeGreaterThan(0);
  });
});

describe("a percentile", () => {
  it.each([
    [0.5, 500],
    [0.99, 990],
    [0.999, 999],
    [1, 1_000],
  ])("of %d is the nearest rank %d", (share, rank) => {
    const sorted = Float64Array.from({ length: 1_000 }, (_, index) => index + 1);
    expect(percentile(sorted, share)).toBe(rank);
  });
});
