import { describe, expect, it } from "@jest/globals";
import { PAIRED_SECTIONS, readSettings } from "../src/settings.js";

describe("readSettings", () => {
  it("measures the reference protocol, without peers", () => {
    expect(readSettings({})).toMatchObject({
      quick: false,
      peers: false,
      sections: ["direct", "routing", "http", "start"],
      warmUp: 500,
      requests: 50_000,
      lookups: 500_000,
      rounds: 5,
    });
  });

  it("measures every section with PEERS=1, in less than 25 minutes", () => {
    const { sections, seconds } = readSettings({ PEERS: "1" });
    expect(sections).toEqual(PAIRED_SECTIONS);
    expect(seconds).toBeLessThan(25 * 60);
  });

  it("measures less with QUICK=1, and warms up as long", () => {
    const quick = readSettings({ QUICK: "1" });
    expect(quick.requests).toBeLessThan(50_000);
    expect(quick.warmUp).toBe(500);
  });

  it("takes empty and 0 as off, as make hands unset variables on", () => {
    expect(readSettings({ QUICK: "", PEERS: "0", ONLY: "", TIME: "" })).toEqual(readSettings({}));
  });

  it("measures only the sections that ONLY names, as long as TIME allows", () => {
    expect(readSettings({ ONLY: "routing, http", TIME: "90" })).toMatchObject({
      sections: ["routing", "http"],
      seconds: 90,
    });
    expect(readSettings({ ONLY: "bun,deno", PEERS: "1" }).sections).toEqual(["bun", "deno"]);
  });

  it.each([
    [{ QUICK: "yes" }, 'Expected QUICK to be 1 or 0, not "yes".'],
    [{ ONLY: "speed" }, 'Expected ONLY to name direct, routing, http, start, not "speed".'],
    [{ TIME: "soon" }, 'Expected TIME to be seconds from 1 to 86400, not "soon".'],
  ])("rejects %j", (environment, message) => {
    expect(() => readSettings(environment)).toThrow(new TypeError(message));
  });
});
