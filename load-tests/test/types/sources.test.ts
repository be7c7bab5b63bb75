import { describe, expect, it } from "@jest/globals";
import { repeat } from "../../src/types/sources.js";

describe("the sources of a large application", () => {
  it("have a module for each of its numbers", () => {
    expect(repeat("items0.ts", "class Items0 {} // items0", 3)).toEqual({
      "items0.ts": "class Items0 {} // items0",
      "items1.ts": "class Items1 {} // items1",
      "items2.ts": "class Items2 {} // items2",
    });
    expect(Object.keys(repeat("calls0.ts", "", 2))).toEqual(["calls0.ts", "calls1.ts"]);
  });

  it("repeat each line that names a module, and no other", () => {
    expect(repeat("app.ts", "new App()\n  .use(items0)\n;", 2)).toEqual({
      "app.ts": "new App()\n  .use(items0)\n  .use(items1)\n;",
    });
  });

  it("part 25 modules to an area, each in one", () => {
    const areas = repeat("area0.ts", "export const area0 = app\n  .use(items0)\n;", 26);
    expect(Object.keys(areas)).toEqual(["area0.ts", "area1.ts"]);
    expect(areas["area0.ts"]?.split("\n")).toHaveLength(27);
    expect(areas["area1.ts"]).toBe("export const area1 = app\n  .use(items25)\n;");
    expect(repeat("api.ts", "use(area0)", 26)).toEqual({ "api.ts": "use(area0)\nuse(area1)" });
  });
});
