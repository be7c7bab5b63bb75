import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";

import { installLoop, loopName, useLoopPackage } from "../../../src/platforms/concurrency/loop.js";
import { ConfigurationError } from "../../../src/common/exceptions.js";

const none = () => {};
const uWebSockets = { App: none, SSLApp: none, us_listen_socket_close: none, us_socket_local_port: none };

describe("the loop", () => {
  beforeEach(() => {
    useLoopPackage(uWebSockets);
    installLoop("libuv");
  });

  afterEach(() => {
    useLoopPackage(null);
    installLoop();
  });

  it("is the fastest available one by default", () => {
    expect(installLoop()).toBe("uwebsockets");
    expect(loopName()).toBe("uwebsockets");
  });

  it("is Node's own if uWebSockets.js cannot be loaded, requested or not, without an error", () => {
    useLoopPackage(null);
    expect(installLoop("uwebsockets")).toBe("libuv");
    expect(installLoop()).toBe("libuv");
    expect(loopName()).toBe("libuv");
  });

  it("is Node's own if requested", () => {
    installLoop();
    expect(installLoop("libuv")).toBe("libuv");
    expect(loopName()).toBe("libuv");
  });

  it("has one of two names", () => {
    expect(() => installLoop("asyncio" as "libuv")).toThrow(ConfigurationError);
    expect(loopName()).toBe("libuv");
  });
});
