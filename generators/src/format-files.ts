import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

/** The formatters that a project may have, each with the arguments before the files. */
const formatters: readonly { program: string; parameters: readonly string[] }[] = [
  { program: "oxfmt", parameters: [] },
  { program: "biome", parameters: ["format", "--write"] },
  { program: "prettier", parameters: ["--write", "--log-level=warn"] },
];

/**
 * Formats files with the project's formatter. Without one they stay unchanged.
 *
 * @returns a message for each failure
 */
export function formatFiles(folder: string, paths: readonly string[]): string[] {
  for (const { program, parameters } of formatters) {
    const path = join(folder, "node_modules/.bin", program);
    if (existsSync(path)) {
      const isBatch = process.platform === "win32";
      const child = spawnSync(isBatch ? `${path}.cmd` : path, [...parameters, ...paths], {
        cwd: folder,
        encoding: "utf8",
        shell: isBatch,
      });
      return child.status === 0
        ? []
        : [`${program} could not format the files: ${child.stderr.trim() || child.error?.message}`];
    }
  }
  return [];
}
