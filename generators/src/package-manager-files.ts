import type { Installer } from "./runtimes.js";
import type { ProjectFile } from "./project-file.js";
import type { Workspace } from "./template.js";

/**
 * The configuration files of a package manager: packages go to `node_modules`, as with npm, and unneeded install scripts
 * do not run.
 */
export function packageManagerFiles(packageManager: Installer, { overrides }: Workspace): ProjectFile[] {
  if (packageManager === "yarn") {
    return [textFile(".yarnrc.yml", "nodeLinker: node-modules\n")];
  }
  if (packageManager === "pnpm") {
    // pnpm reads these here since version 10, and only here since 11.
    const pins = Object.entries(overrides).map(([name, version]) => `  ${name}: ${version}\n`);
    const text = ["ignoredBuiltDependencies: [argon2, prisma, esbuild, unrs-resolver]\n"];
    return [textFile("pnpm-workspace.yaml", [...text, ...(pins.length > 0 ? ["overrides:\n", ...pins] : [])].join(""))];
  }
  return [];
}

function textFile(path: string, text: string): ProjectFile {
  return { path, contents: Buffer.from(text), mode: 0o666 };
}
