import { afterEach, describe, expect, it } from "@jest/globals";

import { installLoop, loopName } from "../../src/concurrency.js";

describe("the name of the loop", () => {
  afterEach(() => installLoop("libuv"));

  it("is libuv's, until a server installs another", () => {
    expect(loopName()).toBe("libuv");
    installLoop("uwebsockets");
    expect(loopName()).toBe("uwebsockets");
  });
});
