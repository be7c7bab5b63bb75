import { describe, expect, it } from "@jest/globals";
import { readSettings, SECTIONS } from "../src/settings.js";

describe("readSettings", () => {
  it("measures the reference protocol in every section, without peers", () => {
    expect(readSettings({})).toMatchObject({
      quick: false,
      peers: false,
      sections: SECTIONS,
      warmUp: 500,
      requests: 50_000,
      lookups: 500_000,
      rounds: 5,
    });
  });

  it("warms servers up by as many requests as are measured of a slow one", () => {
    const { warmUp, slowRequests } = readSettings({}).http;
    expect(warmUp).toBeGreaterThanOrEqual(slowRequests);
  });

  it("measures less with QUICK=1, and warms up as long", () => {
    const quick = readSettings({ QUICK: "1" });
    expect(quick.requests).toBeLessThan(50_000);
    expect(quick.warmUp).toBe(500);
  });

  it("takes empty and 0 as off, as make hands unset variables on", () => {
    expect(readSettings({ QUICK: "", PEERS: "0", ONLY: "" })).toEqual(readSettings({}));
  });

  it("measures only the sections that ONLY names", () => {
    expect(readSettings({ ONLY: "routing, http" }).sections).toEqual(["routing", "http"]);
  });

  it.each([
    [{ QUICK: "yes" }, 'Expected QUICK to be 1 or 0, not "yes".'],
    [{ ONLY: "speed" }, 'Expected ONLY to name direct, routing, http, database, runtimes, footprint, not "speed".'],
  ])("rejects %j", (environment, message) => {
    expect(() => readSettings(environment)).toThrow(new TypeError(message));
  });
});
