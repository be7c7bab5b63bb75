import { lstatSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { CommandError, systemErrorCode } from "./errors.js";
import type { ProjectFile } from "./project-file.js";

/** `skip` keeps the file on disk. */
export type FileAction = "create" | "overwrite" | "skip";

/** The plan to write a project into a folder. */
export interface Plan {
  /** Absolute path, with symbolic links resolved if the folder exists. */
  folder: string;
  /** True if the folder exists. */
  exists: boolean;
  /** The names in the folder. A folder with only `.git` is treated as empty. */
  occupants: readonly string[];
  entries: readonly { file: ProjectFile; action: FileAction }[];
}

/** Names that a folder may contain and still count as empty. */
const negligible = new Set([".git", ".DS_Store"]);

/**
 * Compares a project with its target folder. Does not write files.
 *
 * @throws CommandError when the target is not a folder, or when a folder or a symbolic link is in the place of a file.
 * Writing through a link could leave the project.
 */
export function planProject(folder: string, files: readonly ProjectFile[]): Plan {
  const existing = findFolder(folder);
  if (existing === null) {
    return { folder, exists: false, occupants: [], entries: files.map((file) => ({ file, action: "create" })) };
  }
  const obstacles = new Set(files.flatMap((file) => findObstacle(existing, file.path) ?? []));
  if (obstacles.size > 0) {
    throw new CommandError(`${folder}: in the way of files of the project: ${[...obstacles].join(", ")}`);
  }
  return {
    folder: existing,
    exists: true,
    occupants: readdirSync(existing).filter((name) => !negligible.has(name)),
    entries: files.map((file) => ({ file, action: compare(join(existing, file.path), file) })),
  };
}

/**
 * Accepts a plan that keeps all existing files, or one with `--force`.
 *
 * @throws CommandError that lists the files in the way.
 */
export function refuseOccupied({ folder, occupants, entries }: Plan): void {
  if (occupants.length === 0) {
    return;
  }
  const conflicts = entries.filter(({ action }) => action === "overwrite").map(({ file }) => file.path);
  const wayOut = "Choose another name, or overwrite with --force (it does not delete files).";
  if (conflicts.length === 0) {
    const held = occupants.slice(0, 5).join(", ") + (occupants.length > 5 ? ", …" : "");
    throw new CommandError(`${folder} is not empty: it contains ${held}. ${wayOut}`);
  }
  const list = conflicts.map((path) => `  ${path}`).join("\n");
  throw new CommandError(`${folder} is not empty, and these files are in the way:\n${list}\n${wayOut}`);
}

function findFolder(folder: string): string | null {
  try {
    if (!statSync(folder).isDirectory()) {
      throw new CommandError(`${folder} exists and is not a folder`);
    }
    return realpathSync(folder);
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === "ENOTDIR") {
      throw new CommandError(`${dirname(folder)} is not a folder: ${basename(folder)} cannot be created in it`);
    }
    if (code !== "ENOENT") {
      throw error;
    }
    // A dangling symbolic link is in the way too.
    if (lstatSync(folder, { throwIfNoEntry: false })) {
      throw new CommandError(`${folder} is a dangling symbolic link`);
    }
    return null;
  }
}

function findObstacle(folder: string, path: string): string | null {
  const parts = path.split("/");
  for (let depth = 1; depth < parts.length; depth += 1) {
    const parent = parts.slice(0, depth).join("/");
    const stats = lstatSync(join(folder, parent), { throwIfNoEntry: false });
    if (!stats) {
      return null;
    }
    if (!stats.isDirectory()) {
      return stats.isSymbolicLink() ? `${parent} (a symbolic link)` : `${parent} (not a folder)`;
    }
  }
  return lstatSync(join(folder, path), { throwIfNoEntry: false })?.isDirectory() ? `${path} (a folder)` : null;
}

function compare(path: string, file: ProjectFile): FileAction {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) {
    return "create";
  }
  if (file.isKept) {
    return "skip";
  }
  return stats.isFile() && stats.size === file.contents.length && readFileSync(path).equals(file.contents)
    ? "skip"
    : "overwrite";
}
