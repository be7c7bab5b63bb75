/** The packages that a project imports, and those that its package.json has. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Project } from "./scaffolded.js";

/** A package that a module imports: of a registry, and not of Node. */
const imported = /(?:\bfrom |\bimport\()"((?:@[\w-]+\/)?[a-z][\w.-]*)(?:\/[^"]*)?"/g;

/** The code of a project, by path. */
export async function codeOf(project: Project | undefined): Promise<[path: string, text: string][]> {
  return [...((await project?.files()) ?? [])].filter(([path]) => /^(?:src|test|scripts|prisma)\//.test(path));
}

/** The packages that the code of a project imports, and its package.json lacks. `src/` uses no development package. */
export async function missingPackages(project: Project): Promise<string[]> {
  const { dependencies, devDependencies } = JSON.parse(await readFile(join(project.path, "package.json"), "utf8"));
  const missing = (await codeOf(project)).flatMap(([path, text]) => {
    const known = path.startsWith("src/") ? dependencies : { ...dependencies, ...devDependencies };
    const names = Array.from(text.matchAll(imported), ([, name = ""]) => name);
    return names.filter((name) => !(name in known)).map((name) => `${path}: ${name}`);
  });
  return [...new Set(missing)];
}
