import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

import { describe, expect, it } from "@jest/globals";

/** A module imports only from its left, types too. */
const LINE = [
  "asgi",
  "messages",
  "error-codes",
  "exceptions",
  "platform",
  "options",
  "http-grammar",
  "path",
  "path-pattern",
  "callable",
  "promises",
  "generated-code",
  "message-queue",
  "limits",
  "logger",
  "lifespan",
  "concurrency",
  "datastructures",
  "protocol",
  "background",
  "request",
  "response",
  "observation",
  "web",
  "exception-handlers",
  "websocket",
  "chain",
  "middleware",
  "schema",
  "params",
  "dependencies",
  "security",
  "router",
  "static-files",
  "openapi",
  "app",
];

/** What stands outside the line: the adapters, the tools, and the one barrel. */
const OUTSIDE = [
  "node",
  "testing",
  "conformance",
  "client",
  "read-body",
  "settings",
  "health",
  "internals",
  "connect-error",
  "passwords",
  "redis",
  "mcp",
  "otel",
  "metrics",
  "prisma",
  "pagination",
  "cli",
  "public",
  "index",
];

const root = path.resolve(import.meta.dirname, "../..");
const sources = path.join(root, "framework/src");

interface Import {
  /** As written, such as `./router/path.js` or `node:fs`. */
  specifier: string;
  /** Whether it is loaded on use, or names a type in place. */
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

/** Every source file below a folder, relative to it, with its imports; those of files are relative to it as well. */
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

/** The door `router.ts` and the files of its room `router/` are one module. */
function moduleOf(file: string): string {
  return (file.split("/")[0] as string).replace(/\.ts$/, "");
}

/** Each import of one source file by another, as `[from, to]`. */
const edges = [...graph].flatMap(([from, imports]) =>
  imports.filter(({ specifier }) => graph.has(specifier)).map(({ specifier }) => [from, specifier] as const),
);

const show = ([from, to]: readonly [string, string]): string => `${from} imports ${to}`;

describe("the reader of imports", () => {
  it("sees every form of an import, and none in a comment", () => {
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
  it.each(["framework", "generators", "sample-auth-app", "load-tests"])(
    "import each other in no circle, types included, in %s",
    (workspace) => {
      const files = graphOf(path.join(root, workspace, "src"));
      expect(circlesOf(files)).toEqual([]);
      expect(files.size).toBeGreaterThan(15);
    },
  );

  it("are found in a circle, also behind a file that is in none", () => {
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

describe("the modules of the framework", () => {
  const page = readFileSync(path.join(sources, "../docs/architecture.md"), "utf8");

  it("each have their place in the line, or stand outside it", () => {
    const known = new Set([...LINE, ...OUTSIDE]);
    expect([...graph.keys()].filter((file) => !known.has(moduleOf(file)))).toEqual([]);
  });

  it("stand in that order on the page on the life of a request", () => {
    const shown = /asgi <[\s\w<-]*/.exec(page)?.[0] ?? "";
    expect(shown.split("<").map((name) => name.trim())).toEqual(LINE);
  });

  it("are the files that the page names, beside others of the repository", () => {
    const named = [...page.matchAll(/`(?:node )?([\w./-]+\.(?:ts|js|json))`/g)].flatMap(([, file]) => file ?? []);
    const exists = (file: string) => existsSync(path.join(file.startsWith("framework/") ? root : sources, file));
    expect(named.filter((file) => file !== "x.ts" && !exists(file))).toEqual([]);
    expect(named.length).toBeGreaterThan(60);
  });

  it("import only from their left", () => {
    const wrong = edges.filter(([from, to]) => {
      const place = LINE.indexOf(moduleOf(from));
      const target = LINE.indexOf(moduleOf(to));
      return place >= 0 && moduleOf(from) !== moduleOf(to) && (target < 0 || target > place);
    });
    expect(wrong.map(show)).toEqual([]);
  });

  it("import another module by its door, never from its room, if it has a door", () => {
    const hasDoor = (file: string) => graph.has(`${moduleOf(file)}.ts`);
    const wrong = edges.filter(([from, to]) => moduleOf(from) !== moduleOf(to) && to.includes("/") && hasDoor(to));
    expect(wrong.map(show)).toEqual([]);
  });
});

describe("the barrel", () => {
  it("is index.ts alone, and nothing inside imports it", () => {
    const barrels = [...graph.keys()].filter((file) => path.basename(file) === "index.ts");
    expect(barrels).toEqual(["index.ts"]);
    expect(edges.filter(([, to]) => to === "index.ts").map(show)).toEqual([]);
  });

  it("is joined by entry points that leave out what modules share, which nothing inside imports either", () => {
    const publicFiles = [...graph.keys()].filter((file) => moduleOf(file) === "public");
    expect(publicFiles.toSorted()).toEqual([
      "public/concurrency.ts",
      "public/openapi.ts",
      "public/security.ts",
      "public/settings.ts",
    ]);
    expect(
      edges
        .filter(([from, to]) => publicFiles.includes(to) || (publicFiles.includes(from) && to !== path.basename(from)))
        .map(show),
    ).toEqual([]);
  });

  it("loads nothing of Node's: files, pools and servers load on use", () => {
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
