import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

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
 * Formats files with the formatter of the templates. Without it they stay unchanged.
 *
 * @returns a message for each failure
 */
export function formatFiles(folder: string, paths: readonly string[]): string[] {
  const path = join(folder, "node_modules/.bin/oxfmt");
  if (existsSync(path)) {
    const isBatch = process.platform === "win32";
    return format(isBatch ? `${path}.cmd` : path, "oxfmt", paths, { cwd: folder, shell: isBatch });
  }
  return existsSync(join(folder, "deno.json"))
    ? format("deno", "deno fmt", ["fmt", "--quiet", ...paths], { cwd: folder, shell: false })
    : [];
}
