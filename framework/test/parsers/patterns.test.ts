/** Each pattern in the sources takes steps in proportion to the length of its text, even if no client sends that text. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "@jest/globals";
import ts from "typescript-5.9";
import { FRAMEWORK } from "../support/packages.js";
import { WorkRecorder } from "../support/pattern-steps.js";

const ROOT = join(FRAMEWORK, "..");
const SOURCES = [
  "sample-auth-app/src",
  "generators/templates",
  ...readdirSync(FRAMEWORK).map((name) => `framework/${name}/src`),
];

const LENGTH = 128;
/** A search that begins again at each character takes more than 100. */
const STEPS_PER_CHARACTER = 40;

function* patternsOf(folder: string): Iterable<readonly [place: string, pattern: RegExp]> {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" });
  for (const file of files.filter((name) => name.endsWith(".ts") && !/(?:^|\/)(?:generated|test)\//.test(name))) {
    const path = `${folder}/${file}`;
    const source = ts.createSourceFile(path, readFileSync(join(ROOT, path), "utf8"), ts.ScriptTarget.ESNext);
    const found: string[] = [];
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) found.push(node.text);
      ts.forEachChild(node, visit);
    };
    visit(source);
    for (const text of new Set(found)) {
      const end = text.lastIndexOf("/");
      yield [`${path}: ${text}`, new RegExp(text.slice(1, end), text.slice(end + 1))];
    }
  }
}

const CHARACTERS = ' \t,;="\\/:.-%+a0\r\n';

/** Runs of a character that grammars treat in their own way, or that the pattern has, each between other characters. */
function* texts(pattern: RegExp): Iterable<string> {
  const literals = pattern.source.replaceAll(/\\(?:u.{4}|x..|[a-zA-Z0])/g, "");
  for (const character of new Set(CHARACTERS + literals)) {
    for (const other of ["a", "0", " ", ";", "\r"]) {
      yield other + character.repeat(LENGTH) + other;
      yield (other + character).repeat(LENGTH / 2);
    }
  }
}

/** Searches all of a text, as `replaceAll` and `split` do. */
function search(pattern: RegExp, text: string): void {
  if (pattern.sticky) pattern.exec(text);
  else text.replaceAll(new RegExp(pattern, `${pattern.flags.replace("g", "")}g`), "");
}

it("takes a number of steps in proportion to its text", () => {
  const found: string[] = [];
  using recorder = new WorkRecorder();
  for (const folder of SOURCES.filter((name) => existsSync(join(ROOT, name)))) {
    for (const [place, pattern] of patternsOf(folder)) {
      for (const text of texts(pattern)) {
        const most = STEPS_PER_CHARACTER * text.length;
        recorder.take(0);
        search(pattern, text);
        const { steps } = recorder.take(most + 1);
        if (steps <= most) continue;
        found.push(`${place} ${JSON.stringify(text.slice(0, 8))} ${steps}`);
        break;
      }
    }
  }
  expect(found).toEqual([]);
});
