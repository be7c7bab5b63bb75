import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import path from "node:path";

const CACHE = path.resolve(import.meta.dirname, "../../../.cache");

/** Whether tests may fetch what only they need, and take their time. */
export const IS_SLOW = process.env["TSGI_SLOW"] !== undefined;

/**
 * Installs packages that only slow tests need, outside of what everybody installs, and gives their folder. What is there
 * stays there; another version is another folder's.
 *
 * @param folder - Its name below `.cache`.
 * @param packages - With their versions: `name@1.2.3`.
 */
export function installOnDemand(folder: string, packages: readonly string[]): string {
  const home = path.join(CACHE, folder);
  const isThere = (name: string) => existsSync(path.join(home, "node_modules", name.slice(0, name.lastIndexOf("@"))));
  if (!packages.every(isThere)) {
    mkdirSync(home, { recursive: true });
    execFileSync("npm", ["install", "--prefix", home, "--no-save", "--no-package-lock", "--no-audit", ...packages], {
      stdio: "ignore",
    });
  }
  return home;
}
