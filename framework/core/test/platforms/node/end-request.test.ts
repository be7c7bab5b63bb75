import { describe, expect, it } from "@jest/globals";
import { endSignals } from "../../../src/platforms/node/end-request.js";

describe("the signals that ask a process to end", () => {
  it.each(["linux", "darwin"] as const)("leave SIGHUP to other listeners on %s", (platform) => {
    expect(endSignals(platform)).toEqual(["SIGTERM", "SIGINT"]);
  });

  it("contain Ctrl-Break and the end of the console on Windows", () => {
    expect(endSignals("win32")).toEqual(expect.arrayContaining(["SIGINT", "SIGBREAK", "SIGHUP"]));
  });
});
