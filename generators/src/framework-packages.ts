/** Selects the framework's packages that a project uses, from its files. */
import { CommandError } from "./errors.js";
import type { ProjectFile } from "./project-file.js";
import type { FrameworkPackage, Template } from "./template.js";

type Packages = ReadonlyMap<string, FrameworkPackage>;

/** The framework's packages in a project. */
export interface UsedPackages {
  dependencies: Packages;
  devDependencies: Packages;
  /** The packages that those install. */
  indirect: Packages;
}

/** The package of the command `tsgi`. */
const COMMAND = "@tsgi/cli";

/** The package name in `from "@tsgi/client"` and in `import("tsgi/node")`. */
const imported = /(?:\bfrom |\bimport ?\(?)["'](tsgi|@tsgi\/[\w-]+)(?:\/[\w-]+)*["']/g;

/** Modules, and pages with examples of them. */
const hasImports = (path: string) => /\.(?:[jt]s|md)$/.test(path);
const isForDevelopment = (path: string) => /^(?:test|load-tests|scripts)\/|\.md$/.test(path);

/**
 * Selects the packages that the modules and the examples of a project import, and the command.
 *
 * @param scripts the scripts of its package.json. If `start` calls `tsgi`, the command is a dependency in production too.
 * @throws CommandError for a package that the template does not have
 */
export function selectPackages(
  { packages }: Pick<Template, "packages">,
  files: Iterable<ProjectFile>,
  scripts: Readonly<Record<string, string>>,
): UsedPackages {
  const all = [...files].filter(({ path }) => hasImports(path));
  const importedBy = (some: readonly ProjectFile[]) =>
    some.flatMap(({ contents }) => [...contents.toString("utf8").matchAll(imported)].map(([, name = ""]) => name));
  const names = new Set(importedBy(all.filter(({ path }) => !isForDevelopment(path))));
  if (/\btsgi /.test(scripts["start"] ?? "")) {
    names.add(COMMAND);
  }
  const forDevelopment = new Set([COMMAND, ...importedBy(all)].filter((name) => !names.has(name)));
  const direct = [...names, ...forDevelopment];
  const indirect = new Set(direct);
  for (const name of indirect) {
    for (const dependency of find(packages, name).dependencies) {
      indirect.add(dependency);
    }
  }
  for (const name of direct) {
    indirect.delete(name);
  }
  const select = (some: Iterable<string>) =>
    new Map([...some].toSorted().map((name) => [name, find(packages, name)] as const));
  return { dependencies: select(names), devDependencies: select(forDevelopment), indirect: select(indirect) };
}

function find(packages: Packages, name: string): FrameworkPackage {
  const found = packages.get(name);
  if (found === undefined) {
    throw new CommandError(
      `the project uses ${name}, which vendor/ does not have here: create the project in the repository of tsgi`,
    );
  }
  return found;
}

/** The specifiers of packages, as in package.json. */
export function specifiersOf(packages: Packages): Record<string, string> {
  return Object.fromEntries([...packages].map(([name, { specifier }]) => [name, specifier]));
}

/** All packages of a project. */
export function allOf({ dependencies, devDependencies, indirect }: UsedPackages): Packages {
  return new Map([...dependencies, ...devDependencies, ...indirect]);
}

/**
 * The versions of indirect packages that the project carries in `vendor`. A package manager would look for them in a
 * registry.
 */
export function vendoredPins({ indirect }: UsedPackages): Record<string, string> {
  return specifiersOf(new Map([...indirect].filter(([, { tarball }]) => tarball !== undefined)));
}
