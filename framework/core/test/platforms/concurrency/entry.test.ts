import { pathToFileURL } from "node:url";
import { describe, expect, it } from "@jest/globals";
import { toModuleURL } from "../../../src/platforms/concurrency/entry.js";

describe("the module of a worker", () => {
  it.each(["/srv/app.js", "/srv/@scope/a+b, c (1)/app.js", "/srv/50% ü/a?b#c.js", "/srv/a\\b.js"])(
    "has the URL by which other modules import it, so that it is loaded once: %s",
    (path) => {
      expect(toModuleURL(path)).toBe(pathToFileURL(path).href);
    },
  );

  it("may be a path of Windows, or a URL", () => {
    expect(toModuleURL("C:\\app\\@scope\\main.js")).toBe("file:///C:/app/@scope/main.js");
    expect(toModuleURL(new URL("file:///srv/app.js"))).toBe("file:///srv/app.js");
    expect(() => toModuleURL("./app.js")).toThrow("./app.js");
  });
});
