/** The disk space of packages with their dependencies. @module */
import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  /** The size of the packed files: the folder of a workspace has more than its users get. */
  readonly files?: readonly string[];
}

/** The bytes of packages and of all that they depend on, each counted once. Those that are not there count nothing. */
export function installedBytes(packages: readonly string[], from: string): number {
  const seen = new Set<string>();
  const visit = (name: string, folder: string): number => {
    const home = find(name, folder);
    if (home === null || seen.has(home)) return 0;
    seen.add(home);
    const manifest = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as Manifest;
    const needed = Object.keys(manifest.dependencies ?? {});
    const isWorkspace = !home.includes("node_modules") && manifest.files !== undefined;
    const own = isWorkspace ? sumOf(manifest.files ?? [], home) : bytesOf(home);
    return needed.reduce((sum, dependency) => sum + visit(dependency, home), own);
  };
  return packages.reduce((sum, name) => sum + visit(name, from), 0);
}

/** The folder in which Node finds a package, from a folder upwards. */
function find(name: string, folder: string): string | null {
  for (let at = folder; ; at = dirname(at)) {
    const candidate = join(at, "node_modules", name);
    if (existsSync(join(candidate, "package.json"))) return realpathSync(candidate);
    if (dirname(at) === at) return null;
  }
}

function sumOf(files: readonly string[], home: string): number {
  const present = files.filter((file) => !file.startsWith("!") && existsSync(join(home, file)));
  return present.reduce((sum, file) => sum + bytesOf(join(home, file), /[\\/]\.[^\\/]+$/), 0);
}

/** The bytes below a path, without packages inside it, which are counted where they are needed. */
function bytesOf(path: string, without?: RegExp): number {
  if (without?.test(path)) return 0;
  const stats = lstatSync(path);
  if (!stats.isDirectory()) return stats.size;
  return readdirSync(path)
    .filter((name) => name !== "node_modules")
    .reduce((sum, name) => sum + bytesOf(join(path, name), without), 0);
}
