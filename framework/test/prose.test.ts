/** Tests the rules for prose with texts that break them and texts that do not. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

import { beforeAll, describe, expect, it } from "@jest/globals";

import { createFolder } from "./support/folder.js";

const ROOT = path.resolve(import.meta.dirname, "../..");
const FOLDER = createFolder({});

const violating: readonly (readonly [what: string, name: string, content: string, violation: string])[] = [
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
];

const plain: readonly (readonly [what: string, name: string, content: string])[] = [
  ["plain words", "page.md", "The server responds with 404.\n"],
  ["questions", "page.md", "## What is a dependency?\n"],
  ["code", "page.md", "It returns `answer`.\n\n```ts\nconst answer = nothing;\n```\n"],
  ["texts that tests send", "a.test.ts", 'send("nobody came");\n'],
];

/** The file of a case, which the case names relative to a folder of tests. */
const fileOf = (what: string, name: string) => path.join(FOLDER, what.replaceAll(" ", "-"), "test", name);

describe("the rules for prose", () => {
  let violations: readonly (readonly [file: string, violation: string])[];

  /** One run checks the files of all cases: it takes longest to load the dictionary. */
  beforeAll(() => {
    const cases = [...violating, ...plain];
    for (const [what, name, content] of cases) {
      mkdirSync(path.join(FOLDER, what.replaceAll(" ", "-"), "test"), { recursive: true });
      writeFileSync(fileOf(what, name), content);
    }
    const files = cases.map(([what, name]) => fileOf(what, name));
    const stdout = execFileSync(process.execPath, [path.join(ROOT, ".ci/check-prose.js"), ...files], {
      encoding: "utf8",
    });
    violations = [...stdout.matchAll(/^(\S+):\d+ (.+)$/gm)].map(([, file = "", violation = ""]) => [
      path.resolve(ROOT, file),
      violation,
    ]);
  });

  const violationsOf = (what: string, name: string) =>
    violations.filter(([file]) => file === fileOf(what, name)).map(([, violation]) => violation);

  it.each(violating)("report %s", (what, name, _content, violation) => {
    expect(violationsOf(what, name)).toContain(violation);
  });

  it.each(plain)("accept %s", (what, name) => {
    expect(violationsOf(what, name)).toEqual([]);
  });
});
