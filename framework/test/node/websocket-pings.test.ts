/** Rounds of pings, and whom they end. */
import { describe, expect, it } from "@jest/globals";
import { ClientProgress } from "../../src/node/websocket/client-progress.js";

/** The figures of a socket: bytes written by the server, bytes that wait, and those of the write in progress that are unsent. */
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
