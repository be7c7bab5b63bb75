import { existsSync, mkdirSync, mkdtempSync, renameSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { CommandError, messageOf } from "./errors.js";
import type { Plan } from "./plan.js";
import type { ProjectFile } from "./project-file.js";

/**
 * Writes all the files of a plan, or reverts.
 *
 * The files are written into a temporary folder of the same file system, and moved when all are complete. All steps are
 * synchronous, so that no listener of a signal runs between them. Only a killed process leaves the temporary folder.
 *
 * @throws CommandError with the reason. The folder is then unchanged.
 */
export function writeProject(plan: Plan): void {
  const undo: (() => void)[] = [];
  try {
    if (plan.exists) {
      fillFolder(plan, undo);
    } else {
      createFolder(plan, undo);
    }
  } catch (error) {
    for (const step of undo.toReversed()) {
      attempt(step);
    }
    throw new CommandError(`cannot write ${plan.folder}: ${messageOf(error)}`);
  }
}

function createFolder({ folder, entries }: Plan, undo: (() => void)[]): void {
  makeFolders(dirname(folder), undo);
  const temporary = mkdtempSync(join(dirname(folder), `.${basename(folder)}-`));
  undo.push(() => rmSync(temporary, { recursive: true, force: true }));
  // mkdtemp creates folders with mode 0700. The project's folder gets the mode of the umask.
  const project = join(temporary, "project");
  mkdirSync(project);
  for (const { file } of entries) {
    writeNewFile(join(project, file.path), file);
  }
  renameSync(project, folder);
  rmdirSync(temporary);
}

function fillFolder({ folder, entries }: Plan, undo: (() => void)[]): void {
  // Inside the folder, which may be the root of another file system than its parent.
  const temporary = mkdtempSync(join(folder, ".create-tsgi-"));
  undo.push(() => rmSync(temporary, { recursive: true, force: true }));
  const steps = entries.filter(({ action }) => action !== "skip");
  for (const { file } of steps) {
    writeNewFile(join(temporary, "new", file.path), file);
  }
  for (const { file, action } of steps) {
    const path = join(folder, file.path);
    const earlier = join(temporary, "old", file.path);
    makeFolders(dirname(path), undo);
    if (action === "overwrite") {
      mkdirSync(dirname(earlier), { recursive: true });
      renameSync(path, earlier);
      undo.push(() => renameSync(earlier, path));
    }
    renameSync(join(temporary, "new", file.path), path);
    undo.push(() => rmSync(path, { force: true }));
  }
  rmSync(temporary, { recursive: true, force: true });
}

function writeNewFile(path: string, { contents, mode }: ProjectFile): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, contents, { mode, flag: "wx" });
}

/** Creates a folder and its parents. Undoing removes those that were missing and are still empty. */
function makeFolders(folder: string, undo: (() => void)[]): void {
  const missing: string[] = [];
  for (let parent = folder; !existsSync(parent); parent = dirname(parent)) {
    missing.push(parent);
  }
  mkdirSync(folder, { recursive: true });
  for (const made of missing.toReversed()) {
    // Fails, and keeps the folder, when it has other files meanwhile.
    undo.push(() => rmdirSync(made));
  }
}

/** A failed undo must not prevent the others. */
function attempt(step: () => void): void {
  try {
    step();
  } catch {
    // The original error is reported.
  }
}
