/** Each public name is used by the application, or in the declarations that the compiler writes of it. */
import { readdirSync, readFileSync, symlinkSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { createFolder } from "../support/folder.js";
import { manifestOf, PACKAGES } from "../support/packages.js";
import { compile, compilers } from "../support/typescript.js";

const APP = path.join(import.meta.dirname, "app");
const API = path.join(import.meta.dirname, "../../api");

/** The entry points that an application imports, each with its report in `framework/api`. */
const ENTRIES =
  `tsgi @tsgi/broadcast tsgi/concurrency tsgi/health @tsgi/mcp @tsgi/metrics tsgi/middleware tsgi/openapi @tsgi/openapi-tools @tsgi/otel tsgi/pagination
  @tsgi/passwords @tsgi/prisma @tsgi/redis tsgi/security tsgi/settings tsgi/web @tsgi/webhooks`.split(/\s+/);

/** Entry points that the application does not import, each with the reason. */
const OTHERS: Readonly<Record<string, string>> = {
  "@tsgi/api-keys": "keeps keys in a store: the package's tests, and the example of the page on permissions",
  "@tsgi/client": "the client of the application: `_the-client.ts` and `clients.test.ts`",
  "@tsgi/conformance": "calls applications and servers from outside",
  "@tsgi/jobs": "works with a database, except for `notices.ts`: the sample application and the package's tests",
  "@tsgi/lambda": "wraps a whole application: the package's tests call the HTTP table through it",
  "@tsgi/login": "works with an identity provider: the sample application and the package's tests",
  "@tsgi/oauth": "works with an identity provider: the sample application and the package's tests",
  "@tsgi/uwebsockets": "the loop of a driver: `_drivers.ts`",
  "tsgi/internals": "for the official packages",
  "tsgi/node": "the program `server.ts`, and the drivers",
  "@tsgi/prisma/testing": "a sandbox for tests: `parts.test.ts`",
  "tsgi/testing": "a driver: `_drivers.ts`",
  "@tsgi/transactions": "works with PostgreSQL: the package's tests",
  "@tsgi/transactions/internals": "for `@tsgi/prisma`",
  "@tsgi/transactions/testing": "a sandbox for tests: the package's tests",
  "@tsgi/transactions/testing/internals": "for `@tsgi/prisma/testing`",
};

/** Names that the application cannot use, each with the reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "@tsgi/otel startTracing": "starts the SDK of the whole process: the sample application and the package's tests",
  "@tsgi/otel StartTracingOptions": "the same",
  "@tsgi/otel Tracing": "the same",
  "tsgi MessageRules": "an argument of the constructor of TypedWebSocket, which the framework calls",
  "tsgi RouteTypes": "the bound of a parameter of Routed, which declarations write out",
  "tsgi SocketTypesOf": "what Routed has of a WebSocket, which declarations write out",
  "tsgi SocketTypesOfDecorated": "the same of a decorator",
  "tsgi TypesOf": "what Routed has of a route, which declarations write out",
  "tsgi TypesOfDecorated": "the same of a decorator",
  "tsgi TypesOfHandler": "the same of a handler without options",
  "tsgi SecurityScopes": "imported from tsgi/security",
  "tsgi/middleware Middleware": "imported from tsgi",
  "tsgi/middleware gzip": "deprecated: compress",
  "tsgi/security Security": "imported from tsgi",
};

const filesOf = (folder: string, ending: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(ending));

/** The names of a report, except names of another package: declarations can use them, as `types/pnpm.test.ts` shows. */
function exportedBy(entry: string): string[] {
  const report = readFileSync(path.join(API, `${entry.replace("@tsgi/", "").replace("/", "-")}.api.md`), "utf8");
  const [exported = ""] = report.slice(report.indexOf("## Exported")).split("## Used by the exported names");
  return [...exported.matchAll(/^(?:type|interface|class|function|const) (\w+)/gm)].map(([, name = ""]) => name);
}

/** The names that the modules of the application import, as `entry name`. */
function importedNames(): string[] {
  return filesOf(APP, ".ts").flatMap((file) => {
    const text = readFileSync(path.join(APP, file), "utf8");
    return [...text.matchAll(/^import (?:type )?\{([^}]+)\} from "(@?tsgi[^"]*)";/gm)].flatMap(
      ([, names = "", entry]) =>
        names.split(",").flatMap((part) => {
          const name = /^\s*(?:type )?(\w+)/.exec(part)?.[1];
          return name === undefined ? [] : [`${entry} ${name}`];
        }),
    );
  });
}

