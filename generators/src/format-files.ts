import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

/** The formatters that a project may have, each with the arguments before the files. */
const formatters: readonly { program: string; parameters: readonly string[] }[] = [
  { program: "oxfmt", parameters: [] },
  { program: "biome", parameters: ["format", "--write"] },
  { program: "prettier", parameters: ["--write", "--log-level=warn"] },
];

function format(
  command: string,
  program: string,
  parameters: readonly string[],
  options: { cwd: string; shell: boolean },
): string[] {
  const child = spawnSync(command, parameters, { ...options, encoding: "utf8" });
  return child.status === 0
    ? []
    : [`${program} could not format the files: ${child.stderr?.trim() || child.error?.message}`];
}

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
      return format(isBatch ? `${path}.cmd` : path, program, [...parameters, ...paths], {
        cwd: folder,
        shell: isBatch,
      });
    }
  }
  return existsSync(join(folder, "deno.json"))
    ? format("deno", "deno fmt", ["fmt", "--quiet", ...paths], { cwd: folder, shell: false })
    : [];
}
