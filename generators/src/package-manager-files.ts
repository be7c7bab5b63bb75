import type { PackageManager } from "./options.js";
import type { ProjectFile } from "./project-file.js";
import type { Workspace } from "./template.js";

/**
 * The files that a package manager wants beside package.json, for a project that reads like one of npm's: packages in
 * `node_modules`, and no script of a package runs that the project does without.
 */
export function packageManagerFiles(packageManager: PackageManager, { overrides }: Workspace): ProjectFile[] {
  if (packageManager === "yarn") {
    return [textFile(".yarnrc.yml", "nodeLinker: node-modules\n")];
  }
  if (packageManager === "pnpm") {
    // pnpm reads these here alone since its version 11, and here as well since 10.
    const pins = Object.entries(overrides).map(([name, version]) => `  ${name}: ${version}\n`);
    const text = ["ignoredBuiltDependencies: [argon2, prisma, esbuild, unrs-resolver]\n"];
    return [textFile("pnpm-workspace.yaml", [...text, ...(pins.length > 0 ? ["overrides:\n", ...pins] : [])].join(""))];
  }
  return [];
}

function textFile(path: string, text: string): ProjectFile {
  return { path, contents: Buffer.from(text), mode: 0o666 };
}