/** The names in declarations. */
function declaredNames(folder: string): string[] {
  return filesOf(folder, ".d.ts").flatMap((file) => {
    const text = readFileSync(path.join(folder, file), "utf8");
    return [...text.matchAll(/import\("(@?tsgi[^"]*)"\)\.(\w+)/g)].map(([, entry, name]) => `${entry} ${name}`);
  });
}

const sources = Object.fromEntries(
  filesOf(APP, ".ts").map((name) => [name, readFileSync(path.join(APP, name), "utf8")]),
);

const OPTIONS = {
  lib: ["es2023", "es2024.string", "esnext.disposable", "dom", "dom.iterable"],
  noUncheckedIndexedAccess: true,
  noEmit: false,
  declaration: true,
  emitDeclarationOnly: true,
  outDir: "types",
  rootDir: ".",
  paths: {}, // from node_modules, as a user's project has it
};

/** A folder for a project that has the packages of this repository. */
function createProject(): string {
  const folder = createFolder({ "routes/.keep": "" });
  symlinkSync(path.resolve(import.meta.dirname, "../../../node_modules"), path.join(folder, "node_modules"));
  return folder;
}

describe("the public names", () => {
  const [, compiler] = compilers.at(-1)!;
  const folder = createProject();
  const other = createProject();
  let errors = "";
  beforeAll(() => {
    errors = compile(compiler(), folder, sources, OPTIONS);
  });

  it("suffice for the declarations of the application", () => {
    expect(errors).toBe("");
  });

  it("come from every entry point, except for a few with a reason", () => {
    const entries = PACKAGES.flatMap((name) => {
      const { name: own, exports } = manifestOf(name);
      return Object.keys(exports).map((entry) => `${own}${entry.slice(1)}`);
    });
    const known = new Set([...ENTRIES, ...Object.keys(OTHERS)]);
    const missing = entries.filter((entry) => !entry.endsWith("/package.json") && !known.has(entry));
    expect(missing).toEqual([]);
    expect(
      [...known].filter((entry) => !entries.includes(entry) || (entry in OTHERS && ENTRIES.includes(entry))),
    ).toEqual([]);
  });

  it("are all used by the application, except for a few with a reason", () => {
    const used = new Set([
      ...importedNames(),
      ...declaredNames(path.join(folder, "types")),
      ...Object.keys(EXCEPTIONS),
    ]);
    const all = ENTRIES.flatMap((entry) => exportedBy(entry).map((name) => `${entry} ${name}`));
    expect(all.filter((name) => !used.has(name))).toEqual([]);
    expect(all.length).toBeGreaterThan(300);
  });

  it("are removed from the exceptions when they are used or removed", () => {
    const used = new Set([...importedNames(), ...declaredNames(path.join(folder, "types"))]);
    const all = new Set(ENTRIES.flatMap((entry) => exportedBy(entry).map((name) => `${entry} ${name}`)));
    expect(Object.keys(EXCEPTIONS).filter((name) => used.has(name) || !all.has(name))).toEqual([]);
  });

  // The type of the route has the symbol that marks an event, and no entry point exports it: TS4023.
  it.failing("suffice for the declarations of a stream that yields a notice", () => {
    const stream = `import { App, event } from "tsgi";
      export const messages = new App().get("/messages", { stream: "sse" }, async function* () {
        yield event({ retry: 5000 });
        yield "hello";
      });`;
    expect(compile(compiler(), other, { "stream.ts": stream }, OPTIONS)).toBe("");
  });
});
