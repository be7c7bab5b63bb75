import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { TemplateFile } from "./template.js";

/**
 * Reads all regular files below a folder, sorted by path.
 *
 * @param isLeftOut is asked for files and folders, with the path relative to `folder`
 */
export function readFiles(
  folder: string,
  isLeftOut: (path: string) => boolean = () => false,
): Map<string, TemplateFile> {
  const files = new Map<string, TemplateFile>();
  const visit = (parent: string) => {
    const entries = readdirSync(join(folder, parent), { withFileTypes: true });
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = parent === "" ? entry.name : `${parent}/${entry.name}`;
      if (isLeftOut(path)) {
        continue;
      }
      if (entry.isDirectory()) {
        visit(path);
      } else if (entry.isFile()) {
        const full = join(folder, path);
        files.set(path, { contents: readFileSync(full), isExecutable: (statSync(full).mode & 0o100) !== 0 });
      }
    }
  };
  visit("");
  return files;
}
