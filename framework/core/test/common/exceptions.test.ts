import { inspect } from "node:util";
import { describe, expect, it } from "@jest/globals";
import { App, ConfigurationError, Depends, Query, RecursionError, t, withParams } from "../../src/index.js";

/** The error of a function. */
function thrownBy(fn: () => unknown): unknown {
  try {
    fn();
  } catch (error) {
    return error;
  }
  throw new Error("Nothing was thrown.");
}

describe("a ConfigurationError", () => {
  it("identifies the mistake by its code, even when printed", () => {
    const app = new App();
    const error = thrownBy(() => app.mount("/v1", app));
    expect(error).toMatchObject({ name: "ConfigurationError", code: "TSGI_MOUNTED_ON_ITSELF" });
    expect(inspect(error)).toMatch(/^ConfigurationError: mount \/v1: [^]*code: 'TSGI_MOUNTED_ON_ITSELF'/);
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({ code: "TSGI_MOUNTED_ON_ITSELF" });
  });

  it("keeps its code if the place of the mistake is prepended to its message", () => {
    const error = thrownBy(() => new App().get("/items", { params: { page: 1 as never } }, async () => null));
    expect(error).toMatchObject({ code: "TSGI_INVALID_ANNOTATION" });
    expect((error as Error).message).toMatch(/^GET \/items: the parameter "page"/);
  });

  it("has a code as a RecursionError too", () => {
    const params: Record<string, never> = {};
    const fn = withParams(params, async () => null);
    Object.assign(params, { again: Depends(fn) });
    const error = thrownBy(() => new App().get("/", { dependencies: [Depends(fn)] }, async () => null));
    expect(error).toBeInstanceOf(RecursionError);
    expect(error).toMatchObject({ code: "TSGI_CIRCULAR_DEPENDENCY" });
  });

  it("shows the line of the application, below any number of frames of the framework", () => {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 10;
    const register = () =>
      new App().get("/items", { params: { page: Query(t.Integer({ default: "one" })) } }, async () => null);
    try {
      const [head, ...frames] = (thrownBy(register) as Error).stack?.split("\n") ?? [];
      expect(head).toMatch(/^ConfigurationError: GET \/items: /);
      expect(frames.findIndex((line) => line.includes("exceptions.test"))).toBeGreaterThanOrEqual(10);
      expect(Error.stackTraceLimit).toBe(10);
    } finally {
      Error.stackTraceLimit = limit;
    }
  });

  it("consists of a message, with an optional cause, or of a class with its own code", () => {
    class PluginError extends ConfigurationError {
      override readonly name = "PluginError";
      override readonly code = "PLUGIN_NO_KEY";
    }
    expect(new ConfigurationError("Write it.")).not.toHaveProperty("code");
    expect(new ConfigurationError("Write it.", { cause: "no file" })).toMatchObject({ cause: "no file" });
    expect(new PluginError("Give a key.")).toMatchObject({ message: "Give a key.", code: "PLUGIN_NO_KEY" });
  });
});
