import { afterEach, describe, expect, it, jest } from "@jest/globals";
import { App } from "tsgi";
import { startTracing } from "../src/index.js";
import { KeptLog } from "../../test/support/kept-log.js";

const SDK = "@opentelemetry/sdk-node";
const VARIABLE = "OTEL_EXPORTER_OTLP_ENDPOINT";
const OF_TRACES = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";

afterEach(() => {
  delete process.env[VARIABLE];
  delete process.env[OF_TRACES];
  jest.resetModules();
  jest.useRealTimers();
});

describe("startTracing", () => {
  it("returns null without a collector, and does not load the SDK", async () => {
    expect(await startTracing({ logger: new KeptLog() })).toBeNull();
  });

  it.each([VARIABLE, OF_TRACES])("starts the SDK by %s, and stops it with the application", async (variable) => {
    process.env[variable] = "http://127.0.0.1:4318";
    const calls: string[] = [];
    class NodeSDK {
      start() {
        calls.push("start");
      }
      async shutdown() {
        calls.push("shutdown");
      }
    }
    jest.unstable_mockModule(SDK, () => ({ NodeSDK }), { virtual: true });
    const tracing = await startTracing({ logger: new KeptLog() });
    if (tracing === null) throw new Error("tracing has not started");
    const app = new App({ logger: new KeptLog(), instrumentation: tracing.instrumentation });
    app.onShutdown(tracing.shutdown);
    app.get("/", async () => {
      calls.push("request");
    });
    await app.fetch(new Request("http://localhost/"));
    await app.fetch.close();
    expect(calls).toEqual(["start", "request", "shutdown"]);
  });

  it("logs a warning if the collector is unavailable when the application stops", async () => {
    process.env[VARIABLE] = "http://127.0.0.1:4318";
    class NodeSDK {
      start() {}
      async shutdown() {
        throw new Error("connect ECONNREFUSED");
      }
    }
    jest.unstable_mockModule(SDK, () => ({ NodeSDK }), { virtual: true });
    const logger = new KeptLog();
    const tracing = await startTracing({ logger });
    await tracing?.shutdown();
    expect(logger.lines).toEqual(["warn The collector did not receive the last spans."]);
  });

  it("stops after five seconds without a reply from the collector", async () => {
    process.env[VARIABLE] = "http://127.0.0.1:4318";
    class NodeSDK {
      start() {}
      shutdown() {
        return new Promise(() => {});
      }
    }
    jest.unstable_mockModule(SDK, () => ({ NodeSDK }), { virtual: true });
    const logger = new KeptLog();
    const tracing = await startTracing({ logger });
    jest.useFakeTimers();
    const onStopped = jest.fn();
    void tracing?.shutdown().then(onStopped);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(onStopped).toHaveBeenCalled();
    expect(logger.lines).toEqual(["warn The collector did not receive the last spans."]);
  });

  it("logs how to install a missing SDK, and returns null", async () => {
    process.env[VARIABLE] = "http://127.0.0.1:4318";
    const missing = () => {
      throw Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
    };
    jest.unstable_mockModule(SDK, missing, { virtual: true });
    const logger = new KeptLog();
    expect(await startTracing({ logger })).toBeNull();
    expect(logger.lines).toEqual(["warn Tracing is disabled: npm install @opentelemetry/sdk-node"]);
  });

  it("throws the error of an SDK that cannot be loaded for another reason", async () => {
    process.env[VARIABLE] = "http://127.0.0.1:4318";
    jest.unstable_mockModule(
      SDK,
      () => {
        throw new Error("broken");
      },
      { virtual: true },
    );
    await expect(startTracing()).rejects.toThrow("broken");
  });
});
