import { hasDatabase } from "./databases.js";
import type { Database, PackageManager, Runtime, TemplateName } from "./options.js";

/** A program that installs the packages of a project: a package manager of Node, or the runtime itself. */
export type Installer = PackageManager | "bun" | "deno";

/** An optional part of a project that not every runtime has. */
type Part = "docker" | "loadTests";

/** The differences of a project on a runtime from one on Node. */
interface Profile {
  title: string;
  /** The templates that run there, the default first. */
  templates: readonly TemplateName[];
  /** Why the others do not. */
  reason: string;
  parts: readonly Part[];
  /** True if a project can have a database. */
  databases: boolean;
  /** The runtime that installs packages, `null` for a package manager of Node. */
  installer: "bun" | "deno" | null;
  /** Files of the template that have no use there. */
  unused: RegExp;
  /** The development packages of the template that have a use there. */
  tools: RegExp;
  /** The import of names in a test, which the template takes from jest. */
  tests: (names: readonly string[]) => string;
}

const fromJest = (names: readonly string[]) => `import { ${names.join(", ")} } from "@jest/globals";`;

const checkers = /^(?:oxfmt|oxlint|oxlint-tsgolint|supertest|@types\/supertest|typescript|create-tsgi)$/;

const profiles: Readonly<Record<Runtime, Profile>> = {
  node: {
    title: "Node",
    templates: ["auth", "api", "minimal"],
    reason: "",
    parts: ["docker", "loadTests"],
    databases: true,
    installer: null,
    unused: /^$/,
    tools: /^/,
    tests: fromJest,
  },
  bun: {
    title: "Bun",
    templates: ["api", "minimal"],
    reason: "its scripts and tests are written for Node",
    parts: ["docker"],
    databases: false,
    installer: "bun",
    unused: /^(?:jest\.config\.js|test\/tsconfig\.json)$/,
    tools: checkers,
    tests: (names) => `import { ${names.join(", ")} } from "bun:test";`,
  },
  deno: {
    title: "Deno",
    templates: ["api", "minimal"],
    reason: "its scripts and tests are written for Node",
    parts: ["docker"],
    databases: false,
    installer: "deno",
    unused: /^(?:jest\.config\.js|(?:test\/)?tsconfig\.json|package\.json|\.ox(?:fmt|lint)rc\.json)$/,
    tools: /^(?:supertest|@types\/supertest)$/,
    tests: (names) => {
      const own = names.filter((name) => name !== "expect");
      const imports = own.length > 0 ? [`import { ${own.join(", ")} } from "node:test";`] : [];
      return [...(own.length < names.length ? ['import { expect } from "expect";'] : []), ...imports].join("\n");
    },
  },
  workers: {
    title: "Workers",
    templates: ["api", "minimal"],
    reason: "its hashing of passwords and its SQLite driver are native modules",
    parts: [],
    databases: false,
    installer: null,
    unused: /^test\/tsconfig\.json$/,
    tools: /^(?!autocannon$)/,
    tests: fromJest,
  },
};

export const profileOf = (runtime: Runtime = "node"): Profile => profiles[runtime];

/** The runtimes on which a project runs, the default first. Prisma's clients and scripts of the templates are for Node. */
export function runtimesOf({ template, database }: { template: TemplateName; database: Database }): readonly Runtime[] {
  const known = Object.keys(profiles) as Runtime[];
  return known
    .filter((runtime) => profiles[runtime].templates.includes(template))
    .filter((runtime) => profiles[runtime].databases || !hasDatabase({ template, database }));
}

/** A module specifier of the project itself, in an import or an export. */
const ownModule = /(?<=\bfrom ")(\.{1,2}\/[^"]+)\.js(?=")/g;
const ownModuleOfDeno = /(?<=\bfrom ")(\.{1,2}\/[^"]+)\.ts(?=")/g;
const testImport = /^import \{ ([\w, ]+) \} from "(?:@jest\/globals|node:test)";$/m;

/** Converts a module of a template, which is written for Node and jest, to the customs of a runtime. */
export function toRuntime(text: string, runtime: Runtime = "node"): string {
  if (runtime === "node" || runtime === "workers") {
    return text;
  }
  const adapted = text.replace(testImport, (_, names: string) => profileOf(runtime).tests(names.split(", ")));
  return runtime === "deno" ? adapted.replaceAll(ownModule, "$1.ts") : adapted;
}

/** The opposite for the imports of modules: the code generators write and read Node's form. */
export function fromRuntime(text: string, runtime: Runtime = "node"): string {
  return runtime === "deno" ? text.replaceAll(ownModuleOfDeno, "$1.js") : text;
}
