/** Rounds of pings, and whom they end. */
import { describe, expect, it } from "@jest/globals";
import { ClientProgress } from "../../../src/platforms/node/websocket/pings.js";

/** The state of a socket: bytes written by the server, waiting bytes, and unsent bytes of the write in progress. */
const socket = (bytesWritten: number, writableLength: number, writeQueueSize?: number) => ({
  bytesWritten,
  writableLength,
  _handle: writeQueueSize === undefined ? null : { writeQueueSize },
});

describe("a client", () => {
  it.each<[string, ReturnType<typeof socket>[], string[]]>([
    ["that has read everything is idle", [socket(10, 0, 0), socket(10, 0, 0)], ["idle", "idle"]],
    [
      "that reads some of a long message reads",
      [socket(9000, 9000, 8000), socket(9000, 9000, 7999)],
      ["reading", "reading"],
    ],
    [
      "that reads as much as is written reads",
      [socket(9000, 9000, 8000), socket(18_000, 9000, 8000)],
      ["reading", "reading"],
    ],
    ["that reads nothing has stalled", [socket(9000, 9000, 8000), socket(9000, 9000, 8000)], ["reading", "stalled"]],
    [
      "for which more is queued has stalled",
      [socket(9000, 9000, 8000), socket(9002, 9002, 8000)],
      ["reading", "stalled"],
    ],
    [
      "for which bytes wait for the first time reads",
      [socket(10, 0, 0), socket(9000, 9000, 8000)],
      ["idle", "reading"],
    ],
    [
      "is given time where unsent bytes are not counted",
      [socket(90_000, 80_000), socket(90_000, 80_000)],
      ["reading", "reading"],
    ],
    ["is given no more than its bytes need", [socket(900, 800), socket(900, 800)], ["reading", "stalled"]],
  ])("%s", (_what, rounds, expected) => {
    const progress = new ClientProgress();
    expect(rounds.map((round, index) => progress.check(round, 1000 + index * 1000))).toEqual(expected);
  });
});

describe("a pong", () => {
  it("is late at the next round, without bytes that the system buffers for the client", () => {
    const progress = new ClientProgress();
    progress.pinged(socket(12, 0, 0), 1000);
    expect(progress.isPongLate(1100)).toBe(true);
    progress.ponged();
    expect(progress.isPongLate(9000)).toBe(false);
  });

  it("may take a millisecond more for each 16 bytes since the last one, up to 4 MiB", () => {
    const progress = new ClientProgress();
    progress.pinged(socket(1_600_000, 0, 0), 1000);
    progress.pinged(socket(1_600_002, 0, 0), 21_000);
    expect([progress.isPongLate(90_000), progress.isPongLate(101_000)]).toEqual([false, true]);
    progress.ponged();
    progress.pinged(socket(1_000_000_000, 0, 0), 200_000);
    expect([progress.isPongLate(462_000), progress.isPongLate(462_144)]).toEqual([false, true]);
    progress.forgetPing();
    expect(progress.isPongLate(1_000_000)).toBe(false);
  });
});
