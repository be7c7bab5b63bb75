/** Tests the rules for prose with texts that break them and texts that do not. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "@jest/globals";

import { createFolder } from "./support/folder.js";

const CHECK = path.resolve(import.meta.dirname, "../../.ci/check-prose.js");
const FOLDER = createFolder({ "test/empty.txt": "" });

/** The violations that the check lists for a file, without their places. */
function listViolations(name: string, content: string): string[] {
  const file = path.join(FOLDER, "test", name);
  writeFileSync(file, content);
  const { stdout } = spawnSync(process.execPath, [CHECK, file], { encoding: "utf8" });
  return [...stdout.matchAll(/^\S+:\d+ (.+)$/gm)].map(([, violation]) => violation as string);
}

describe("the rules for prose", () => {
  it.each([
    [
      "a stilted phrase on a page",
      "page.md",
      "The server answers with 404.\n",
      'stilted: "answers": response, responds with',
    ],
    ["a heading that is a clause", "page.md", "## What goes wrong\n", "clause: What goes wrong"],
    ["a stilted phrase in a comment", "a.ts", "// Runs once a request.\n", 'stilted: "once a request": per'],
    [
      "a stilted phrase in a message",
      "../a.ts",
      'throw new Error("nothing to read");\n',
      'stilted: "nothing": the actor; not, no',
    ],
    [
      "a title that is a clause",
      "a.test.ts",
      'it("that is empty is missing", run);\n',
      "clause: that is empty is missing",
    ],
    ["a title of a table", "a.test.ts", "it.each(rows)(`whose ${name} ends`, run);\n", "clause: whose"],
  ])("report %s", (_, name, content, violation) => {
    expect(listViolations(name, content)).toContain(violation);
  });

  it.each([
    ["plain words", "page.md", "The server responds with 404.\n"],
    ["questions", "page.md", "## What is a dependency?\n"],
    ["code", "page.md", "It returns `answer`.\n\n```ts\nconst answer = nothing;\n```\n"],
    ["texts that tests send", "a.test.ts", 'send("nobody came");\n'],
  ])("accept %s", (_, name, content) => {
    expect(listViolations(name, content)).toEqual([]);
  });
});
