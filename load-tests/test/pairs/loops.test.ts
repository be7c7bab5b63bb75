import { describe, expect, it, jest } from "@jest/globals";
import { type Line, sendMany } from "../../src/pairs/loops.js";

/** Lines whose `send` gets the number of the request. */
function linesOf(count: number, send: (request: number, line: Line) => void): Line[] {
  let requests = 0;
  return Array.from({ length: count }, () => {
    const line: Line = { onAnswer: () => {}, onFault: () => {}, send: () => send(requests++, line) };
    return line;
  });
}

describe("a closed loop", () => {
  it.each([1, 2, 9])("sends 9 requests over %d connections, one at a time on each", async (connections) => {
    const open = new Set<Line>();
    let sent = 0;
    const lines = linesOf(connections, (_request, line) => {
      expect(open.has(line)).toBe(false);
      open.add(line);
      sent++;
      queueMicrotask(() => {
        open.delete(line);
        line.onAnswer();
      });
    });
    await sendMany(lines, 9);
    expect(sent).toBe(9);
  });

  it("ends with the error of a connection", async () => {
    const lines = linesOf(2, (request, line) =>
      queueMicrotask(() => (request === 9 ? line.onFault("the tenth is wrong") : line.onAnswer())),
    );
    await expect(sendMany(lines, 20)).rejects.toThrow("the tenth is wrong");
  });

  it("ends with an error after 30 s without the last response", async () => {
    jest.useFakeTimers();
    try {
      const silent = linesOf(1, () => {});
      const [sent] = await Promise.allSettled([sendMany(silent, 1), jest.advanceTimersByTimeAsync(30_000)]);
      expect(sent).toMatchObject({ reason: { message: "not all responses arrived within 30 s" } });
    } finally {
      jest.useRealTimers();
    }
  });
});
