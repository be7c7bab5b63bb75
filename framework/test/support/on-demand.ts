import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

/** The folder of what tests fetch. */
export const CACHE = path.resolve(import.meta.dirname, "../../../.cache");

const RUNTIMES = path.resolve(import.meta.dirname, "../../scripts/runtimes.js");

/** Whether tests may download additional packages and run for a long time. */
export const IS_SLOW = process.env["TSGI_SLOW"] !== undefined;

/**
 * Installs packages that only slow tests need, outside of the normal dependencies, and returns their folder. Existing
 * packages are kept; another version has another folder.
 *
 * @param folder - Its name below `.cache`.
 * @param packages - With their versions: `name@1.2.3`.
 * @param overrides - Replacements of their dependencies, as in a manifest.
 */
export function installOnDemand(
  folder: string,
  packages: readonly string[],
  overrides: Readonly<Record<string, string>> = {},
): string {
  const home = path.join(CACHE, folder);
  const isThere = (name: string) => existsSync(path.join(home, "node_modules", name.slice(0, name.lastIndexOf("@"))));
  if (!packages.every(isThere)) {
    mkdirSync(home, { recursive: true });
    const manifest = { private: true, overrides };
    if (Object.keys(overrides).length > 0) writeFileSync(path.join(home, "package.json"), JSON.stringify(manifest));
    execFileSync("npm", ["install", "--prefix", home, "--no-save", "--no-package-lock", "--no-audit", ...packages], {
      stdio: "ignore",
    });
  }
  return home;
}

/** The path of a runtime's binary, which is downloaded if it is missing. */
export function binaryOf(name: string): string {
  const line = execFileSync(process.execPath, [RUNTIMES, name]).toString().trim();
  return line.slice(name.length + 1);
}
