import { describe, expect, it, jest } from "@jest/globals";

/** As Node fails for a package that is not there. */
const absent = () => {
  throw Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
};

describe.each([
  ["@tsgi/otel", "@opentelemetry/api", "TSGI_MISSING_OPENTELEMETRY", () => import("../src/import.js")],
  ["@tsgi/metrics", "prom-client", "TSGI_MISSING_PROM_CLIENT", () => import("@tsgi/metrics")],
])("%s without %s", (entry, library, code, load) => {
  it("fails with the command that installs it", async () => {
    jest.unstable_mockModule(library, absent);
    await expect(load()).rejects.toMatchObject({
      name: "ConfigurationError",
      code,
      message: expect.stringContaining(`${entry} requires the package ${library}`),
      cause: expect.anything(),
    });
    await expect(load()).rejects.toThrow(`npm install ${library}`);
  });
});
