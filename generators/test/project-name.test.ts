import { describe, expect, it } from "@jest/globals";
import { findNameFault, folderOf, quoteName } from "../src/project-name.js";

describe("the name of a project", () => {
  it.each(["my-app", "a", "app.v2", "app_2", "2024", "@acme/my-app", "constructor", "x".repeat(214)])(
    "takes %j",
    (name) => {
      expect(findNameFault(name)).toBeNull();
    },
  );

  it.each([
    ["", "empty"],
    ["My-App", "capital letters"],
    ["../x", "path"],
    ["a/b", "path"],
    ["/etc", "path"],
    ["@acme/a/b", "path"],
    ["@/a", "path"],
    [".", "dot"],
    ["..", "dot"],
    [".hidden", "dot"],
    ["@acme/.x", "dot"],
    ["_private", "underscore"],
    ["__proto__", "underscore"],
    ["my app", "use a-z"],
    ["my\\app", "use a-z"],
    ["ümlaut", "use a-z"],
    ["a;rm", "use a-z"],
    ["a\u0000b", "use a-z"],
    ["a\nb", "use a-z"],
    ["-x", "flag"],
    ["node_modules", "keeps back"],
    ["http", "keeps back"],
    ["x".repeat(215), "215 characters"],
    ["x".repeat(300), "300 characters"],
  ])("rejects %j with the reason", (name, reason) => {
    expect(findNameFault(name)).toContain(reason);
  });

  it("is quoted on one short line in a message", () => {
    expect(quoteName("a\nb\u001b[31m")).toBe(String.raw`"a\nb\u001b[31m"`);
    expect(quoteName("x".repeat(300)).length).toBeLessThan(50);
  });

  it("names the folder without its scope", () => {
    expect(folderOf("@acme/my-app")).toBe("my-app");
    expect(folderOf("my-app")).toBe("my-app");
  });
});
