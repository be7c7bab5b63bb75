/** The file of the application. @module */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { nearest } from "tsgi/internals";
import { commandError } from "./errors.js";

/** The files that are tried where neither the line nor `package.json` names one. */
export const DEFAULT_MODULES: readonly string[] = ["src/app", "src/main", "src/index", "app", "main", "index"].flatMap(
  (name) => [".ts", ".js", ".mjs"].map((extension) => name + extension),
);

/**
 * The absolute path of the module to load: the argument, else `tsgi.module` in `package.json`, else the first existing
 * one of {@link DEFAULT_MODULES}.
 *
 * @throws CommandError naming the missing file, and a file of a similar name.
 */
export function findModule(name: string | undefined, cwd = process.cwd()): string {
  if (name === undefined) return findDeclared(cwd) ?? findDefault(cwd);
  const file = path.resolve(cwd, name);
  if (!existsSync(file)) throw commandError("TSGI_MODULE_NOT_FOUND.file", name, suggestion(file, cwd));
  if (statSync(file).isDirectory()) throw commandError("TSGI_MODULE_IS_A_FOLDER", name);
  return file;
}

/** The file in `package.json`, or `null` if it has no such entry. */
function findDeclared(cwd: string): string | null {
  const declared = readDeclared(path.join(cwd, "package.json"));
  if (declared === undefined) return null;
  if (typeof declared === "string" && existsSync(path.resolve(cwd, declared))) return path.resolve(cwd, declared);
  const found =
    typeof declared === "string" ? `the file ${declared} does not exist` : `it is ${JSON.stringify(declared)}`;
  throw commandError("TSGI_MODULE_NOT_FOUND.package", found);
}

function readDeclared(manifest: string): unknown {
  try {
    return (JSON.parse(readFileSync(manifest, "utf8")) as { tsgi?: { module?: unknown } }).tsgi?.module;
  } catch {
    return undefined;
  }
}

function findDefault(cwd: string): string {
  const found = DEFAULT_MODULES.find((name) => existsSync(path.join(cwd, name)));
  if (found !== undefined) return path.join(cwd, found);
  throw commandError("TSGI_NO_MODULE_NAMED", cwd);
}

function suggestion(file: string, cwd: string): string {
  const folder = path.dirname(file);
  if (!existsSync(folder)) return ` The folder ${path.relative(cwd, folder)} does not exist either.`;
  const base = path.basename(file);
  const files = readdirSync(folder).filter((name) => /\.[cm]?[jt]s$/.test(name));
  const meant = files.find((name) => path.parse(name).name === path.parse(base).name) ?? nearest(base, files);
  return meant === null ? "" : ` Did you mean ${path.relative(cwd, path.join(folder, meant))}?`;
}
