import { describe, expect, it } from "@jest/globals";
import { selfTimes } from "../src/cpu-profile.js";

const frame = (functionName: string, url: string, lineNumber: number) => ({ functionName, url, lineNumber });

describe("selfTimes", () => {
  it("adds samples up by function and divides them by the requests, the most expensive first", () => {
    const times = selfTimes(
      {
        nodes: [
          { id: 1, callFrame: frame("resolve", "file:///a/router/walk.js", 9) },
          { id: 2, callFrame: frame("", "", -1) },
          { id: 3, callFrame: frame("resolve", "file:///a/router/walk.js", 9) },
        ],
        samples: [1, 2, 3, 1],
        timeDeltas: [100, 100, 100, 100],
      },
      100,
    );
    expect(times).toEqual([
      { name: "resolve router/walk.js:10", ns: 3_000, share: 0.75 },
      { name: "(anonymous)", ns: 1_000, share: 0.25 },
    ]);
  });
});
