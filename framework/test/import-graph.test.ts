import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "@jest/globals";

/** The folders of the core: each imports only from those before it, types too. */
const FOLDERS = [
  "common",
  "protocol",
  "http",
  "middleware",
  "schema",
  "parameters",
  "routing",
  "openapi",
  "platforms",
  "app",
  "contrib",
];

/** The entry points, which combine the exports of several files. Files inside do not import them. */
const DOORS = [
  "index.ts",
  "node.ts",
  "internals.ts",
  "contrib/settings/index.ts",
  "middleware/index.ts",
  "openapi/index.ts",
  "parameters/security/index.ts",
  "platforms/concurrency/index.ts",
  "platforms/testing/index.ts",
  "platforms/web/index.ts",
];

const root = path.resolve(import.meta.dirname, "../..");
const framework = path.join(root, "framework");
const sources = path.join(framework, "core/src");

/** The packages of the framework that have sources. */
const PACKAGES = readdirSync(framework).filter((name) => existsSync(path.join(framework, name, "src")));

interface Import {
  /** As written, such as `./router/path.js` or `node:fs`. */
  specifier: string;
  /** Whether it is loaded on use, or refers to a type inline. */
  onUse: boolean;
}

/** The imports of a source text. Lines of comments are left out, since examples import too. */
function importsOf(text: string): Import[] {
  const code = text
    .split("\n")
    .filter((line) => !/^\s*(\/\/|\/?\*)/.test(line))
    .join("\n");
  const found = (pattern: RegExp, onUse: boolean): Import[] =>
    [...code.matchAll(pattern)].map((match) => ({ specifier: match[1] as string, onUse }));
  return [
    ...found(/^(?:import|export)\b[^;"]*?\bfrom\s+"([^"]+)"/gm, false),
    ...found(/^import\s+"([^"]+)"/gm, false),
    ...found(/\bimport\(\s*"([^"]+)"\s*\)/g, true),
  ];
}

type Graph = ReadonlyMap<string, readonly Import[]>;

/** Every source file below a folder, relative to it, with its imports; imported files are relative to it as well. */
function graphOf(folder: string): Graph {
  return new Map(
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".ts") && !file.startsWith(`generated${path.sep}`))
      .map((file) => [
        file,
        importsOf(readFileSync(path.join(folder, file), "utf8")).map(({ specifier, onUse }) => ({
          specifier: specifier.startsWith(".")
            ? path.join(path.dirname(file), specifier).replace(/\.js$/, ".ts")
            : specifier,
          onUse,
        })),
      ]),
  );
}

/** The circles of imports, each from the file at which it was found. Types count, and imports on use do. */
function circlesOf(graph: Graph): string[] {
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, chain: readonly string[]): void => {
    if (chain.includes(file)) circles.push([...chain.slice(chain.indexOf(file)), file].join(" -> "));
    if (chain.includes(file) || done.has(file)) return;
    for (const { specifier } of graph.get(file) ?? []) visit(specifier, [...chain, file]);
    done.add(file);
  };
  for (const file of graph.keys()) visit(file, []);
  return circles;
}

const graph = graphOf(sources);

/** The folder of a file at the root of the sources; `""` for a file that lies there itself. */
function folderOf(file: string): string {
  return file.includes("/") ? (file.split("/")[0] as string) : "";
}

/** Each import of one source file by another, as `[from, to]`. */
const edges = [...graph].flatMap(([from, imports]) =>
  imports.filter(({ specifier }) => graph.has(specifier)).map(({ specifier }) => [from, specifier] as const),
);

const show = ([from, to]: readonly [string, string]): string => `${from} imports ${to}`;

describe("the reader of imports", () => {
  it("finds every form of an import, except in comments", () => {
    const text = [
      'import "./effect.js";',
      'import { a } from "./a.js";',
      "import {",
      "  type B,",
      "  c,",
      '} from "./b.js";',
      'import type { D } from "./d.js";',
      'export * from "./e.js";',
      'export { f } from "./f.js";',
      'const g = await import("./g.js");',
      'let h: import("./h.js").H;',
      ' * import { i } from "./comment.js";',
      '// import { j } from "./comment.js";',
      "export const k = 1;",
    ].join("\n");
    const specifiers = importsOf(text).map(({ specifier }) => specifier);
    expect(specifiers.toSorted()).toEqual(["a", "b", "d", "e", "effect", "f", "g", "h"].map((name) => `./${name}.js`));
  });

  it("resolves every relative import to a file", () => {
    const lost = [...graph].flatMap(([from, imports]) =>
      imports
        .filter(({ specifier }) => specifier.endsWith(".ts") && !graph.has(specifier))
        .map(({ specifier }) => show([from, specifier])),
    );
    expect(lost).toEqual([]);
    expect(edges.length).toBeGreaterThan(50);
  });
});

