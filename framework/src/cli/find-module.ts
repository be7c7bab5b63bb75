/** Which file the user means. @module */
import { existsSync, readdirSync, statSync } from "node:fs";
import path from "node:path";
import { nearest } from "../wording.js";
import { CommandError } from "./errors.js";

/** Where an application lies when no file is named, the first that exists. */
export const DEFAULT_MODULES: readonly string[] = ["src/app", "src/main", "src/index", "app", "main", "index"].flatMap(
  (name) => [".ts", ".js", ".mjs"].map((extension) => name + extension),
);

/**
 * The absolute path of the module that is to be loaded.
 *
 * @throws CommandError naming what was looked for, and the file that was probably meant.
 */
export function findModule(name: string | undefined, cwd = process.cwd()): string {
  if (name === undefined) return findDefault(cwd);
  const file = path.resolve(cwd, name);
  if (!existsSync(file))
    throw new CommandError("TSGI_MODULE_NOT_FOUND", `There is no file ${name}.${suggestion(file, cwd)}`);
  if (statSync(file).isDirectory()) {
    throw new CommandError(
      "TSGI_MODULE_IS_A_FOLDER",
      `${name} is a folder. Name the file that exports the app, such as ${name}/app.ts.`,
    );
  }
  return file;
}

function findDefault(cwd: string): string {
  const found = DEFAULT_MODULES.find((name) => existsSync(path.join(cwd, name)));
  if (found !== undefined) return path.join(cwd, found);
  throw new CommandError(
    "TSGI_NO_MODULE_NAMED",
    `No application was found in ${cwd}.\n` +
      "Name the file that exports it, as in `tsgi dev src/app.ts`. Without a name, the first of these is taken:\n" +
      `src/app, src/main, src/index, app, main, index; with .ts, .js or .mjs.`,
  );
}

function suggestion(file: string, cwd: string): string {
  const folder = path.dirname(file);
  if (!existsSync(folder)) return ` The folder ${path.relative(cwd, folder)} does not exist either.`;
  const base = path.basename(file);
  const files = readdirSync(folder).filter((name) => /\.[cm]?[jt]s$/.test(name));
  const meant = files.find((name) => path.parse(name).name === path.parse(base).name) ?? nearest(base, files);
  return meant === null ? "" : ` Did you mean ${path.relative(cwd, path.join(folder, meant))}?`;
}
