/** The drivers of the table, and the table itself. @module */
import { describe, expect, it } from "@jest/globals";
import { fetchedUws } from "../../../uwebsockets/test/_uws.js";
import { drivers } from "./_drivers.js";
import { statements } from "./_statements.js";

describe("the drivers", () => {
  it("are six, one of them only if uWebSockets.js was fetched with `node framework/scripts/uws.js`", () => {
    const names = ["HTTP/1.1", "HTTP/2", "toNodeHandler", "uWebSockets.js", "fetch", "TestClient"];
    const missing = fetchedUws() === null ? ["uWebSockets.js"] : [];
    expect(drivers.map(({ name }) => name)).toEqual(names.filter((name) => !missing.includes(name)));
  });

  const lacks = drivers.flatMap(({ name, lacks: all }) => {
    return Object.entries(all).flatMap(([feature, lack]) => (lack.isReal ? [{ name, feature, ...lack }] : []));
  });

  it.each(lacks)("$name lacks the feature '$feature': $reason", async ({ isReal }) => {
    expect(await isReal?.()).toBe(true);
  });
});

describe("the table", () => {
  it("has each statement once", () => {
    const titles = statements.map(({ title }) => title);
    expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
  });
});
