import { describe, expect, it } from "@jest/globals";
import { mergeJson } from "../src/upgrade/merge-json.js";
import { mergeProject } from "../src/upgrade/merge-project.js";
import { mergeText } from "../src/upgrade/merge-text.js";

const label = "create-tsgi 2.0.0";

describe("a text that two sides have changed", () => {
  it.each([
    ["a\nb\nc\n", "a\nb\nc\n", "a\nB\nc\n", "a\nB\nc\n"],
    ["a\nmine\nb\nc\n", "a\nb\nc\n", "a\nb\nc\ntheirs\n", "a\nmine\nb\nc\ntheirs\n"],
    ["a\nsame\n", "a\nb\n", "a\nsame\n", "a\nsame\n"],
    ["b\n", "a\nb\n", "a\nb\nc\n", "b\nc\n"],
  ])("ours %j, base %j, theirs %j merge to %j", (ours, base, theirs, expected) => {
    expect(mergeText(ours, base, theirs, label)).toEqual({ value: expected, conflicts: [] });
  });

  it("contains both between markers if they conflict", () => {
    expect(mergeText("a\nmine\nc\n", "a\nb\nc\n", "a\ntheirs\nc\n", label)).toEqual({
      value: `a\n<<<<<<< yours\nmine\n=======\ntheirs\n>>>>>>> ${label}\nc\n`,
      conflicts: ["line 2"],
    });
  });
});

describe("a JSON object that two sides have changed", () => {
  it("is merged member by member", () => {
    const base = { scripts: { a: "1", b: "1", gone: "1" }, deps: { x: "1" }, list: [1] };
    const ours = { scripts: { a: "1", b: "mine", gone: "1", own: "1" }, deps: { x: "1" }, list: [1] };
    const theirs = { scripts: { a: "2", b: "1", added: "1" }, deps: { x: "2" }, list: [1, 2] };
    expect(mergeJson(ours, base, theirs)).toEqual({
      value: { scripts: { a: "2", b: "mine", own: "1", added: "1" }, deps: { x: "2" }, list: [1, 2] },
      conflicts: [],
    });
  });

  it("keeps ours if both have changed a member, and reports it", () => {
    expect(mergeJson({ a: { b: "2" } }, { a: { b: "1" } }, { a: { b: "3" } })).toEqual({
      value: { a: { b: "2" } },
      conflicts: ['a.b: yours "2", the template\'s "3"'],
    });
  });

  it("treats names such as __proto__ as ordinary names", () => {
    const evil = JSON.parse('{"__proto__": {"polluted": true}, "constructor": {"x": 1}}');
    const { value } = mergeJson({}, {}, evil);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    expect(Object.keys(value)).toEqual(["__proto__", "constructor"]);
  });
});

describe("the files of a project", () => {
  const files = (texts: Record<string, string>) =>
    new Map(Object.entries(texts).map(([path, text]) => [path, Buffer.from(text)]));
  const merge = (ours: Record<string, string>, base: Record<string, string>, theirs: Record<string, string>) =>
    mergeProject({ ours: files(ours), base: files(base), theirs: files(theirs) }, label).map(
      ({ path, action, contents }) => [path, action, contents?.toString() ?? null],
    );

  it.each([
    ["new in the template", {}, {}, { f: "2" }, [["f", "create", "2"]]],
    ["unchanged by the user", { f: "1" }, { f: "1" }, { f: "2" }, [["f", "overwrite", "2"]]],
    ["unchanged by the template", { f: "mine" }, { f: "1" }, { f: "1" }, []],
    ["the same already", { f: "2" }, { f: "1" }, { f: "2" }, []],
    ["removed by the user", {}, { f: "1" }, { f: "2" }, [["f", "removed", null]]],
    ["removed by both", {}, { f: "1" }, {}, []],
    ["no more in the template", { f: "1" }, { f: "1" }, {}, [["f", "obsolete", null]]],
    [
      "changed by both, apart",
      { f: "a\nb\n\nX" },
      { f: "a\nb\n\nc" },
      { f: "A\nb\n\nc" },
      [["f", "merge", "A\nb\n\nX"]],
    ],
    ["no text", { f: "\0mine" }, { f: "\0" }, { f: "\0theirs" }, [["f", "conflict", null]]],
    ["none of the template's", { own: "1" }, {}, {}, []],
  ])("%s", (_what, ours, base, theirs, expected) => {
    expect(merge(ours, base, theirs)).toEqual(expected);
  });

  it("are merged by member in package.json", () => {
    const manifest = (dependencies: object) => ({ "package.json": JSON.stringify({ dependencies }) });
    const merged = merge(
      manifest({ tsgi: "1", zod: "4" }),
      manifest({ tsgi: "1" }),
      manifest({ tsgi: "2", pino: "1" }),
    );
    expect(merged).toEqual([
      ["package.json", "merge", `${JSON.stringify({ dependencies: { pino: "1", tsgi: "2", zod: "4" } }, null, 2)}\n`],
    ]);
  });
});
