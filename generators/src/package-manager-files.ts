import type { Installer } from "./runtimes.js";
import type { ProjectFile } from "./project-file.js";

/**
 * The configuration files of a package manager: packages go to `node_modules`, as with npm, and unneeded install scripts
 * do not run.
 *
 * @param overrides the specifiers of indirect dependencies
 */
export function packageManagerFiles(
  packageManager: Installer,
  overrides: Readonly<Record<string, string>>,
): ProjectFile[] {
  if (packageManager === "yarn") {
    return [textFile(".yarnrc.yml", "nodeLinker: node-modules\n")];
  }
  if (packageManager === "pnpm") {
    // pnpm reads these here since version 10, and only here since 11.
    const pins = Object.entries(overrides).map(([name, specifier]) => `  ${quote(name)}: ${specifier}\n`);
    const text = ["ignoredBuiltDependencies: [argon2, prisma, esbuild, unrs-resolver]\n"];
    return [textFile("pnpm-workspace.yaml", [...text, ...(pins.length > 0 ? ["overrides:\n", ...pins] : [])].join(""))];
  }
  return [];
}

/** A name as a key of YAML, in which a plain one does not begin with `@`. */
function quote(name: string): string {
  return name.startsWith("@") ? JSON.stringify(name) : name;
}

function textFile(path: string, text: string): ProjectFile {
  return { path, contents: Buffer.from(text), mode: 0o666 };
}