describe("the files of a workspace", () => {
  it.each(PACKAGES)("begin with a comment that describes the file, in %s", (name) => {
    const folder = path.join(framework, name, "src");
    const begins = (file: string) => /^(?:#!.*\n)?\/[*/]/.test(readFileSync(path.join(folder, file), "utf8"));
    expect([...graphOf(folder).keys()].filter((file) => !begins(file))).toEqual([]);
  });

  it.each([...PACKAGES.map((name) => `framework/${name}`), "generators", "sample-auth-app", "load-tests"])(
    "import each other in no circle, types included, in %s",
    (workspace) => {
      const files = graphOf(path.join(root, workspace, "src"));
      expect(circlesOf(files)).toEqual([]);
      expect(files.size).toBeGreaterThan(0);
    },
  );

  it("are found in a cycle, even through a file outside it", () => {
    const edge = (specifier: string): Import => ({ specifier, onUse: false });
    const files: Graph = new Map([
      ["main.ts", [edge("a.ts"), edge("node:fs")]],
      ["a.ts", [edge("b.ts"), edge("c.ts")]],
      ["b.ts", [edge("c.ts")]],
      ["c.ts", [edge("b.ts"), edge("d.ts")]],
      ["d.ts", [edge("d.ts")]],
    ]);
    expect(circlesOf(files)).toEqual(["b.ts -> c.ts -> b.ts", "d.ts -> d.ts"]);
  });
});

describe("the core", () => {
  const page = readFileSync(path.join(framework, "docs/architecture.md"), "utf8");

  it("has these folders and three entry points", () => {
    const entries = new Set([...graph.keys()].map((file) => file.split("/")[0]));
    expect(entries).toEqual(new Set([...FOLDERS, "index.ts", "internals.ts", "node.ts"]));
  });

  it("is, with all other packages, in the table of the page on the architecture", () => {
    const folders = readdirSync(framework).filter((name) => existsSync(path.join(framework, name, "package.json")));
    const [, table = ""] = /## Packages([^]*?)\n## /.exec(page) ?? [];
    const listed = [...table.matchAll(/^\| `framework\/([\w-]+)`/gm)].map(([, name]) => name);
    expect(new Set(listed)).toEqual(new Set(folders));
  });

  it("has its folders in that order on the page on the architecture", () => {
    const shown = /common <[\s\w<-]*/.exec(page)?.[0] ?? "";
    expect(shown.split("<").map((name) => name.trim())).toEqual(FOLDERS);
  });

  it("has the files that the page lists, in addition to others of the repository", () => {
    const named = [...page.matchAll(/`(?:node )?([\w./-]+\.(?:ts|js|json))`/g)].flatMap(([, file]) => file ?? []);
    const exists = (file: string) => existsSync(path.join(/^(?:framework\/|\.)/.test(file) ? root : sources, file));
    expect(named.filter((file) => !/^x\.(?:web\.)?ts$/.test(file) && !exists(file))).toEqual([]);
    expect(named.length).toBeGreaterThan(60);
  });

  it("has the functions that the page lists for the life of a call, in those files", () => {
    const [, table = ""] = /## The life of a call([^]*?)\n## /.exec(page) ?? [];
    const rows = [...table.matchAll(/\| `([\w/.-]+\.ts)`\s*\| (.*?)\s*\|/g)];
    const listed = rows.flatMap(([, file = "", names = ""]) =>
      [...names.matchAll(/`(#?\w+)`/g)].map(([, name = ""]) => ({ file, name })),
    );
    const isDeclared = ({ file, name }: { file: string; name: string }) =>
      new RegExp(`(?:function|class|async|readonly|  )\\s*${name}\\b.*[({=]`).test(
        readFileSync(path.join(sources, file), "utf8"),
      );
    expect(listed.filter((one) => !isDeclared(one))).toEqual([]);
    expect(listed.length).toBeGreaterThan(10);
  });

  it("imports in each folder only from the folders before it", () => {
    const wrong = edges.filter(
      ([from, to]) => folderOf(from) !== "" && FOLDERS.indexOf(folderOf(to)) > FOLDERS.indexOf(folderOf(from)),
    );
    expect(wrong.map(show)).toEqual([]);
  });

  it("imports each name from the file that declares it: no file but an entry point hands on what another exports", () => {
    const handsOn = (file: string) =>
      /^export\b[^;"]*?\bfrom\s+"\./m.test(readFileSync(path.join(sources, file), "utf8"));
    expect(new Set([...graph.keys()].filter(handsOn))).toEqual(new Set(DOORS));
    expect(edges.filter(([, to]) => DOORS.includes(to)).map(show)).toEqual([]);
  });

  it("loads no Node.js modules for the main entry point: files, pools and servers load on use", () => {
    const reached = new Set(["index.ts"]);
    const wrong: string[] = [];
    for (const file of reached) {
      for (const { specifier, onUse } of graph.get(file) ?? []) {
        if (onUse) continue;
        if (graph.has(specifier)) reached.add(specifier);
        else if (!specifier.startsWith("@sinclair/typebox")) wrong.push(show([file, specifier]));
      }
    }
    expect(wrong).toEqual([]);
    expect(reached.size).toBeGreaterThan(10);
  });
});

describe("the other packages", () => {
  it.each(PACKAGES.filter((name) => name !== "core"))("reach into no other package by a path, in %s", (name) => {
    const files = graphOf(path.join(framework, name, "src"));
    const outside = [...files].flatMap(([from, imports]) =>
      imports.filter(({ specifier }) => specifier.startsWith("..")).map(({ specifier }) => show([from, specifier])),
    );
    expect(outside).toEqual([]);
  });
});
